//! The address of a server, and the provider that takes it from the environment.

use std::env;
use std::fmt::{self, Write as _};
use std::time::Duration;

use super::server::Offer;

/// Holds the URL of a server to test against.
pub const URL_VARIABLE: &str = "CLAIMSTORE_TEST_POSTGRES_URL";

/// A server that is just being started next to the tests gets this long.
const PATIENCE: Duration = Duration::from_secs(15);

pub(super) fn offer() -> Result<Offer, String> {
    let text = env::var(URL_VARIABLE).ok().filter(|text| !text.is_empty());
    let text = text.ok_or_else(|| format!("{URL_VARIABLE} is not set"))?;
    let url = ServerUrl::parse(&text)?;
    Ok(Offer { url, provider: format!("URL from {URL_VARIABLE}"), keeper: None, patience: PATIENCE })
}

/// A `postgres://` URL. Displayed without user and password.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerUrl {
    /// `postgres://user:password@host:port`
    authority: String,
    database: String,
    /// Values are percent-encoded.
    parameters: Vec<(String, String)>,
}

impl ServerUrl {
    /// Reads libpq's URL form; its `key=value` form is refused.
    ///
    /// # Errors
    ///
    /// One line, without the password.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some((scheme @ ("postgres" | "postgresql"), rest)) = text.split_once("://") else {
            return Err("the address does not begin with postgres:// or postgresql://".to_owned());
        };
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = place.split_once('/').unwrap_or((place, ""));
        let parameters = query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').ok_or("a parameter of the address has no value"))
            .map(|pair| pair.map(|(key, value)| (key.to_owned(), value.to_owned())))
            .collect::<Result<_, _>>()?;
        Ok(Self { authority: format!("{scheme}://{authority}"), database: database.to_owned(), parameters })
    }

    /// The URL in full, with the password.
    pub fn in_full(&self) -> String {
        let mut text = format!("{}/{}", self.authority, self.database);
        for (at, (key, value)) in self.parameters.iter().enumerate() {
            let separator = if at == 0 { '?' } else { '&' };
            let _ = write!(text, "{separator}{key}={value}");
        }
        text
    }

    /// The same server, another database.
    #[must_use]
    pub fn with_database(mut self, name: &str) -> Self {
        self.database = encoded(name);
        self
    }

    /// Sets a connection parameter such as `application_name`, whatever it was before.
    #[must_use]
    pub fn with_parameter(mut self, key: &str, value: &str) -> Self {
        self.parameters.retain(|(known, _)| known != key);
        self.parameters.push((key.to_owned(), encoded(value)));
        self
    }

    /// Sets a connection parameter unless the URL has it.
    #[must_use]
    pub fn with_default_parameter(self, key: &str, value: &str) -> Self {
        if self.parameters.iter().any(|(known, _)| known == key) {
            self
        } else {
            self.with_parameter(key, value)
        }
    }

    /// Each connection starts with this server setting, beside those the URL has. The value has no
    /// spaces.
    #[must_use]
    pub fn with_setting(mut self, name: &str, value: &str) -> Self {
        let setting = encoded(&format!("-c{name}={value}"));
        match self.parameters.iter_mut().find(|(known, _)| known == "options") {
            Some((_, options)) => *options = format!("{options}%20{setting}"),
            None => self.parameters.push(("options".to_owned(), setting)),
        }
        self
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.authority.rsplit_once('@').map(|(_, host)| host);
        let host =
            host.or_else(|| self.authority.split_once("://").map(|(_, host)| host)).unwrap_or_default();
        write!(f, "{host}/{}", self.database)
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerUrl({self})")
    }
}

fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> ServerUrl {
        ServerUrl::parse(text).expect("a URL")
    }

    #[test]
    fn a_setting_joins_those_that_are_there() {
        assert_eq!(url("postgres://h/d").with_setting("a", "b").in_full(), "postgres://h/d?options=-ca%3Db");
        assert_eq!(
            url("postgres://h/d?options=-cx%3Dy&sslmode=require").with_setting("a", "b").in_full(),
            "postgres://h/d?options=-cx%3Dy%20-ca%3Db&sslmode=require",
        );
    }

    #[test]
    fn the_database_is_replaced_and_the_rest_stays() {
        let url = url("postgresql://u:p@h:1?connect_timeout=3").with_database("other");
        assert_eq!(url.in_full(), "postgresql://u:p@h:1/other?connect_timeout=3");
    }

    #[test]
    fn a_parameter_is_set_once() {
        let twice = url("postgres://h/d").with_parameter("a", "1").with_parameter("a", "2 3");
        assert_eq!(twice.in_full(), "postgres://h/d?a=2%203");
        assert_eq!(twice.clone().with_default_parameter("a", "4"), twice);
    }

    #[test]
    fn the_password_is_never_shown() {
        let url = url("postgres://me:secret@h:1/d?password=secret");
        assert_eq!(format!("{url}"), "h:1/d");
        assert!(!format!("{url:?}").contains("secret"));
    }

    #[test]
    fn other_forms_are_refused() {
        for text in ["host=h dbname=d", "mysql://h/d", "h:5432", "postgres://h/d?x"] {
            assert!(ServerUrl::parse(text).is_err(), "{text}");
        }
    }
}
