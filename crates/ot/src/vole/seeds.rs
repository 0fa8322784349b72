//! Makes provers and verifiers from base OTs.
//!
//! The verifier's choices in n·k random OTs are the bits of its Δ. These OTs come from correlated
//! OTs of an existing session, in which the prover is the sender: hashing K and K ⊕ Δ_cot gives the
//! pair, and hashing M gives the chosen string, as in [`crate::setup`]. The draw's own check has
//! passed before the prover uses the seeds.
//!
//! With several lanes, every lane has streams of its own from the same seeds, under the same Δ.

use std::sync::Arc;

use symbolon_primitives::{BitVec, Block, Prg, watch};
use symbolon_transport::{Channel, Error, Result};
use zeroize::Zeroizing;

use super::leaf_streams::LeafStreams;
use super::{Params, Prover, Verifier, VoleParties, delta_bit};
use crate::cot::SelectiveFailureGuard;
use crate::messages::COMMITMENT_TREES;
use crate::oracle::Oracle;
use crate::pprf::{self, PuncturePoints};
use crate::{CotReceiver, CotSender, Workspace};

/// Makes the provers of `lanes` lanes from [`Params::columns`] pairs of seeds. Returns them with
/// the message that the verifier needs.
///
/// # Errors
/// `InvalidInput` for another number of pairs.
pub fn build_provers(
    parties: VoleParties<'_>,
    params: &Params,
    pairs: &[[Block; 2]],
    lanes: usize,
) -> Result<(Vec<Prover>, Vec<u8>)> {
    check_seeds(params, pairs.len())?;
    let session = parties.session();
    let (leaves, message) = match parties.tree_params(&session, params) {
        None => (None, Vec::new()),
        Some(tree_params) => {
            let (leaves, message) = pprf::build_any(tree_params, pairs);
            (Some(leaves), message)
        }
    };
    let prover = |lane| {
        let leaf_streams = match &leaves {
            None => LeafStreams::pairs(params, pairs, parties, lane),
            Some(leaves) => LeafStreams::leaves(params, leaves, lane),
        };
        Prover::new(leaf_streams, parties.transcript(params, lane))
    };
    Ok(((1..=lanes as u64).map(prover).collect(), message))
}

/// Makes the verifiers of `lanes` lanes from Δ (bit j of place i is bit i·k + j), the seeds that
/// its bits chose, and the prover's message.
///
/// # Errors
/// `PeerMisbehaved` (by the prover) when the check of the trees fails; `InvalidInput` for lengths
/// that do not fit.
pub fn build_verifiers(
    parties: VoleParties<'_>,
    params: &Params,
    (delta, chosen): (&BitVec, &[Block]),
    message: &[u8],
    lanes: usize,
) -> Result<Vec<Verifier>> {
    check_seeds(params, chosen.len())?;
    check_seeds(params, delta.len())?;
    if message.len() != params.tree_bytes() {
        let text = format!("a message of {} bytes for commitments' trees", message.len());
        return Err(Error::InvalidInput(text));
    }
    let guard = SelectiveFailureGuard::new();
    let mut words = Zeroizing::new(delta.words().to_vec());
    words.resize(params.row_words(), 0);
    watch::tell("commitm. Delta", bytemuck::cast_slice(&words));
    let session = parties.session();
    let leaves = match parties.tree_params(&session, params) {
        None => None,
        Some(tree_params) => {
            let k = params.k().bits();
            let bit = |column| u8::from(delta_bit(&words, column));
            let label = |place| (0..k).fold(0, |label, j| label | bit(place * k + j) << j);
            let labels = Zeroizing::new((0..params.code().length()).map(label).collect());
            let points = PuncturePoints::new(labels);
            Some(pprf::puncture_any(tree_params, points, chosen, message, &guard)?)
        }
    };
    let verifier = |lane| {
        let leaf_streams = match &leaves {
            None => LeafStreams::chosen(params, chosen, parties, lane),
            Some(leaves) => LeafStreams::leaves(params, leaves, lane),
        };
        let transcript = parties.transcript(params, lane);
        Verifier::new(leaf_streams, words.clone(), transcript, Arc::clone(&guard))
    };
    Ok((1..=lanes as u64).map(verifier).collect())
}

fn check_seeds(params: &Params, seeds: usize) -> Result<()> {
    if seeds != params.columns() {
        let text = format!("{seeds} seeds for a Δ of {} bits", params.columns());
        return Err(Error::InvalidInput(text));
    }
    Ok(())
}

/// The context of the hash that turns correlated OTs into seeds.
const SEED: &str = "symbolon vector ole 1: seed";

fn seed(oracle: &mut Oracle, session: &[u8; 32], index: usize, row: Block) -> Block {
    let row = Zeroizing::new(row.to_bytes());
    let digest = Zeroizing::new(oracle.digest(&[session, &(index as u64).to_le_bytes(), &*row]));
    Block::from_bytes(digest[..16].try_into().expect("16 of 32 bytes"))
}

/// Makes the provers of `lanes` lanes from a draw of correlated OT in which this party is the
/// sender. The peer runs [`set_up_verifier`].
///
/// # Errors
/// `PeerMisbehaved` when the draw's check fails; `Transport` when the peer is gone.
pub fn set_up_prover(
    channel: &mut Channel,
    session: &[u8; 32],
    params: &Params,
    cot: &mut dyn CotSender,
    lanes: usize,
) -> Result<Vec<Prover>> {
    let mut keys = Zeroizing::new(vec![Block::ZERO; params.columns()]);
    cot.extend(channel, &mut keys, &mut Workspace::default())?;
    let (delta, mut oracle) = (cot.delta(), Oracle::new(SEED));
    let pair = |(i, key): (usize, &Block)| {
        [*key, *key ^ **delta].map(|row| seed(&mut oracle, session, i, row))
    };
    let pairs: Zeroizing<Vec<[Block; 2]>> =
        Zeroizing::new(keys.iter().enumerate().map(pair).collect());
    let parties = VoleParties { session, prover: channel.me(), verifier: channel.peer() };
    let (provers, message) = build_provers(parties, params, &pairs, lanes)?;
    if !message.is_empty() {
        channel.send(COMMITMENT_TREES, &message)?;
    }
    channel.flush()?;
    Ok(provers)
}

/// Makes the verifiers of `lanes` lanes under a random Δ, from a draw of correlated OT in which
/// this party is the receiver. The peer runs [`set_up_prover`].
///
/// # Errors
/// `PeerMisbehaved` when the check of the trees fails; `Transport` when the peer is gone.
pub fn set_up_verifier(
    channel: &mut Channel,
    session: &[u8; 32],
    params: &Params,
    cot: &mut dyn CotReceiver,
    lanes: usize,
    prg: &mut Prg,
) -> Result<Vec<Verifier>> {
    let delta = Zeroizing::new(BitVec::random(params.columns(), prg));
    let mut macs = Zeroizing::new(vec![Block::ZERO; params.columns()]);
    cot.extend(channel, &delta, &mut macs, &mut Workspace::default())?;
    channel.flush()?;
    let mut oracle = Oracle::new(SEED);
    let one = |(i, row): (usize, &Block)| seed(&mut oracle, session, i, *row);
    let chosen: Zeroizing<Vec<Block>> = Zeroizing::new(macs.iter().enumerate().map(one).collect());
    let message = match params.tree_bytes() {
        0 => Vec::new(),
        bytes => channel.recv(COMMITMENT_TREES, bytes)?,
    };
    let parties = VoleParties { session, prover: channel.peer(), verifier: channel.me() };
    build_verifiers(parties, params, (&delta, &chosen), &message, lanes)
}
