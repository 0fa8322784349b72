//! What a function's owner says about clients.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use symbolon::{Error, Result, files};
use zeroize::Zeroizing;

use crate::name::Name;

/// The maximum length of a file with tokens.
const MAX_TOKENS: u64 = 64 << 20;

/// The least length of a client's token, in bytes.
const MIN_TOKEN: usize = 16;

/// The settings of a function whose values come from clients.
#[derive(Clone, Debug)]
pub struct ClientsConfig {
    /// Who may give values.
    pub admission: Admission,
    /// How long a call takes submissions, unless its application ends that earlier.
    pub time: Duration,
    /// How many calls may take submissions or hold them at a time.
    pub open: usize,
    /// How many requests one network address may make in a minute; `None` if any number. Behind a
    /// proxy all have the proxy's address, and the proxy must limit them.
    pub per_minute: Option<u32>,
}

impl Default for ClientsConfig {
    /// Anybody may give values for a day, and 600 times a minute; 16 calls are open.
    fn default() -> ClientsConfig {
        ClientsConfig {
            admission: Admission::Anybody,
            time: Duration::from_secs(86_400),
            open: 16,
            per_minute: Some(600),
        }
    }
}

/// Who may give values for a call.
#[derive(Clone)]
pub enum Admission {
    /// Anybody, under any name that is still free.
    Anybody,
    /// Those who know the token of their name: its hash, by name.
    Tokens(Arc<BTreeMap<Name, blake3::Hash>>),
}

impl std::fmt::Debug for Admission {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Admission::Anybody => f.write_str("Anybody"),
            Admission::Tokens(all) => write!(f, "Tokens({} clients)", all.len()),
        }
    }
}

impl Admission {
    /// Returns whether a client may give values with what its request presents.
    ///
    /// Check: service | the token of a client's name | strangers, clients under another's name | –
    ///
    /// Timing: tokens | their hashes are compared, in constant time
    pub(crate) fn admits(&self, client: &Name, token: Option<&[u8]>) -> bool {
        match self {
            Admission::Anybody => true,
            Admission::Tokens(all) => match (all.get(client), token) {
                // Hashes compare themselves in constant time.
                (Some(known), Some(token)) => blake3::hash(token) == *known,
                _ => false,
            },
        }
    }

    /// Reads tokens: a client's name and its token on each line.
    fn parse(text: &str) -> std::result::Result<Admission, String> {
        let mut all = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            let wrong = |what: &dyn std::fmt::Display| format!("line {}: {what}", number + 1);
            let mut words = line.split_ascii_whitespace();
            let (client, token) = match (words.next(), words.next(), words.next()) {
                (None, ..) => continue,
                (Some(client), Some(token), None) => (client, token),
                _ => return Err(wrong(&"it takes a client's name and its token")),
            };
            let client: Name = client.parse().map_err(|error| wrong(&error))?;
            if token.len() < MIN_TOKEN || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                let text = format!("a token has at least {MIN_TOKEN} visible ASCII characters");
                return Err(wrong(&text));
            }
            if all.insert(client, blake3::hash(token.as_bytes())).is_some() {
                return Err(wrong(&"the client has a token already"));
            }
        }
        Ok(Admission::Tokens(Arc::new(all)))
    }
}

/// Reads the tokens of clients from a file that only its owner may read: a client's name and its
/// token on each line.
///
/// # Errors
/// `Store` if the file cannot be read, or others may read it; `InvalidInput` for a line that is
/// wrong.
pub fn read_client_tokens(path: &Path) -> Result<Admission> {
    let wrong = |what: &dyn std::fmt::Display| {
        Error::store(format!("the clients' tokens {}: {what}", path.display()))
    };
    let mut file = files::open(path).map_err(|error| wrong(&error))?;
    #[cfg(unix)]
    {
        let about = file.metadata().map_err(|error| wrong(&error))?;
        if std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o077 != 0 {
            return Err(wrong(&"others may read it; make it private with chmod 600"));
        }
    }
    let bytes = files::read_all(&mut file, MAX_TOKENS).map_err(|error| wrong(&error))?;
    let bytes = Zeroizing::new(bytes);
    let text = std::str::from_utf8(&bytes).map_err(|error| wrong(&error))?;
    Admission::parse(text).map_err(|why| Error::InvalidInput(format!("{}: {why}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_belongs_to_a_name() {
        let all = Admission::parse("ann 0123456789abcdef\n\n bob fedcba9876543210 \n").unwrap();
        let admits = |client: &str, token: Option<&str>| {
            all.admits(&client.parse().unwrap(), token.map(str::as_bytes))
        };
        assert!(admits("ann", Some("0123456789abcdef")));
        assert!(!admits("bob", Some("0123456789abcdef")));
        assert!(!admits("ann", None) && !admits("carl", Some("0123456789abcdef")));
        assert!(Admission::Anybody.admits(&"carl".parse().unwrap(), None));
        for (text, said) in [
            ("ann", "line 1: it takes"),
            ("\nann short", "line 2: a token has"),
            ("a/b 0123456789abcdef", "line 1: a name has"),
            ("ann 0123456789abcdef\nann 0123456789abcdef", "line 2: the client has"),
        ] {
            let error = Admission::parse(text).unwrap_err();
            assert!(error.contains(said) && !error.contains("abcdef"), "{error}");
        }
    }
}
