//! The evaluator's check of the opened objects (VerSub, VerInKeyAuth of Appendix A), which runs
//! during the garbler's next step.
//!
//! The evaluator garbles the opened copies again; the garbler garbles the evaluation copies again
//! and sends them. Neither waits for the other: a thread checks the opened objects while the
//! buckets arrive. Meanwhile the evaluator sends nothing, and no bucket is used or committed to a
//! store before the check has passed. To the garbler it looks as if the check came first.

use std::sync::Arc;

use symbolon_circuit::components::Kind;
use symbolon_cutchoose::hcom::{Proof, TheirOpening};
use symbolon_engine::parallel::Background;
use symbolon_primitives::Block;
use symbolon_transport::{Channel, Error, PartyId, Result};

use super::authenticators::Accepted;
use super::buckets::Drawn;
use super::check::{self, Draw, Work};
use super::commit::{Received, receive_blocks, receive_blocks_into};
use super::keys::{KeyHash, SelfHash};
use super::messages;
use super::program::Program;

/// What the garbler fixed before the coin.
pub(super) struct Sent {
    pub session: [u8; 32],
    /// For each kind, the digests of all copies.
    pub digests: Vec<Vec<[u8; 32]>>,
    pub hash: KeyHash,
    /// The hashes that each authenticator accepts.
    pub accepted: Accepted,
}

/// Everything that the garbler opened, as the evaluator received it.
pub(super) struct Opened {
    /// For each kind, the blocks of all opened copies: Δ and the committed values of the inputs.
    pub components: Vec<Vec<Block>>,
    /// Δ of each opened authenticator.
    pub authenticators: Vec<Block>,
    /// The proof of the opening.
    pub proof: Proof,
}

impl Opened {
    /// Receives the opened values and the proof.
    ///
    /// # Errors
    /// `Transport` when the peer is gone.
    pub fn receive(channel: &mut Channel, program: &Program, drawn: &Drawn) -> Result<Opened> {
        let kinds = program.graph.kinds.iter().zip(&drawn.kinds);
        let receive = |(kind, draw): (&Kind, &Draw)| {
            let each = 1 + kind.inputs();
            let mut blocks = vec![Block::ZERO; draw.opened.len() * each];
            let mut copies = blocks.chunks_mut(each);
            copies.try_for_each(|copy| {
                receive_blocks_into(channel, messages::OPENED_COMPONENT, copy)
            })?;
            Ok(blocks)
        };
        let components = kinds.map(receive).collect::<Result<_>>()?;
        let n = drawn.authenticators.opened.len();
        let authenticators = receive_blocks(channel, messages::OPENED_AUTHENTICATORS, n)?;
        Ok(Opened { components, authenticators, proof: Proof::receive(channel)? })
    }
}

/// Everything that the check needs.
pub(super) struct Check {
    pub program: Arc<Program>,
    pub drawn: Arc<Drawn>,
    pub received: Arc<Received>,
    pub sent: Arc<Sent>,
    /// Already has the earlier claims: the sums of transfers and of masks.
    pub opening: TheirOpening,
    pub opened: Opened,
    pub threads: usize,
    pub peer: PartyId,
}

/// The result of the check.
pub(super) enum Verdict {
    Awaited(Background<Result<()>>),
    Passed,
    Failed,
}

impl Verdict {
    /// Waits until the check has passed.
    ///
    /// # Errors
    /// `PeerMisbehaved` when it fails.
    pub fn passed(&mut self) -> Result<()> {
        let result = match std::mem::replace(self, Verdict::Failed) {
            Verdict::Awaited(check) => check.wait(),
            Verdict::Passed => Ok(()),
            Verdict::Failed => Err(Error::internal("a component after a failed check")),
        };
        if result.is_ok() {
            *self = Verdict::Passed;
        }
        result
    }
}

impl Check {
    /// Starts the check in a thread of its own.
    ///
    /// # Errors
    /// `System` if the system gives no thread.
    pub fn start(self) -> Result<Verdict> {
        Ok(Verdict::Awaited(Background::start(move || self.run())?))
    }

    /// # Errors
    /// `PeerMisbehaved` when a check fails.
    fn run(self) -> Result<()> {
        let Check { program, drawn, received, sent, opening, opened, threads, peer } = self;
        let mut claims = received.claims(opening);
        let work = Work { session: &sent.session, threads, peer };
        for (number, kind) in program.graph.kinds.iter().enumerate() {
            let what = (kind, &drawn.layout.kinds[number], &sent.digests[number][..]);
            let object = (&drawn.kinds[number], &opened.components[number][..]);
            check::check_components(&mut claims, work, what, object)?;
        }
        let own = SelfHash::new(&sent.session);
        let objects = (&drawn.layout.authenticators, drawn.layout.bundle);
        let what = (objects, &sent.accepted[..]);
        let object = (&drawn.authenticators, &opened.authenticators[..]);
        check::check_authenticators(&mut claims, peer, (&own, &sent.hash), what, object)?;
        claims.check_against(&opened.proof)
    }
}
