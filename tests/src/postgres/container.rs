//! The provider that starts a container, and removes it whatever happens to this process.

use std::env;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use testcontainers::core::IntoContainerPort;
use testcontainers::runners::SyncRunner;
use testcontainers::{Container, GenericImage, ImageExt};

use self::engine::Engine;
use super::server::{Offer, one_line};
use super::url::ServerUrl;
use super::watchdog::Watchdog;

mod engine;

/// Holds the image to run, in place of the default.
pub const IMAGE_VARIABLE: &str = "CLAIMSTORE_TEST_POSTGRES_IMAGE";

const DEFAULT_IMAGE: &str = "postgres:17-alpine";

/// A pull on a slow line, and the start.
const PATIENCE: Duration = Duration::from_secs(180);

pub(super) fn offer() -> Result<Offer, String> {
    let engine = Engine::find()?;
    engine.sweep();
    let image = env::var(IMAGE_VARIABLE).ok().filter(|image| !image.is_empty());
    let image = image.unwrap_or_else(|| DEFAULT_IMAGE.to_owned());
    let password: String = std::iter::repeat_with(fastrand::alphanumeric).take(24).collect();
    let container = started_in_time(&image, &password)?;
    let watchdog = engine
        .remove_afterwards(container.id())
        .map_err(|error| format!("no shell to clean up afterwards: {error}"))?;
    let (host, port) = address(&container).map_err(|error| one_line(&error.to_string()))?;
    Ok(Offer {
        url: ServerUrl::parse(&format!("postgres://postgres:{password}@{host}:{port}/postgres"))?,
        provider: format!("container of {image}"),
        keeper: Some(Box::new((container, watchdog))),
        patience: Duration::from_secs(60),
    })
}

/// Starts in another thread, since a pull has no limit of its own. A container that comes too late
/// is removed by its drop.
fn started_in_time(image: &str, password: &str) -> Result<Container<GenericImage>, String> {
    let (name, tag) = name_and_tag(image);
    let request = GenericImage::new(name, tag)
        .with_exposed_port(5432.tcp())
        .with_env_var("POSTGRES_PASSWORD", password)
        .with_labels(engine::labels())
        .with_cmd(["postgres", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=300"]);
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let started = request.start().map_err(|error| one_line(&error.to_string()));
        let _ = sender.send(started);
    });
    match receiver.recv_timeout(PATIENCE) {
        Ok(Ok(container)) => Ok(container),
        Ok(Err(error)) => Err(format!("cannot run {image}: {error}")),
        Err(_) => Err(format!("{image} was not pulled and started within {PATIENCE:?}")),
    }
}

fn address(container: &Container<GenericImage>) -> testcontainers::core::error::Result<(String, u16)> {
    Ok((container.get_host()?.to_string(), container.get_host_port_ipv4(5432.tcp())?))
}

/// A colon after the last slash begins the tag; one before it is a port.
fn name_and_tag(image: &str) -> (&str, &str) {
    match image.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, tag),
        _ => (image, "latest"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_split_at_its_tag() {
        assert_eq!(name_and_tag("postgres:16"), ("postgres", "16"));
        assert_eq!(name_and_tag("postgres"), ("postgres", "latest"));
        assert_eq!(name_and_tag("example.org:5000/a/postgres"), ("example.org:5000/a/postgres", "latest"));
        assert_eq!(name_and_tag("example.org:5000/postgres:15"), ("example.org:5000/postgres", "15"));
    }
}
