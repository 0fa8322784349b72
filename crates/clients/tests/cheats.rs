//! Parties and clients that cheat.

use symbolon_circuit::builder::{Builder, ComponentBuilder, Tags};
use symbolon_circuit::{Circuit, Field, PartyId, Receivers, Type, eval_ports};
use symbolon_clients::{ClientError, Hashes};
use symbolon_primitives::{BitVec, Block, Prg};

use crate::common::{Program, by_party};

const SUM: &str = "fn main(x: [Option<(u5, u64)>; 3] from clients) \
    -> (sum: u64 to all, all: [Option<(u5, u64)>; 3] to all, y: [u64; 3] to clients) {
    let mut sum = 0;
    for v in x { if let Some((_, b)) = v { sum += b; } }
    (sum, x, [sum; 3])
}";

/// Cheat: any party | clients: shares | flips any bit of its share of a client | `client tag`: the
/// client counts as absent, as all parties see; `answer tag` for a pad or a key, at the client |
/// always, except with q / 2^64
#[test]
fn a_changed_share_makes_its_client_absent_or_its_answer_wrong() {
    let program = Program::new(SUM, 2);
    let mut prg = Prg::from_public_seed(Block(5));
    let values = ["[1, 10]", "[2, 200]", "[3, 3000]"];
    let made = values.map(|value| program.submit(&mut prg, &[("x", value)]));
    let lists = by_party(2, &[Some(&made[0]), Some(&made[1]), Some(&made[2])]);
    let inputs = lists.map_to_bits(&program);
    let width = program.layout.ports().share_type().width() as usize;
    let tagged = 1 + program.layout.ports().value_bits() as usize + 2 * 64;
    for party in 0..2 {
        for bit in 0..width {
            let mut inputs = inputs.clone();
            let place = width + bit;
            let flipped = !inputs[party].get(place);
            inputs[party].set(place, flipped);
            let ran = program.run_bits(&inputs, &[]);
            let is_absent = bit < tagged;
            assert_eq!(ran.counted, [true, !is_absent, true], "bit {bit} of party {party}");
            let sum = if is_absent { 3010 } else { 3210 };
            assert_eq!(ran.outputs[0].1, sum.to_string());
            assert_eq!(ran.outputs[1].1.contains("null"), is_absent);
            let result = program.layout.open(&made[1].receipt, &ran.answers[1]).map(|_| ());
            let error = if is_absent { ClientError::NotCounted } else { ClientError::Changed };
            assert_eq!(result, Err(error), "bit {bit} of party {party}");
            let opened = program.layout.open(&made[2].receipt, &ran.answers[2]).unwrap();
            assert_eq!(opened.answers[0].2.words(), [sum]);
        }
    }
}

/// Cheat: any party | clients: shares | changes many bits of its share | `client tag`, likewise |
/// always, except with q / 2^64
#[test]
fn random_changes_make_their_client_absent() {
    let program = Program::new(SUM, 3);
    let mut prg = Prg::from_public_seed(Block(6));
    let made = [(); 3].map(|()| program.submit(&mut prg, &[("x", "[1, 10]")]));
    let lists = by_party(3, &[Some(&made[0]), Some(&made[1]), Some(&made[2])]);
    let inputs = lists.map_to_bits(&program);
    let width = program.layout.ports().share_type().width() as usize;
    let tagged = 1 + program.layout.ports().value_bits() as usize + 2 * 64;
    for round in 0..100 {
        let mut inputs = inputs.clone();
        let (party, client) = (round % 3, round / 3 % 3);
        let change = BitVec::random(width, &mut prg);
        for bit in 1..tagged {
            let place = client * width + bit;
            let changed = inputs[party].get(place) ^ change.get(bit);
            inputs[party].set(place, changed);
        }
        let ran = program.run_bits(&inputs, &[]);
        let expected: Vec<bool> = (0..3).map(|other| other != client).collect();
        assert_eq!(ran.counted, expected);
        assert_eq!(ran.outputs[0].1, "20");
    }
}

/// Cheat: any party | clients: shares | gives a valid codeword of a client that it invented | the
/// presence bits of the others: the client counts as absent | always
#[test]
fn a_party_cannot_invent_a_client() {
    let program = Program::new(SUM, 3);
    let mut prg = Prg::from_public_seed(Block(7));
    let honest = program.submit(&mut prg, &[("x", "[1, 10]")]);
    let invented = program.submit(&mut prg, &[("x", "[1, 999]")]);
    // The shares of an absent client are zeros: with the sum of all shares the tag would be right.
    let mut inputs = by_party(3, &[Some(&honest), None, None]).map_to_bits(&program);
    let whole = by_party(3, &[None, Some(&invented), None]).map_to_bits(&program);
    let width = program.layout.ports().share_type().width() as usize;
    for bit in 0..width {
        let place = width + bit;
        let sum = (0..3).fold(false, |sum, party| sum ^ whole[party].get(place));
        inputs[1].set(place, sum || bit == 0);
    }
    let ran = program.run_bits(&inputs, &[]);
    assert_eq!(ran.counted, [true, false, false]);
    assert_eq!(ran.outputs[0].1, "10");
    // With the presence of all parties it would have been counted.
    (0..3).for_each(|party| inputs[party].set(width, true));
    assert_eq!(program.run_bits(&inputs, &[]).outputs[0].1, "1009");
}

/// Cheat: a party | clients: shares | says that a client is absent | everybody sees that the client
/// was not counted | always
#[test]
fn a_withheld_share_makes_its_client_absent() {
    let program = Program::new(SUM, 2);
    let mut prg = Prg::from_public_seed(Block(8));
    let made = [(); 3].map(|()| program.submit(&mut prg, &[("x", "[1, 10]")]));
    let mut lists = by_party(2, &[Some(&made[0]), Some(&made[1]), Some(&made[2])]);
    lists[1][2] = None;
    let ran = program.run(&lists, &[]);
    assert_eq!(ran.counted, [true, true, false]);
    assert_eq!(ran.outputs[0].1, "20");
    assert!(program.layout.input(&[None; 4]).is_err());
}

/// Returns a circuit that tells whether a tag is right, in a field of n bits.
fn checker(field: Field, blocks: usize) -> Circuit {
    let n = field.bits() as usize;
    let mut multiplier = ComponentBuilder::new("product");
    let (x, y) = (multiplier.input(n), multiplier.input(n));
    let product = multiplier.field_mul(&x, &y);
    multiplier.output(&product);
    let tags = Tags::new(multiplier.finish().unwrap());
    let mut builder = Builder::new("checker");
    let mut input =
        |name: &str, len: usize| builder.input(name, Type::words(len as u32, n as u32), 0);
    let (x, s, t) = (input("x", blocks), input("s", 1), input("t", 1));
    let tag = tags.amd(&mut builder, &x.split(n), &s);
    let is_right = builder.eq(&tag, &t);
    builder.output("right", &is_right.into(), Type::Bool, Receivers::All);
    builder.finish().unwrap()
}

/// Cheat: any party | clients: shares, in GF(2^8) | adds a change to the codeword that passes as
/// often as one can | `client tag` | q / 2^8, q the power of two above d
#[test]
fn changes_pass_a_small_tag_as_rarely_as_proven() {
    let field = Field::SMALL;
    let mut prg = Prg::from_public_seed(Block(9));
    for d in [1usize, 2, 3, 4, 5] {
        let q = (d + 1).next_power_of_two();
        let circuit = checker(field, d);
        let passes = |x: &[u64], s: u64, t: u64| {
            let bits = |words: &[u64]| {
                let bit = |place: usize| words[place / 8] >> (place % 8) & 1 == 1;
                (0..8 * words.len()).map(bit).collect::<Vec<bool>>()
            };
            eval_ports(&circuit, &[bits(x), bits(&[s]), bits(&[t])]).unwrap()[0][0]
        };
        let x: Vec<u64> = (0..d).map(|_| prg.below(256)).collect();
        let (mut most, mut best) = (0, None);
        for _ in 0..4_000 {
            let changes: Vec<u64> = (0..d + 2).map(|_| prg.below(256)).collect();
            let (ds, dt) = (changes[d], changes[d + 1]);
            if changes[..=d].iter().all(|change| *change == 0) {
                continue;
            }
            let changed: Vec<u64> = x.iter().zip(&changes).map(|(x, change)| x ^ change).collect();
            let count = (0..256)
                .filter(|&s| field.amd_tag(&changed, s ^ ds) == field.amd_tag(&x, s) ^ dt)
                .count();
            assert!(count <= q, "{count} of 256 with {d} blocks");
            if count > most {
                (most, best) = (count, Some((changed, ds, dt)));
            }
        }
        // Changes come close to the bound, and the circuit lets the same ones pass.
        println!("d = {d}: {most} of 256 pass, {q} at most");
        assert!(2 * most >= q, "{most}");
        let (changed, ds, dt) = best.unwrap();
        let count = (0..256).filter(|&s| {
            let tag = field.amd_tag(&x, s);
            assert!(passes(&x, s, tag));
            passes(&changed, s ^ ds, tag ^ dt)
        });
        assert_eq!(count.count(), most);
    }
}

/// Cheat: a party | clients: answers | changes the answer that it passes on | `answer tag`, at the
/// client | always, except with q / 2^64
#[test]
fn changed_answers_are_noticed() {
    let program = Program::new(SUM, 2);
    let mut prg = Prg::from_public_seed(Block(10));
    let made = [(); 3].map(|()| program.submit(&mut prg, &[("x", "[1, 10]")]));
    let ran = program.run(&by_party(2, &[Some(&made[0]), Some(&made[1]), None]), &[]);
    let (layout, answer) = (&program.layout, &ran.answers[0]);
    assert!(layout.open(&made[0].receipt, answer).is_ok());
    for bit in 0..8 * answer.len() {
        let mut changed = answer.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let result = layout.open(&made[0].receipt, &changed).map(|_| ());
        assert_eq!(result, Err(ClientError::Changed), "{bit}");
    }
    let zeros = vec![0; answer.len()];
    let result = layout.open(&made[0].receipt, &zeros).map(|_| ());
    assert_eq!(result, Err(ClientError::NotCounted));
    assert!(layout.open(&made[0].receipt, &answer[1..]).is_err());
    // The same answer to another client looks different.
    assert_ne!(ran.answers[0], ran.answers[1]);
    assert!(layout.receipt(&[0; 3]).is_err());
}

/// Cheat: a party | clients: answers, in GF(2^8) | changes its shares of the pad and the keys, and
/// the answer, as well as it can | `answer tag` | q / 2^8, q the power of two above k
#[test]
fn changes_pass_a_small_answer_tag_as_rarely_as_proven() {
    let field = Field::SMALL;
    let mut prg = Prg::from_public_seed(Block(11));
    for k in [1usize, 2, 3, 4] {
        let q = (k + 1).next_power_of_two();
        let answer: Vec<u64> = (0..k).map(|_| prg.below(256)).collect();
        let mut most = 0;
        for round in 0..4_000 {
            let changed: Vec<u64> = match round % 2 {
                0 => answer.clone().iter().map(|v| v ^ prg.below(2)).collect(),
                _ => (0..k).map(|_| prg.below(256)).collect(),
            };
            let (da, db) = (prg.below(256), prg.below(256));
            if changed == answer {
                continue;
            }
            // The circuit computes with a + da and the right answer, the client with a and another.
            // b hides a.
            let passes = |a: u64| field.amd_tag(&answer, a ^ da) ^ db == field.amd_tag(&changed, a);
            most = most.max((0..256).filter(|&a| passes(a)).count());
        }
        println!("k = {k}: {most} of 256 pass, {q} at most");
        assert!(most <= q && 2 * most >= q, "{most}");
    }
}

/// Cheat: client; party | clients: shares | sends a share that does not fit its hash, or other
/// hashes to other parties | the share is refused; the digests differ | always
#[test]
fn parties_see_whether_they_hold_the_same_submission() {
    let program = Program::new(SUM, 2);
    let mut prg = Prg::from_public_seed(Block(12));
    let made = [(); 2].map(|()| program.submit(&mut prg, &[("x", "[1, 10]")]));
    let (layout, [a, b]) = (&program.layout, &made);
    let accept = |party: u16, hashes: &Hashes, share: &[u8]| {
        layout.accept(PartyId::new(party), hashes, share).map(|_| ())
    };
    let share = a.shares[0].as_bytes();
    assert_eq!(accept(0, &a.hashes, share), Ok(()));
    assert_eq!(accept(1, &a.hashes, share), Err(ClientError::Hash));
    assert_eq!(accept(2, &a.hashes, share), Err(ClientError::Hash));
    assert_eq!(accept(0, &b.hashes, share), Err(ClientError::Hash));
    for byte in 0..share.len() {
        let mut changed = share.to_vec();
        changed[byte] ^= 4;
        assert_eq!(accept(0, &a.hashes, &changed), Err(ClientError::Hash));
    }
    for len in [0, 1, share.len() - 1, share.len() + 1] {
        let other = vec![0; len];
        assert!(matches!(accept(0, &a.hashes, &other), Err(ClientError::Length { .. })));
    }
    assert!(Hashes::from_bytes(2, &[0; 63]).is_err());
    let read = Hashes::from_bytes(2, &a.hashes.to_bytes()).unwrap();
    assert_eq!(read, a.hashes);
    // A client that sends parties shares of different submissions.
    let mixed = [&a.hashes.to_bytes()[..32], &b.hashes.to_bytes()[32..]].concat();
    let mixed = Hashes::from_bytes(2, &mixed).unwrap();
    assert_eq!(accept(0, &mixed, share), Ok(()));
    assert_ne!(mixed.digest(b"call", "ann"), a.hashes.digest(b"call", "ann"));
}

/// Shares as inputs of the parties.
trait ToBits {
    fn map_to_bits(&self, program: &Program) -> Vec<BitVec>;
}

impl ToBits for Vec<Vec<Option<symbolon_clients::Share>>> {
    fn map_to_bits(&self, program: &Program) -> Vec<BitVec> {
        let bits = |list: &Vec<Option<symbolon_clients::Share>>| {
            let list: Vec<_> = list.iter().map(Option::as_ref).collect();
            program.layout.input(&list).unwrap()
        };
        self.iter().map(bits).collect()
    }
}
