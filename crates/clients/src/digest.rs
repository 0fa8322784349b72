//! By what parties know that they hold shares of the same submission.

use sha2::{Digest, Sha256};
use symbolon_common::PartyId;

use crate::ClientError;

const SHARE: &[u8] = b"symbolon client share";
const SUBMISSION: &[u8] = b"symbolon client submission";

/// The hashes of all parties' shares. They say nothing of the shares, which have random bytes in
/// front for that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hashes(Vec<[u8; 32]>);

impl Hashes {
    /// Returns the hashes of these shares, the first party's first.
    pub(crate) fn of<'s>(shares: impl Iterator<Item = &'s [u8]>) -> Hashes {
        Hashes((0..).zip(shares).map(|(party, share)| of_share(party, share)).collect())
    }

    /// Reads the hashes of `parties` parties.
    ///
    /// # Errors
    /// When there are not 32 bytes for each.
    pub fn from_bytes(parties: u16, bytes: &[u8]) -> Result<Hashes, ClientError> {
        let expected = 32 * usize::from(parties);
        if bytes.len() != expected {
            return Err(ClientError::Length {
                what: "list of hashes",
                expected,
                given: bytes.len(),
            });
        }
        Ok(Hashes(bytes.as_chunks::<32>().0.to_vec()))
    }

    /// Returns the hashes as bytes, 32 for each party.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.concat()
    }

    /// Returns whether this is the share of a party.
    pub(crate) fn fits(&self, party: PartyId, share: &[u8]) -> bool {
        self.0.get(party.index()).is_some_and(|hash| *hash == of_share(party.number(), share))
    }

    /// Returns how many parties there are.
    pub(crate) fn parties(&self) -> usize {
        self.0.len()
    }

    /// Returns the digest of a submission of this client, which all parties compare. The context
    /// says what it is for, such as a function and a call.
    pub fn digest(&self, context: &[u8], client: &str) -> [u8; 32] {
        let mut hasher = Sha256::new();
        hasher.update(SUBMISSION);
        for part in [context, client.as_bytes()] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.update((self.0.len() as u16).to_le_bytes());
        self.0.iter().for_each(|hash| hasher.update(hash));
        hasher.finalize().into()
    }
}

fn of_share(party: u16, share: &[u8]) -> [u8; 32] {
    let hasher = Sha256::new().chain_update(SHARE).chain_update(party.to_le_bytes());
    hasher.chain_update(share).finalize().into()
}
