//! The container engine: whether one answers, and removing containers by id and by label.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, process};

use super::super::programs;
use super::Watchdog;

const HOST_LABEL: &str = "claimstore.tests.host";
const PROCESS_LABEL: &str = "claimstore.tests.process";

/// An engine that does not answer a ping by then is not there.
const PING: Duration = Duration::from_secs(5);

/// By a client program where there is one, else by the engine's own interface.
const REMOVE: &str = r#"
if [ -n "$2" ] && "$2" rm -f -v "$1"; then exit 0; fi
case $3 in unix://*)
    curl -s -X DELETE --unix-socket "${3#unix://}" "http://localhost/containers/$1?force=1&v=1" ;;
esac"#;

/// Removes containers of this host whose process is gone. Those of others have other labels.
const SWEEP: &str = r#"
"$1" ps -a --filter "label=$2=$4" --format "{{.ID}} {{.Label \"$3\"}}" | while read -r id process; do
    ps -p "$process" >/dev/null 2>&1 || "$1" rm -f -v "$id"
done"#;

/// What marks a container as ours: this host and this process.
pub(super) fn labels() -> [(&'static str, String); 2] {
    [(HOST_LABEL, host()), (PROCESS_LABEL, process::id().to_string())]
}

fn host() -> String {
    gethostname::gethostname().to_string_lossy().into_owned()
}

/// An engine that answered.
#[derive(Debug)]
pub(super) struct Engine {
    address: String,
    client: Option<PathBuf>,
}

impl Engine {
    /// Looks where the container library will look, and fails at once where nobody listens.
    pub(super) fn find() -> Result<Self, String> {
        let address = match env::var("DOCKER_HOST").ok().filter(|host| !host.is_empty()) {
            Some(address) => address,
            None => {
                let socket = sockets().into_iter().find(|socket| socket.exists());
                let socket =
                    socket.ok_or("no container engine: no DOCKER_HOST and no /var/run/docker.sock")?;
                format!("unix://{}", socket.display())
            }
        };
        ping(&address).map_err(|error| format!("no container engine answers at {address}: {error}"))?;
        let client = ["docker", "podman"].into_iter().find_map(programs::find);
        Ok(Self { address, client })
    }

    /// Removes what earlier runs on this host could not, if there is a client program to do so.
    pub(super) fn sweep(&self) {
        let (Some(client), true) = (&self.client, programs::find("ps").is_some()) else { return };
        // What cannot be removed now is removed by the next run.
        let _ = Command::new("/bin/sh")
            .args(["-c", SWEEP, "sweep"])
            .arg(client)
            .args([HOST_LABEL, PROCESS_LABEL, &host()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }

    /// Removes the container when the value is dropped or this process is gone.
    pub(super) fn remove_afterwards(&self, id: &str) -> io::Result<Watchdog> {
        let client = self.client.clone().unwrap_or_default();
        Watchdog::afterwards(REMOVE, &[id.into(), client.into(), self.address.clone().into()])
    }
}

fn sockets() -> Vec<PathBuf> {
    let in_home =
        |variable: &str, path: &str| env::var_os(variable).map(|home| PathBuf::from(home).join(path));
    [
        Some(PathBuf::from("/var/run/docker.sock")),
        in_home("XDG_RUNTIME_DIR", ".docker/run/docker.sock"),
        in_home("HOME", ".docker/run/docker.sock"),
        in_home("HOME", ".docker/desktop/docker.sock"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A socket file may outlive its engine, so one answer is asked for. Over TCP a connection must do:
/// it may be an encrypted one.
fn ping(address: &str) -> io::Result<()> {
    if let Some(path) = address.strip_prefix("unix://") {
        let mut stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(PING))?;
        stream.set_write_timeout(Some(PING))?;
        stream.write_all(b"GET /_ping HTTP/1.0\r\nHost: localhost\r\n\r\n")?;
        let mut begin = [0; 12];
        stream.read_exact(&mut begin)?;
        return if begin.ends_with(b" 200") {
            Ok(())
        } else {
            Err(io::Error::other("not an engine's answer"))
        };
    }
    let (_, place) = address.split_once("://").unwrap_or(("", address));
    let place = place.trim_end_matches('/').to_socket_addrs()?.next();
    TcpStream::connect_timeout(&place.ok_or(io::ErrorKind::NotFound)?, PING).map(drop)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::thread;

    use super::*;
    use crate::sqlite::TestFile;

    #[test]
    fn a_socket_without_an_engine_behind_it_is_refused_at_once() {
        let place = TestFile::fresh();
        let address = format!("unix://{}", place.path().display());
        assert!(ping(&address).is_err(), "there is no socket");
        drop(UnixListener::bind(place.path()).expect("a socket"));
        assert!(ping(&address).is_err(), "nobody listens any more");
    }

    #[test]
    fn an_engine_that_answers_is_accepted_and_another_server_is_not() {
        for (answer, accepted) in
            [("HTTP/1.0 200 OK\r\n\r\nOK", true), ("HTTP/1.0 404 Not Found\r\n\r\n", false)]
        {
            let place = TestFile::fresh();
            let listener = UnixListener::bind(place.path()).expect("a socket");
            let engine = thread::spawn(move || {
                let (mut stream, _) = listener.accept().expect("a caller");
                let mut question = [0; 64];
                let _ = stream.read(&mut question).expect("a question");
                stream.write_all(answer.as_bytes()).expect("the caller listens");
            });
            assert_eq!(ping(&format!("unix://{}", place.path().display())).is_ok(), accepted, "{answer}");
            engine.join().expect("an engine without trouble");
        }
    }
}
