//! The one server of a process: the order of providers, and what is said about them.

use std::any::Any;
use std::fmt;
use std::io::{self, Write as _};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use diesel::dsl::sql;
use diesel::sql_types::Text;
use diesel::{Connection, PgConnection, RunQueryDsl};

use super::url::ServerUrl;
use super::{container, local, sweep, url};

/// Leaves only the named provider: `url`, `container` or `local`.
pub const PROVIDER_VARIABLE: &str = "CLAIMSTORE_TEST_POSTGRES_PROVIDER";

/// What a provider hands over: an address that should answer, and what keeps it alive.
pub(super) struct Offer {
    pub(super) url: ServerUrl,
    /// The provider in words, for the line that is printed.
    pub(super) provider: String,
    /// Ends the server on drop; empty where it is not ours to end.
    pub(super) keeper: Option<Box<dyn Any + Send + Sync>>,
    /// How long the first answer may take.
    pub(super) patience: Duration,
}

/// A provider: its name, how to choose it, and how to ask it. The error is one line.
struct Provider {
    name: &'static str,
    ask: fn() -> Result<Offer, String>,
}

const PROVIDERS: [Provider; 3] = [
    Provider { name: "url", ask: url::offer },
    Provider { name: "container", ask: container::offer },
    Provider { name: "local", ask: local::offer },
];

/// A running PostgreSQL that has answered a query. Ends with this value, or with the process.
pub struct Server {
    url: ServerUrl,
    provider: String,
    version: String,
    _keeper: Option<Box<dyn Any + Send + Sync>>,
}

impl Server {
    /// Starts or finds a server and prints which one.
    ///
    /// # Errors
    ///
    /// Where no provider can serve; the text has one line for each.
    pub fn start() -> Result<Self, NoServer> {
        let only = std::env::var(PROVIDER_VARIABLE).ok().filter(|name| !name.is_empty());
        let mut none = NoServer { only, reasons: Vec::new() };
        for provider in &PROVIDERS {
            if none.only.as_deref().is_some_and(|only| only != provider.name) {
                continue;
            }
            match (provider.ask)().and_then(Self::once_it_answers) {
                Ok(server) => {
                    say(&format!("{server}"));
                    sweep::old_leftovers(&server.url);
                    return Ok(server);
                }
                Err(reason) => {
                    say(&format!("not by {}: {reason}", provider.name));
                    none.reasons.push((provider.name, reason));
                }
            }
        }
        Err(none)
    }

    /// Where it listens, as a superuser of the `postgres` database or what the URL said.
    pub fn url(&self) -> &ServerUrl {
        &self.url
    }

    /// The server's version, such as `17.2`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// An open port is not yet a server: during its first start a container answers and goes away
    /// again. Only an answered query counts.
    fn once_it_answers(offer: Offer) -> Result<Self, String> {
        let Offer { url, provider, keeper, patience } = offer;
        let url = url.with_default_parameter("connect_timeout", "10");
        let deadline = Instant::now() + patience;
        loop {
            match ask_version(&url) {
                Ok(version) => return Ok(Self { url, provider, version, _keeper: keeper }),
                Err(reason) if Instant::now() >= deadline => {
                    return Err(format!("{provider} did not answer a query within {patience:?}: {reason}"));
                }
                // sleep: polls a starting server until the deadline; no order of events rests on it.
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, PostgreSQL {}, {}", self.provider, self.version, self.url)
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({self})")
    }
}

/// No provider could serve; displayed with each reason and what to do.
#[derive(Debug, Clone)]
pub struct NoServer {
    only: Option<String>,
    reasons: Vec<(&'static str, String)>,
}

impl fmt::Display for NoServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "no PostgreSQL for tests. There are three ways to provide one:")?;
        for (name, way) in [
            (
                "url",
                "set CLAIMSTORE_TEST_POSTGRES_URL to a server whose user may create schemas and databases",
            ),
            ("container", "start a container engine (Docker or one with its API; DOCKER_HOST says where)"),
            ("local", "install the server programs (initdb, postgres, pg_ctl)"),
        ] {
            let reason = self.reasons.iter().find(|(tried, _)| *tried == name);
            let reason = reason.map_or("not tried", |(_, reason)| reason.as_str());
            writeln!(f, "  {name}: {way}\n      {reason}")?;
        }
        match &self.only {
            Some(only) => write!(f, "({PROVIDER_VARIABLE}={only} allows only that one)"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for NoServer {}

/// The server of this process, started at the first call.
///
/// # Panics
///
/// Where no provider can serve. The answer is remembered, so each test fails at once.
pub fn server() -> &'static Server {
    static SERVER: OnceLock<Result<Server, NoServer>> = OnceLock::new();
    match SERVER.get_or_init(Server::start) {
        Ok(server) => server,
        Err(none) => panic!("{none}"),
    }
}

fn ask_version(url: &ServerUrl) -> Result<String, String> {
    let mut connection =
        PgConnection::establish(&url.in_full()).map_err(|error| one_line(&error.to_string()))?;
    let version: String = diesel::select(sql::<Text>("current_setting('server_version')"))
        .get_result(&mut connection)
        .map_err(|error| one_line(&error.to_string()))?;
    Ok(version.split_whitespace().next().unwrap_or("of unknown version").to_owned())
}

/// Messages of the server, its programs and the engine come with line breaks; reasons are one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Past the test harness, which would swallow `eprintln!` of a passing test; in one write, since other
/// processes of the same run print, too.
pub(super) fn say(line: &str) {
    let line = format!("postgres for tests: {line}\n");
    let _ = io::stderr().write_all(line.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_answers_a_query() {
        let server = server();
        let asked = ask_version(server.url()).expect("a server that answered before");
        assert_eq!(asked, server.version());
    }

    #[test]
    fn without_a_server_all_three_ways_and_reasons_are_named() {
        let none = NoServer {
            only: None,
            reasons: vec![
                ("url", "not set".into()),
                ("container", "no socket".into()),
                ("local", "no initdb".into()),
            ],
        };
        let text = none.to_string();
        for part in
            [url::URL_VARIABLE, "container engine", "initdb, postgres", "not set", "no socket", "no initdb"]
        {
            assert!(text.contains(part), "{part} is missing in: {text}");
        }
    }
}
