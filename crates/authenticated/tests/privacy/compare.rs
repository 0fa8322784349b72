//! Compares what an honest party sends for one input and for another.

use std::collections::{BTreeSet, HashMap};

use symbolon_transport::adversary::Rate;

/// A message that was sent: the receiver, the kind, and the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub to: u16,
    pub kind: &'static str,
    pub payload: Vec<u8>,
}

/// What one run revealed of the honest party.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The messages, in order for each receiver.
    pub sent: Vec<Sent>,
    /// The error in which it ended: the check, and whom it accuses. What it tells its peers of an
    /// error depends on this alone.
    pub error: Option<String>,
    /// How the cheater's own program ended, which knows more than the messages: keys, masks. Empty
    /// if its output depends on the honest party's input.
    pub learnt: String,
}

impl Seen {
    fn failed(&self) -> bool {
        self.error.is_some()
    }

    fn error(&self) -> &str {
        self.error.as_deref().unwrap_or("no error")
    }

    fn learnt(&self) -> &str {
        &self.learnt
    }
}

/// Returns what differs between the runs for the one input and those for the other.
pub fn compare(runs: &[Vec<Seen>; 2], noticed: f64) -> Result<(), String> {
    let shape = longest(runs)?;
    let bits = places(&shape, 8 * MOST_BYTES, |bit, _| bit);
    let masked =
        places(&shape, 2 * EDGE, |n, bits| if n < EDGE { n } else { last(n - EDGE, bits) });
    let pairs = masked.len() * masked.len() / 2;
    let all = || runs.iter().flatten();
    let errors: BTreeSet<&str> = all().map(Seen::error).collect();
    let learnt: BTreeSet<&str> = all().map(Seen::learnt).collect();
    let tests = bits.len() + pairs + errors.len() + learnt.len();
    let least = Rate::SIGNIFICANCE / tests as f64;
    let mut test = Test { least, known: HashMap::new() };
    for &place in &bits {
        test.same(counts(runs, |seen| bit(seen, place)), || {
            format!("bit {} of `{}`", place.1, shape[place.0].kind)
        })?;
    }
    for (i, &one) in masked.iter().enumerate() {
        for &other in &masked[i + 1..] {
            let sum = |seen: &Seen| Some(bit(seen, one)? ^ bit(seen, other)?);
            test.same(counts(runs, sum), || {
                let name = |place: Place| format!("bit {} of `{}`", place.1, shape[place.0].kind);
                format!("the sum of {} and {}", name(one), name(other))
            })?;
        }
    }
    let [zeros, ones] = counts(runs, |seen| Some(seen.failed()));
    let both = Rate { hits: zeros.hits + ones.hits, runs: zeros.runs + ones.runs };
    for failed in [zeros, ones, both] {
        if failed.two_sided(noticed) < Rate::SIGNIFICANCE {
            return Err(format!("ended in an error in {failed:?}, not {noticed}"));
        }
    }
    for error in errors {
        let name = || format!("the error `{error}`");
        test.same(counts(runs, |seen| Some(seen.error() == error)), name)?;
    }
    for ending in learnt {
        let name = || format!("what the cheater learns, `{ending}`,");
        test.same(counts(runs, |seen| Some(seen.learnt() == ending)), name)?;
    }
    // There are enough runs to distinguish the prediction from other rates.
    let more = if noticed > 0.5 { 1.0 } else { (2.0 * noticed).min(0.75) };
    for other in [noticed / 2.0, more].into_iter().filter(|other| *other != noticed) {
        both.assert_tells(noticed, other);
    }
    Ok(())
}

/// The number of bytes of a message whose bits are all compared.
const MOST_BYTES: usize = 256;

/// The number of bits at the beginning of a message, and before the digest at its end, whose
/// pairwise sums are all compared.
const EDGE: usize = 40;

/// The number of bits in a digest.
const DIGEST: usize = 256;

/// The index of the message among all of a run, and of the bit in it.
type Place = (usize, usize);

/// Returns the `n`-th of the bits before a digest.
fn last(n: usize, bits: usize) -> usize {
    (bits + n).saturating_sub(DIGEST + EDGE)
}

/// Returns this many bits of each message, each once. `place` maps a number and the message's
/// length in bits to the index of a bit.
fn places(shape: &[Sent], most: usize, place: fn(usize, usize) -> usize) -> Vec<Place> {
    let of = |(message, sent): (usize, &Sent)| {
        let bits = 8 * sent.payload.len();
        let mut all: Vec<Place> =
            (0..most).map(|n| (message, place(n, bits))).filter(|place| place.1 < bits).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    shape.iter().enumerate().flat_map(of).collect()
}

fn bit(seen: &Seen, (message, bit): Place) -> Option<bool> {
    Some(seen.sent.get(message)?.payload[bit / 8] >> (bit % 8) & 1 == 1)
}

/// Counts how often a bit is set, among the runs that got that far.
fn counts(runs: &[Vec<Seen>; 2], bit: impl Fn(&Seen) -> Option<bool>) -> [Rate; 2] {
    [0, 1].map(|input| runs[input].iter().filter_map(&bit).collect())
}

/// Returns the longest run; all others must be prefixes of it, in receivers, kinds and lengths.
fn longest(runs: &[Vec<Seen>; 2]) -> Result<Vec<Sent>, String> {
    let all = || runs.iter().flatten();
    let longest = all().max_by_key(|seen| seen.sent.len()).ok_or("no runs")?;
    for seen in all() {
        for (sent, other) in seen.sent.iter().zip(&longest.sent) {
            if (sent.to, sent.kind) != (other.to, other.kind) {
                return Err(format!("`{}` in one run, `{}` in another", sent.kind, other.kind));
            }
            if sent.payload.len() != other.payload.len() {
                return Err(format!("the length of `{}` differs", sent.kind));
            }
        }
    }
    Ok(longest.sent.clone())
}

struct Test {
    least: f64,
    /// Cached results, because there are few different counts.
    known: HashMap<[Rate; 2], bool>,
}

impl Test {
    fn same(&mut self, rates: [Rate; 2], name: impl Fn() -> String) -> Result<(), String> {
        let least = self.least;
        let same = |rates: &[Rate; 2]| rates[0].same(rates[1]) >= least;
        if *self.known.entry(rates).or_insert_with_key(same) {
            return Ok(());
        }
        let [zeros, ones] = rates;
        Err(format!("{} is in {zeros:?} for one input, {ones:?} for the other", name()))
    }
}
