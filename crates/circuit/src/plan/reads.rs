//! How often each wire of a component is still to be read.

use crate::{Component, RepeatArg, Step, Wire, WireRange};

use super::rewrite::ranges_passed;

/// This many inputs in a row are counted together, as long as they are read alike: a component may
/// have very many inputs that one repeat reads.
const BLOCK: u32 = 1 << 12;

/// The number of reads of a wire that is an output of the component: they never end.
const ENDLESS: u32 = u32::MAX;

/// How often each wire is still to be read.
pub(super) struct Reads {
    /// The first inputs, in whole blocks.
    blocks: Vec<Block>,
    /// All other wires.
    others: Vec<u32>,
}

/// The counts of a block.
enum Block {
    Alike(u32),
    Each(Box<[u32]>),
}

impl Block {
    fn each(&mut self) -> &mut [u32] {
        if let Block::Alike(count) = *self {
            *self = Block::Each(vec![count; BLOCK as usize].into());
        }
        match self {
            Block::Each(counts) => counts,
            Block::Alike(_) => &mut [],
        }
    }
}

fn more(count: u32) -> u32 {
    count.saturating_add(1)
}

/// Returns a count after a read; a saturated one never ends.
fn less(count: u32) -> u32 {
    if count == ENDLESS { ENDLESS } else { count - 1 }
}

impl Reads {
    /// Counts the reads of all wires.
    pub(super) fn of(component: &Component) -> Reads {
        let blocks = component.inputs / BLOCK;
        let mut reads = Reads {
            blocks: (0..blocks).map(|_| Block::Alike(0)).collect(),
            others: vec![0; (component.wires - blocks * BLOCK) as usize],
        };
        for step in &component.steps {
            match *step {
                Step::Xor { a, b, .. } | Step::And { a, b, .. } => {
                    reads.change(a, more);
                    reads.change(b, more);
                }
                Step::Inv { a, .. } => reads.change(a, more),
                Step::Const { .. } => {}
                Step::Call(call) => {
                    let runs = ranges_passed(component, component.calls[call as usize]).iter();
                    runs.for_each(|&run| reads.change_all(run, more, |_| {}));
                }
                Step::Repeat(repeat) => {
                    let args = component.args_of(component.repeats[repeat as usize]).iter();
                    let runs = args.filter_map(RepeatArg::ranges);
                    let runs = runs.flat_map(|all| component.ranges_of(all));
                    runs.for_each(|&run| reads.change_all(run, more, |_| {}));
                }
                Step::Lookup(lookup) => {
                    let inputs = component.inputs_of(component.lookups[lookup as usize]);
                    inputs.iter().for_each(|&wire| reads.change(wire, more));
                }
            }
        }
        component.outputs.iter().for_each(|&wire| reads.change(wire, |_| ENDLESS));
        reads
    }

    /// Returns whether a wire is read no more.
    pub(super) fn is_over(&self, wire: Wire) -> bool {
        let block = wire / BLOCK;
        match self.blocks.get(block as usize) {
            Some(Block::Alike(count)) => *count == 0,
            Some(Block::Each(counts)) => counts[(wire % BLOCK) as usize] == 0,
            None => self.others[(wire - self.blocks.len() as u32 * BLOCK) as usize] == 0,
        }
    }

    /// Notes a read of a wire; returns whether it was the last one.
    pub(super) fn read(&mut self, wire: Wire) -> bool {
        self.change(wire, less);
        self.is_over(wire)
    }

    /// Notes one read of each wire of a run; passes those that are read no more to `last`.
    pub(super) fn read_all(&mut self, run: WireRange, last: impl FnMut(WireRange)) {
        self.change_all(run, less, last);
    }

    /// Passes the first `inputs` wires that are never read to `dead`.
    pub(super) fn dead(&self, inputs: u32, mut dead: impl FnMut(WireRange)) {
        let counted = self.blocks.len() as u32 * BLOCK;
        for (first, block) in (0..).step_by(BLOCK as usize).zip(&self.blocks) {
            match block {
                Block::Alike(0) => dead(WireRange { first, len: BLOCK }),
                Block::Alike(_) => {}
                Block::Each(_) => over(self, first..first + BLOCK, &mut dead),
            }
        }
        over(self, counted..inputs.max(counted), &mut dead);
    }

    fn change(&mut self, wire: Wire, change: fn(u32) -> u32) {
        let counted = self.blocks.len() as u32 * BLOCK;
        let count = match wire.checked_sub(counted) {
            Some(place) => &mut self.others[place as usize],
            None => &mut self.blocks[(wire / BLOCK) as usize].each()[(wire % BLOCK) as usize],
        };
        *count = change(*count);
    }

    /// Changes the counts of all wires of a run, and passes those to `over` that become 0.
    fn change_all(
        &mut self,
        run: WireRange,
        change: fn(u32) -> u32,
        mut over: impl FnMut(WireRange),
    ) {
        let counted = self.blocks.len() as u32 * BLOCK;
        let (mut first, end) = (run.first, run.first + run.len);
        while first < end {
            let (counts, len) = if first < counted {
                let block = &mut self.blocks[(first / BLOCK) as usize];
                let len = (BLOCK - first % BLOCK).min(end - first);
                if let (Block::Alike(count), BLOCK) = (&mut *block, len) {
                    *count = change(*count);
                    if *count == 0 {
                        over(WireRange { first, len });
                    }
                    first += len;
                    continue;
                }
                (&mut block.each()[(first % BLOCK) as usize..], len)
            } else {
                (&mut self.others[(first - counted) as usize..], end - first)
            };
            let counts = &mut counts[..len as usize];
            counts.iter_mut().for_each(|count| *count = change(*count));
            let mut wire = first;
            for alike in counts.chunk_by(|a, b| (*a == 0) == (*b == 0)) {
                let len = alike.len() as u32;
                if alike[0] == 0 {
                    over(WireRange { first: wire, len });
                }
                wire += len;
            }
            first += len;
        }
    }
}

/// Passes the wires of a range that are read no more to `dead`.
fn over(reads: &Reads, wires: std::ops::Range<Wire>, dead: &mut impl FnMut(WireRange)) {
    let unread = wires.filter(|&wire| reads.is_over(wire));
    unread.for_each(|first| dead(WireRange { first, len: 1 }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Call;

    /// Blocks that are read alike, in parts, by gates and as outputs count as each wire for itself.
    #[test]
    fn blocks_count_as_their_wires() {
        let inputs = 5 * BLOCK + 100;
        let runs = [(0, 2 * BLOCK), (BLOCK, 3 * BLOCK + 50), (7, 9), (4 * BLOCK, BLOCK + 100)];
        let runs = runs.map(|(first, len)| WireRange { first, len });
        let calls =
            (0..4).map(|i| Call { component: 0, first_arg: i, arg_count: 1, first_output: 0 });
        let component = Component {
            inputs,
            wires: inputs + 1,
            steps: [0, 1, 2, 3]
                .map(Step::Call)
                .into_iter()
                .chain([Step::Xor { a: 3, b: inputs - 1, out: inputs }])
                .collect(),
            calls: calls.collect(),
            call_args: runs.to_vec(),
            outputs: vec![inputs, 5, 4 * BLOCK + 1],
            ..Component::default()
        };
        let mut reads = Reads::of(&component);
        let mut expected = vec![0u32; inputs as usize + 1];
        for run in runs {
            (run.first..run.first + run.len).for_each(|wire| expected[wire as usize] += 1);
        }
        [3, inputs - 1].iter().for_each(|&wire| expected[wire as usize] += 1);
        component.outputs.iter().for_each(|&wire| expected[wire as usize] = ENDLESS);
        let check = |reads: &Reads, expected: &[u32]| {
            for (wire, count) in (0..).zip(expected) {
                assert_eq!(reads.is_over(wire), *count == 0, "{wire}");
            }
        };
        check(&reads, &expected);
        let mut dead = Vec::new();
        reads.dead(inputs, |run| dead.extend(run.first..run.first + run.len));
        let unread = (0..inputs).filter(|&wire| expected[wire as usize] == 0);
        assert_eq!(dead, unread.collect::<Vec<_>>());
        for run in runs {
            let mut last = Vec::new();
            reads.read_all(run, |run| last.extend(run.first..run.first + run.len));
            let mut now = Vec::new();
            for wire in run.first..run.first + run.len {
                let count = &mut expected[wire as usize];
                *count = less(*count);
                now.extend((*count == 0).then_some(wire));
            }
            assert_eq!(last, now);
            check(&reads, &expected);
        }
        assert!(reads.read(3) && reads.read(inputs - 1) && !reads.read(5));
    }
}
