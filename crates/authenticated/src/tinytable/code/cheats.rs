//! Commitments and checks between two parties in memory, on dealt shares, also with codes of small
//! distance, where a cheat's chance can be measured.

use std::sync::Arc;

use symbolon_circuit::builder::Builder;
use symbolon_circuit::{Circuit, Receivers, Table, Type};
use symbolon_primitives::{BitVec, Prg, Transcript};
use symbolon_transport::adversary::FnAdversary;
use symbolon_transport::{Channel, Meter, memory_pair, threads};

use super::check::check;
use super::commit::commit;
use super::layout::Layout;
use super::reed_muller::ReedMuller;
use super::*;

/// RM(3, 7), whose square has a distance of 2: the words of even weight.
fn weak() -> ReedMuller {
    ReedMuller::new(3, 7)
}

fn circuit() -> Circuit {
    let table =
        |k, m| Table::new(k, m, (0..1 << k).map(|i| i * 5 % 8).collect::<Vec<_>>()).unwrap();
    let mut b = Builder::new("gates and look-ups");
    let x = b.input("x", Type::Uint(16), 0);
    let y = b.input("y", Type::Uint(16), 1);
    let mut z = b.and(&x, &y);
    for _ in 0..6 {
        let turned = z.rotl(3);
        z = b.and(&z, &turned);
    }
    let first = b.lookup(&table(4, 3), &z.slice(0..4));
    let second = b.lookup(&table(6, 9), &z.slice(3..9));
    b.output("z", &z, Type::Uint(16), Receivers::All);
    b.output("first", &first, Type::Uint(3), Receivers::All);
    b.output("second", &second, Type::Uint(9), Receivers::All);
    b.finish().unwrap()
}

/// What one party has when it commits.
struct Dealt {
    tables: ScrambledCircuit<u128>,
    secrets: Secrets,
    hiding: Hiding,
    opened: OpenedEntries,
}

/// A random bit of each party, with its MAC and the other's key.
fn bit(deltas: [u128; 2], prg: &mut Prg) -> [(bool, u128, u128); 2] {
    let bits = [prg.bool(), prg.bool()];
    let keys = [prg.block().0, prg.block().0];
    let mac = |me: usize| keys[1 - me] ^ (deltas[1 - me] * u128::from(bits[me]));
    [0, 1].map(|me| (bits[me], mac(me), keys[me]))
}

fn rows(n: usize, deltas: [u128; 2], prg: &mut Prg) -> [Rows<u128>; 2] {
    let mut rows = [(); 2].map(|()| Rows::with_room(n));
    for i in 0..n {
        for (rows, (bit, mac, key)) in rows.iter_mut().zip(bit(deltas, prg)) {
            rows.bits.push(bit);
            (rows.macs[i], rows.keys[i]) = (mac, key);
        }
    }
    rows
}

/// Deals the records of all entries.
fn records(program: &Program, executions: usize, deltas: [u128; 2], prg: &mut Prg) -> [Vec<u8>; 2] {
    let mut records = [Vec::new(), Vec::new()];
    for table in (0..program.lookups()).map(|number| program.table(number)) {
        for _ in 0..table.entries().len() * executions {
            let shares = [(); 2].map(|()| prg.u64() & ((1 << table.outputs()) - 1));
            let keys = [prg.block().0, prg.block().0];
            for (me, record) in records.iter_mut().enumerate() {
                let mac = keys[1 - me] ^ deltas[1 - me].times(shares[me]);
                let width = table.outputs().div_ceil(8) as usize;
                record.extend_from_slice(&shares[me].to_le_bytes()[..width]);
                record.extend_from_slice(bytemuck::bytes_of(&[mac, keys[me]]));
            }
        }
    }
    records
}

/// Deals everything, and random opened entries.
fn deal(layout: &Layout, program: &Arc<Program>, executions: usize, seed: u128) -> [Dealt; 2] {
    let mut prg = Prg::from_seed(Block(seed));
    let deltas = [(); 2].map(|()| prg.block().0);
    let n = program.ands() * executions;
    let [mut first, mut second] = [Vec::new(), Vec::new()];
    for _ in 0..3 {
        let [a, b] = rows(n, deltas, &mut prg);
        first.push(a);
        second.push(b);
    }
    let gates = [first, second].map(|rows| <[_; 3]>::try_from(rows).ok().unwrap());
    let records = records(program, executions, deltas, &mut prg);
    let outputs = rows(0, deltas, &mut prg);
    let a = rows(layout.code.length(), deltas, &mut prg);
    let hiding = rows(layout.hiding_bits(), deltas, &mut prg);
    let [c, d] = [(); 2].map(|()| BitVec::random(n, &mut prg));
    let all = (0..program.lookups()).flat_map(|number| vec![number; executions]);
    let index = |number| prg.below(program.table(number).entries().len() as u64) as u8;
    let indices: Vec<u8> = all.map(index).collect();
    let mut me = 0..2u16;
    let parts = gates.into_iter().zip(records).zip(outputs).zip(a.into_iter().zip(hiding));
    let parts = parts.map(|(((gates, records), outputs), (a, hiding))| {
        let me = PartyId::new(me.next().unwrap());
        let mut bytes = HugeBuf::zeroed(records.len());
        bytes.copy_from_slice(&records);
        let blocks = |tags: &[u128]| Zeroizing::new(tags.iter().map(|tag| Block(*tag)).collect());
        let tables = ScrambledCircuit {
            me,
            executions,
            delta: Delta::new(Block(deltas[me.index()])),
            program: program.clone(),
            digest: [0; 32],
            own_masks: BitVec::zeros(0),
            gates,
            tables: Tables::new(bytes),
            outputs,
            shared: false,
        };
        let mut packed = Zeroizing::new(vec![Block::ZERO; layout.code.blocks()]);
        bytemuck::cast_slice_mut(&mut packed).copy_from_slice(a.bits.words());
        let (keys, macs) = (blocks(&a.keys), blocks(&a.macs));
        let secrets = Secrets { session: [3; 32], keys, a: packed, macs };
        let (macs, keys) = (blocks(&hiding.macs), blocks(&hiding.keys));
        let hiding = Hiding { bits: hiding.bits, macs, keys };
        let mut opened = OpenedEntries::with_room(program, executions);
        (opened.c, opened.d, opened.indices) = (c.clone(), d.clone(), indices.clone());
        Dealt { tables, secrets, hiding, opened }
    });
    let mut both = <[Dealt; 2]>::try_from(parts.collect::<Vec<_>>()).ok().unwrap();
    let sent = both.each_ref().map(|dealt| sent(&dealt.tables, &dealt.opened));
    for (me, (bits, entries)) in sent.into_iter().enumerate() {
        (both[1 - me].opened.theirs, both[1 - me].opened.entries) = (bits, entries);
    }
    both
}

/// Returns what an honest party sends for the opened entries.
fn sent(tables: &ScrambledCircuit<u128>, opened: &OpenedEntries) -> (BitVec, Vec<u8>) {
    let [row, beta, alpha] = &tables.gates;
    let mut bits = BitVec::zeros(0);
    for k in 0..row.bits.len() {
        let (c, d) = (opened.c.get(k), opened.d.get(k));
        let share = row.bits.get(k) ^ (c & beta.bits.get(k)) ^ (d & alpha.bits.get(k));
        bits.push(share ^ (tables.me == 0 && c && d));
    }
    let mut entries = Vec::new();
    for (number, indices) in opened.indices.chunks(tables.executions).enumerate() {
        let records = tables.records(number);
        (0..)
            .zip(indices)
            .for_each(|(l, index)| entries.extend_from_slice(records.share(l, *index)));
    }
    (bits, entries)
}

/// How a run ended: for each party, whether it accepted the commitments, and the opened bits.
type Ends = [(bool, Option<bool>); 2];

/// Runs both checks, with party 0's channel bent by an adversary.
fn run(layout: &Layout, dealt: [Dealt; 2], adversary: FnAdversary) -> Ends {
    let (mut a, b) = memory_pair(Meter::new(), Meter::new());
    a.set_adversary(Box::new(adversary));
    let one = |dealt: Dealt, mut channel: Channel| {
        let Dealt { tables, secrets, hiding, opened } = dealt;
        let committed = commit(&tables, layout.clone(), secrets, &hiding, &mut channel);
        let Ok(commitments) = committed else {
            return (false, None);
        };
        let tables = without_tags::<u64>(tables);
        let mut transcript = Transcript::new("test", &[0; 32]);
        let checked = check(&tables, &commitments, &opened, &mut transcript, &mut channel);
        (true, Some(checked.is_ok()))
    };
    let [zero, other] = dealt;
    let work = |(dealt, channel)| one(dealt, channel);
    let (first, rest) = threads::beside([(other, b)], work, || one(zero, a)).unwrap();
    [first, rest.into_iter().next().unwrap().unwrap()]
}

fn setting(code: ReedMuller, executions: usize) -> (Layout, Arc<Program>) {
    let program = Arc::new(Program::new(&circuit()).unwrap());
    let tables = layout::Tables::of(&program, executions).unwrap();
    (Layout::with(code, &tables, Rho::Bits40), program)
}

/// Changes party 0's state at a point.
fn state(point: &'static str, change: impl Fn(&mut [u8]) + Send + 'static) -> FnAdversary {
    FnAdversary::new().on_state(move |at, data| {
        if at == point {
            change(data);
        }
    })
}

fn flip(data: &mut [u8], bit: usize) {
    data[bit / 8] ^= 1 << (bit % 8);
}

const HONEST: (bool, Option<bool>) = (true, Some(true));

#[test]
fn honest_parties_accept_each_other() {
    for (code, executions) in
        [(weak(), 1), (ReedMuller::new(2, 10), 1), (ReedMuller::new(2, 8), 70), (weak(), 9)]
    {
        let (layout, program) = setting(code, executions);
        for hashes in [1, 2] {
            let mut layout = layout.clone();
            layout.hashes = hashes;
            let dealt = deal(&layout, &program, executions, 5);
            assert_eq!(run(&layout, dealt, FnAdversary::new()), [HONEST; 2]);
        }
    }
}

/// What a party stores is what [`Layout::stored_bytes`] counts, and its tables without tags.
#[test]
fn what_is_stored_is_counted() {
    for code in [weak(), ReedMuller::new(2, 10)] {
        let (layout, program) = setting(code, 3);
        let (a, b) = memory_pair(Meter::new(), Meter::new());
        let stored = |dealt: Dealt, mut channel: Channel| {
            let Dealt { tables, secrets, hiding, .. } = dealt;
            let commitments =
                commit(&tables, layout.clone(), secrets, &hiding, &mut channel).unwrap();
            let circuit = CommittedCircuit { tables: without_tags::<u64>(tables), commitments };
            let mut bytes = Vec::new();
            Box::new(circuit).save(&mut bytes).unwrap();
            bytes.len()
        };
        let [zero, one] = deal(&layout, &program, 3, 1);
        let work = |(dealt, channel)| stored(dealt, channel);
        let (first, second) = threads::beside([(one, b)], work, || stored(zero, a)).unwrap();
        let bits = program.ands() * 3;
        let tables = 3 * bits.div_ceil(8) + program.end.byte * 3;
        // Δ, and the session.
        let expected = 16 + 32 + tables + layout.stored_bytes();
        assert_eq!(first, expected);
        assert_eq!(second.into_iter().next().unwrap().unwrap(), expected);
    }
}

/// Returns whether all these bits of the verifier's a are zero.
fn unlucky(dealt: &[Dealt; 2], positions: &[usize]) -> bool {
    let a = &dealt[1].secrets.a;
    positions.iter().all(|i| a[i / 128].0 >> (i % 128) & 1 == 0)
}

/// Positions of a correction are changed, in rows of the tables, of masks, and of what hides them.
/// Each is a guess that the verifier's bit of a is zero, and nothing else passes.
/// Cheat: one | Fig. 9 | b positions of a row that is no word of the code | `code commitment` |
/// 1 − 2^-b
#[test]
fn rows_that_are_no_words() {
    let (layout, program) = setting(weak(), 2);
    let mut passed = [0; 3];
    const RUNS: u128 = 96;
    for seed in 0..RUNS {
        for b in 1..=3usize {
            let dealt = deal(&layout, &program, 2, seed);
            // Row 1 is a plane of the first group, at positions that depend on the run.
            let first = seed as usize % 100;
            let positions: Vec<usize> = (0..b).map(|i| first + 9 * i).collect();
            let lucky = unlucky(&dealt, &positions);
            let row = if seed % 2 == 0 { 1 } else { layout.rows() + 5 };
            let adversary = state("tinytable: code of tables", move |rows| {
                positions.iter().for_each(|i| flip(rows, 128 * row + i));
            });
            let [_, (accepted, checked)] = run(&layout, dealt, adversary);
            assert_eq!(accepted, lucky, "a guess of {b} bits");
            assert_eq!(checked, lucky.then_some(true), "a right guess changes nothing");
            passed[b - 1] += u32::from(accepted);
        }
    }
    // 48, 24 and 12 on average; six standard deviations.
    for (passed, expected, within) in
        [(passed[0], 48, 30), (passed[1], 24, 24), (passed[2], 12, 12)]
    {
        assert!(i32::abs_diff(passed as i32, expected) <= within, "{passed} of {RUNS}");
    }
}

/// A mask that is not zero in a place of the code, but is a word of the square: it would allow a
/// wrong bit. With a distance of 2, it is a guess of two bits of a; with a real code of at least
/// 64.
/// Cheat: one | Fig. 9 | a mask with a one in a place of the code | `code commitment` |
/// 1 − 2^-d, for the distance d of the square: 3/4 at d = 2
#[test]
fn masks_that_are_not_zero_in_the_code() {
    let (layout, program) = setting(weak(), 1);
    let mut passed = 0;
    for seed in 0..96 {
        let dealt = deal(&layout, &program, 1, seed);
        // In RM(6, 7) the positions 1 and 127 are a word. Neither is free; packed corrections have
        // the places of the code first, and last the one point that the square lacks.
        let lucky = unlucky(&dealt, &[1, 127]);
        let last = layout.code.count(reed_muller::Places::Fixed) - 1;
        let adversary = state("tinytable: code of masks", move |rows| {
            flip(rows, 1);
            flip(rows, last);
        });
        let [_, (accepted, _)] = run(&layout, dealt, adversary);
        assert_eq!(accepted, lucky);
        passed += u32::from(accepted);
    }
    assert!((2..=48).contains(&passed), "{passed} of 96, not about 24");
    let (layout, program) = setting(ReedMuller::new(2, 10), 1);
    let last = layout.code.count(reed_muller::Places::Fixed) - 1;
    for position in [0, last] {
        let dealt = deal(&layout, &program, 1, 77);
        let word = move |rows: &mut [u8]| (0..40).for_each(|i| flip(rows, position.abs_diff(i)));
        let [_, (accepted, _)] = run(&layout, dealt, state("tinytable: code of masks", word));
        assert!(!accepted, "a guess of forty bits");
    }
}

/// A wrong bit, opened with the right proof: it passes if a is zero wherever some word of the
/// square with this bit is one, and the distance is the number of these positions.
/// Cheat: one | Fig. 11, step 3 | a wrong bit, and a guess of a | `table code` | 1 − 2^-d, for
/// the distance d of the square: 3/4 at d = 2
#[test]
fn wrong_bits_are_guesses_of_as_many_positions_as_the_distance() {
    let (layout, program) = setting(weak(), 1);
    let mut passed = 0;
    for seed in 0..96 {
        let mut dealt = deal(&layout, &program, 1, seed);
        let gate = layout.code.dimension() + 2;
        let theirs = &mut dealt[1].opened.theirs;
        theirs.set(gate, !theirs.get(gate));
        // The third place is point 2; with point 127 it is a word of RM(6, 7).
        let lucky = unlucky(&dealt, &[2, 127]);
        let [cheater, (accepted, checked)] = run(&layout, dealt, FnAdversary::new());
        assert_eq!((cheater, accepted, checked), (HONEST, true, Some(lucky)));
        passed += u32::from(lucky);
    }
    assert!((2..=48).contains(&passed), "{passed} of 96, not about 24");
}

/// An entry that is not the one at the agreed index is a wrong entry.
/// Cheat: one | Fig. 11, step 3 | another entry of a table, or bits of it | `table code` | below
/// 2^-ρ
#[test]
fn entries_other_than_those_of_the_index() {
    let (layout, program) = setting(ReedMuller::new(2, 10), 3);
    let honest = deal(&layout, &program, 3, 9);
    for byte in 0..honest[1].opened.entries.len() {
        let mut dealt = deal(&layout, &program, 3, 9);
        dealt[1].opened.entries[byte] ^= 1;
        let [cheater, other] = run(&layout, dealt, FnAdversary::new());
        assert_eq!((cheater, other), (HONEST, (true, Some(false))), "byte {byte}");
    }
}

/// The mask of a proof is used once: two proofs of the same bits with other streams have nothing in
/// common, in any sum.
#[test]
fn proofs_are_masked() {
    let (layout, program) = setting(ReedMuller::new(2, 10), 1);
    let proofs = [1u8, 2].map(|session| {
        let mut dealt = deal(&layout, &program, 1, 9);
        dealt.iter_mut().for_each(|dealt| dealt.secrets.session = [session; 32]);
        let proof = Arc::new(std::sync::Mutex::new(Vec::new()));
        let seen = proof.clone();
        let keep = move |data: &mut [u8]| seen.lock().unwrap().extend_from_slice(data);
        run(&layout, dealt, state("tinytable: own opened sums", keep));
        let proof = proof.lock().unwrap();
        proof.clone()
    });
    let sum = proofs[0].len() / layout.checks;
    for (one, other) in proofs[0].chunks(sum).zip(proofs[1].chunks(sum)) {
        let differ = one.iter().zip(other).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
        // 330 free places of 2^10: half of them, within 6 standard deviations.
        assert!((110..220).contains(&differ), "{differ}");
    }
}
