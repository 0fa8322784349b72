//! F_Com (YWZ20 Fig. 10): all parties commit to a value, then open it.

use symbolon_primitives::{CommitContext, Commitment, Opening, Prg, commit};
use symbolon_transport::{Channel, Check, Error, Message, Result, SessionId};

use crate::broadcast::{BroadcastLog, confirm_broadcasts};

/// The two messages and the check of one use of [`commit_and_open`].
pub struct CommitOpenLabels {
    /// The message that carries the commitment; its name is also the commitment's domain.
    pub commit: Message,
    /// The message that carries nonce and value.
    pub open: Message,
    /// The check that fails when a value does not match its commitment.
    pub check: Check,
}

/// Commits to `value`, receives the peers' commitments, then opens; returns the peers' values in
/// the order of `channels`. All parties' values have the same length.
///
/// No party can choose its value after it has seen another. A commitment binds its author, the
/// session and `index`, so a party cannot pass on another party's commitment; an echo of our own
/// is refused before anything is opened. With more than two parties the commitments are
/// broadcasts: the parties compare their digests pairwise before anything is opened.
///
/// Paper: YWZ20, Fig. 10 | F_Com: commit to a value, open it
///
/// Check: coins and commitments | `coin toss commitment`, `aShare z commitment`, `leaky AND d
/// commitment`, `leaky AND blinded V commitment`: each names its party | another value than
/// committed to, an echo of ours | 2^-128
///
/// # Errors
/// `PeerMisbehaved` when a peer echoes our commitment, sends others a different commitment, or
/// opens a value that it did not commit to; `Transport` when a peer is gone.
pub fn commit_and_open(
    channels: &mut [Channel],
    labels: &CommitOpenLabels,
    session: &SessionId,
    index: u64,
    value: &[u8],
    prg: &mut Prg,
) -> Result<Vec<Vec<u8>>> {
    Committed::send(channels, labels, session, index, value, prg)?.open(channels)
}

/// A value that this party has committed to, and not opened. What is sent or received between the
/// two rides on the same messages.
pub struct Committed<'a> {
    labels: &'a CommitOpenLabels,
    session: &'a SessionId,
    index: u64,
    value: &'a [u8],
    own: Commitment,
    opening: Opening,
}

impl<'a> Committed<'a> {
    /// Begins [`commit_and_open`]: commits to `value`.
    ///
    /// # Errors
    /// `Transport` when a peer is gone.
    pub fn send(
        channels: &mut [Channel],
        labels: &'a CommitOpenLabels,
        session: &'a SessionId,
        index: u64,
        value: &'a [u8],
        prg: &mut Prg,
    ) -> Result<Self> {
        let domain = labels.commit.name();
        let party = channels[0].me().number();
        let context = CommitContext { domain, session: session.as_bytes(), party, index };
        let (own, opening) = commit::commit(&context, value, prg);
        for channel in channels.iter_mut() {
            channel.send(labels.commit, &own.0)?;
            channel.flush()?;
        }
        Ok(Committed { labels, session, index, value, own, opening })
    }

    /// Ends it: receives the peers' commitments, opens, and returns the peers' values.
    ///
    /// # Errors
    /// As [`commit_and_open`].
    pub fn open(self, channels: &mut [Channel]) -> Result<Vec<Vec<u8>>> {
        let Committed { labels, session, index, value, own, opening } = self;
        let session = session.as_bytes();
        let context = |party| CommitContext { domain: labels.commit.name(), session, party, index };
        let mut log = BroadcastLog::new(channels.len() + 1);
        log.note(channels[0].me(), &own.0);
        let mut theirs = Vec::with_capacity(channels.len());
        for channel in channels.iter_mut() {
            let commitment = Commitment(channel.recv_array(labels.commit)?);
            if commitment == own {
                return Err(Error::misbehaved(channel.peer(), labels.check));
            }
            log.note(channel.peer(), &commitment.0);
            theirs.push(commitment);
        }
        confirm_broadcasts(channels, &log.digest())?;
        for channel in channels.iter_mut() {
            channel.send_parts(labels.open, &[&opening.nonce, value])?;
            channel.flush()?;
        }
        let open = |(channel, commitment): (&mut Channel, &Commitment)| {
            let mut opened = channel.recv(labels.open, 32 + value.len())?;
            let value = opened.split_off(32);
            let opening = Opening { nonce: opened.try_into().expect("32 bytes were split off") };
            if commit::verify(&context(channel.peer().number()), commitment, &opening, &value) {
                Ok(value)
            } else {
                Err(Error::misbehaved(channel.peer(), labels.check))
            }
        };
        channels.iter_mut().zip(&theirs).map(open).collect()
    }
}
