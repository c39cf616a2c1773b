//! The folders are read by a macro, which cannot tell cargo about files that appear in them.

fn main() {
    println!("cargo::rerun-if-changed=postgres");
    println!("cargo::rerun-if-changed=sqlite");
}
