//! Digests by which the parties see that they hold the same submission and the same clients.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A SHA-256 digest; hexadecimal in messages.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String)]
pub struct Digest(pub [u8; 32]);

impl TryFrom<String> for Digest {
    type Error = hex::FromHexError;

    fn try_from(text: String) -> Result<Digest, hex::FromHexError> {
        let mut digest = [0; 32];
        hex::decode_to_slice(text, &mut digest)?;
        Ok(Digest(digest))
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        hex::encode(digest.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}
