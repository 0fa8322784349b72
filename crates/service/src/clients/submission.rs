//! What a client gives to one party.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use symbolon::circuit::PartyId;
use symbolon_clients::{Hashes, Layout, Share};
use zeroize::{Zeroize, Zeroizing};

use super::digest::Digest;
use crate::name::Name;

/// A submission as a client posts it to one party.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Posted {
    /// The client's name.
    pub client: Name,
    /// The party's share, as base64.
    pub share: String,
    /// The hashes of all parties' shares, 32 bytes each, as base64.
    pub hashes: String,
}

impl Drop for Posted {
    fn drop(&mut self) {
        self.share.zeroize();
    }
}

/// A client's submission, as a party holds it.
pub(crate) struct Submission {
    /// The share; none after the run.
    pub share: Option<Share>,
    pub digest: Digest,
}

/// Returns what the digest of a submission says that it is for.
pub(crate) fn context(function: &Name, call: &Name) -> String {
    format!("{function}/{call}")
}

/// Why a submission is refused. It never holds a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubmitError {
    /// The node has no function of this name with clients.
    NoFunction,
    /// The call takes no submissions, or none yet.
    NoCall,
    /// The call takes no more submissions.
    Closed,
    /// The client has no token for its name, or another one.
    Token,
    /// The client has given another submission for this call.
    Other,
    /// The call has as many clients as it can have.
    Full,
    /// Too many requests from this address.
    TooOften,
    /// It is no submission for the function.
    Malformed(String),
}

impl SubmitError {
    /// Returns a stable name for programs, in kebab case.
    pub fn code(&self) -> &'static str {
        match self {
            SubmitError::NoFunction => "no-function",
            SubmitError::NoCall => "no-call",
            SubmitError::Closed => "closed",
            SubmitError::Token => "token",
            SubmitError::Other => "other-submission",
            SubmitError::Full => "full",
            SubmitError::TooOften => "too-often",
            SubmitError::Malformed(_) => "malformed",
        }
    }
}

impl fmt::Display for SubmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SubmitError::NoFunction => "the node has no function of this name with clients",
            SubmitError::NoCall => "no call of this name takes submissions now",
            SubmitError::Closed => "the call takes no more submissions",
            SubmitError::Token => "the token is not that of the client's name",
            SubmitError::Other => {
                "a client of this name has given another submission; the first one counts"
            }
            SubmitError::Full => "the call has as many clients as it can have",
            SubmitError::TooOften => "too many requests from this address; try again in a minute",
            SubmitError::Malformed(why) => why,
        })
    }
}

impl std::error::Error for SubmitError {}

impl Submission {
    /// Checks that a submission fits the function, and the share its hash.
    ///
    /// Check: service | a share is the one of which its client tells all parties the hash | a client
    /// | –
    pub fn new(
        posted: &Posted,
        (function, call): (&Name, &Name),
        party: PartyId,
        layout: &Layout,
    ) -> Result<Submission, SubmitError> {
        let wrong =
            |error: symbolon_clients::ClientError| SubmitError::Malformed(error.to_string());
        let base64 = |what: &str, text: &str| {
            let length = base64::decoded_len_estimate(text.len());
            let mut bytes = Zeroizing::new(vec![0; length]);
            let read = STANDARD.decode_slice(text, &mut bytes);
            let read =
                read.map_err(|_| SubmitError::Malformed(format!("`{what}` is no base64")))?;
            bytes.truncate(read);
            Ok(bytes)
        };
        let hashes = base64("hashes", &posted.hashes)?;
        let hashes = Hashes::from_bytes(layout.ports().parties, &hashes).map_err(wrong)?;
        let share = base64("share", &posted.share)?;
        let share = layout.accept(party, &hashes, &share).map_err(wrong)?;
        let context = context(function, call);
        let digest = hashes.digest(context.as_bytes(), posted.client.as_str());
        Ok(Submission { share: Some(share), digest: Digest(digest) })
    }
}

#[cfg(test)]
mod tests {
    use symbolon::BitVec;
    use symbolon::circuit::{ClientPorts, Type};

    use super::*;

    #[test]
    fn a_share_fits_the_function_and_its_hash() {
        let values = vec![("bid".to_string(), Type::Uint(13))];
        let ports = ClientPorts { clients: 4, parties: 2, values, answers: Vec::new() };
        let layout = Layout::new(ports).unwrap();
        let made = layout.encode(&BitVec::zeros(13)).unwrap();
        let [function, call, client] = ["f", "c", "ann"].map(|name| name.parse::<Name>().unwrap());
        let check = |party: u16, share: &[u8], hashes: &[u8]| {
            let (share, hashes) = (STANDARD.encode(share), STANDARD.encode(hashes));
            let posted = Posted { client: client.clone(), share, hashes };
            Submission::new(&posted, (&function, &call), PartyId::new(party), &layout)
        };
        let (share, hashes) = (made.shares[1].as_bytes(), made.hashes.to_bytes());
        let fits = check(1, share, &hashes).map_err(|error| error.to_string()).unwrap();
        assert_eq!(fits.digest.0, made.hashes.digest(b"f/c", "ann"));
        let refused = |party: u16, share: &[u8], hashes: &[u8], said: &str| {
            let error = check(party, share, hashes).map(drop).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        };
        refused(0, share, &hashes, "does not fit its hash");
        refused(1, &share[1..], &hashes, "a share has");
        refused(1, share, &hashes[32..], "a list of hashes has");
        let posted = Posted { client: client.clone(), share: "?".into(), hashes: String::new() };
        let error = Submission::new(&posted, (&function, &call), PartyId::new(1), &layout);
        assert!(error.map(drop).unwrap_err().to_string().contains("a list of hashes has"));
    }
}
