//! `cargo xtask ci`: everything that has to pass, in order, with the time that each step took.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::root::cargo;
use crate::{consumers, docs, sql, step, test, tidy};

struct Step {
    name: &'static str,
    run: fn() -> Result<(), String>,
}

/// Cheap steps first: what fails there need not wait for a build.
const STEPS: &[Step] = &[
    Step { name: "fmt", run: || step::run(&mut cargo(&["fmt", "--all", "--", "--check"])) },
    Step { name: "tidy", run: tidy::run },
    Step { name: "docs", run: docs::run },
    Step { name: "clippy", run: clippy },
    Step { name: "doc", run: doc },
    Step { name: "sql", run: || sql::run(&[]) },
    Step { name: "test", run: || test::run(&[]) },
    Step { name: "features", run: features },
    Step { name: "consumers", run: consumers::run },
];

/// With names, runs only these steps. Stops at the first that fails.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if arguments.iter().any(|argument| argument == "--list") {
        STEPS.iter().for_each(|step| println!("{}", step.name));
        return Ok(());
    }
    if let Some(unknown) = arguments.iter().find(|name| STEPS.iter().all(|step| step.name != **name)) {
        return Err(format!("no step {unknown}; cargo xtask ci --list names them"));
    }
    let mut times: Vec<(&str, Duration)> = Vec::new();
    for step in
        STEPS.iter().filter(|step| arguments.is_empty() || arguments.iter().any(|name| name == step.name))
    {
        println!("\n==== {} ====", step.name);
        let start = Instant::now();
        let done = (step.run)();
        times.push((step.name, start.elapsed()));
        if let Err(reason) = done {
            print_times(&times);
            return Err(format!("step {}: {reason}", step.name));
        }
    }
    print_times(&times);
    Ok(())
}

fn print_times(times: &[(&str, Duration)]) {
    println!("\n==== times ====");
    for (name, time) in times {
        println!("{name:<10} {:>7.1} s", time.as_secs_f64());
    }
}

fn clippy() -> Result<(), String> {
    // The workspace unites the features of its members; core alone is also used without any.
    step::run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    step::run(&mut cargo(&[
        "clippy",
        "--package=claimstore-core",
        "--all-features",
        "--",
        "-D",
        "warnings",
    ]))?;
    for backend in ["postgres", "sqlite"] {
        let features = format!("--features={backend}");
        step::run(&mut cargo(&["clippy", "--package=claimstore", &features, "--", "-D", "warnings"]))?;
    }
    Ok(())
}

fn doc() -> Result<(), String> {
    step::run(cargo(&["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))
}

/// Each pair of the facade's features builds: features only ever add.
fn features() -> Result<(), String> {
    let known = Command::new("cargo")
        .args(["hack", "--version"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !known {
        return Err("cargo-hack is missing: cargo install cargo-hack --locked".to_owned());
    }
    step::run(&mut cargo(&["hack", "check", "--package=claimstore", "--feature-powerset", "--depth=2"]))
}
