use symbolon_primitives::Prg;

use super::*;

const DISTANCES: [usize; 12] = [1, 2, 4, 6, 8, 10, 16, 20, 32, 40, 64, 80];

fn code(distance: usize) -> Code {
    Code::with_distance(distance).unwrap()
}

fn parity_words(code: &Code, message: Block) -> Vec<u64> {
    let mut out = vec![0; code.parity_bits().div_ceil(64)];
    code.parity_of_public(message, &mut out);
    out
}

fn weight(code: &Code, message: Block) -> usize {
    let parity: u32 = parity_words(code, message).iter().map(|word| word.count_ones()).sum();
    (message.0.count_ones() + parity) as usize
}

#[test]
fn lengths() {
    let lengths = DISTANCES.map(|d| code(d).length());
    assert_eq!(lengths, [129, 129, 137, 145, 153, 161, 185, 197, 245, 262, 390, 420]);
    assert_eq!(DISTANCES.map(|d| code(d).distance()), [2, 2, 4, 6, 8, 10, 16, 20, 32, 40, 64, 80]);
    assert_eq!(format!("{:?}", code(39)), "[262, 128, 40]");
    assert!(Code::with_distance(0).is_none() && Code::with_distance(81).is_none());
}

/// The table for public messages and the sums of message bits are one code, and it is linear.
#[test]
fn both_forms_agree() {
    let mut prg = Prg::from_seed(Block(1));
    for d in DISTANCES {
        let code = code(d);
        for _ in 0..20 {
            let (a, b) = (prg.block(), prg.block());
            let of = |x| parity_words(&code, x);
            let sum: Vec<u64> = of(a).iter().zip(of(b)).map(|(a, b)| a ^ b).collect();
            assert_eq!(of(a ^ b), sum);
            for (i, bits) in code.sums().iter().enumerate() {
                let bit = (a & *bits).0.count_ones() as u64 & 1;
                assert_eq!(of(a)[i / 64] >> (i % 64) & 1, bit);
            }
        }
    }
}

/// Returns the value of a codeword's polynomial at α^power. The first `degree` parity bits are its
/// lowest coefficients; the message follows.
fn value_at(field: &Field, degree: usize, code: &Code, message: Block, power: usize) -> usize {
    let parity = parity_words(code, message);
    let low = (0..degree).filter(|i| parity[i / 64] >> (i % 64) & 1 == 1);
    let high = (0..DIMENSION).filter(|i| message.0 >> i & 1 == 1).map(|i| degree + i);
    low.chain(high).fold(0, |sum, i| sum ^ field.exp[i * power % field.order()])
}

/// Checks everything that the distance proof of the extended codes needs: the roots, and even
/// weights.
#[test]
fn words_of_bch_codes_have_their_roots() {
    let mut prg = Prg::from_seed(Block(2));
    for d in [4, 10, 16, 20, 32, 64, 80] {
        let code = code(d);
        let field = if d < 64 { Field::new(8, 0x11d) } else { Field::new(9, 0x211) };
        let degree = code.parity_bits() - 1;
        assert!(degree + DIMENSION <= field.order());
        for i in 0..DIMENSION + 20 {
            let message = if i < DIMENSION { Block(1 << i) } else { prg.block() };
            assert!((1..=d - 2).all(|power| value_at(&field, degree, &code, message, power) == 0));
            assert!(weight(&code, message).is_multiple_of(2));
        }
    }
}

/// Checks everything that the distance proof of construction X needs: the roots of the larger code,
/// even weights of word and tail, and a tail that is 0 only for words of the smaller code.
#[test]
fn construction_x_has_a_tail_outside_the_smaller_code() {
    let code = code(40);
    let field = Field::new(8, 0x11d);
    let (degree, tail) = (124, 125..134);
    let parity_bit = |message, i: usize| parity_words(&code, message)[i / 64] >> (i % 64) & 1;
    let tail_of =
        |message| -> u64 { tail.clone().map(|i| parity_bit(message, i) << (i - tail.start)).sum() };
    let mut prg = Prg::from_seed(Block(3));
    // Finds messages with an empty tail, by elimination on its eight bits.
    let mut basis: Vec<(u64, u128)> = Vec::new();
    let mut inside = Vec::new();
    for i in 0..DIMENSION {
        let (mut bits, mut message) = (tail_of(Block(1 << i)) & 0xff, 1 << i);
        for (pivot, other) in &basis {
            if bits & (pivot & pivot.wrapping_neg()) != 0 {
                bits ^= pivot;
                message ^= other;
            }
        }
        if bits == 0 { inside.push(Block(message)) } else { basis.push((bits, message)) }
    }
    assert_eq!((basis.len(), inside.len()), (8, 120));
    let has_roots = |message, last| {
        (1..=last).all(|power| value_at(&field, degree, &code, message, power) == 0)
    };
    for message in inside {
        assert_eq!(tail_of(message), 0);
        assert!(has_roots(message, 38));
    }
    for i in 0..DIMENSION + 20 {
        let message = if i < DIMENSION { Block(1 << i) } else { prg.block() };
        assert!(has_roots(message, 36));
        assert_eq!(tail_of(message) == 0, has_roots(message, 38));
        let in_tail = tail_of(message).count_ones() as usize;
        assert!(in_tail.is_multiple_of(2) && weight(&code, message).is_multiple_of(2));
    }
}

/// Computes the lowest weight of all sums of up to three rows, which are codewords.
#[test]
fn words_of_few_rows_are_heavy() {
    for d in DISTANCES {
        let code = code(d);
        let rows: Vec<Vec<u64>> =
            (0..DIMENSION).map(|i| parity_words(&code, Block(1 << i))).collect();
        let ones = |words: &[&Vec<u64>]| -> usize {
            let sum = |w: usize| words.iter().fold(0, |sum, row| sum ^ row[w]);
            (0..rows[0].len()).map(|w| sum(w).count_ones() as usize).sum::<usize>() + words.len()
        };
        let mut least = usize::MAX;
        for (i, a) in rows.iter().enumerate() {
            least = least.min(ones(&[a]));
            for (j, b) in rows[..i].iter().enumerate() {
                least = least.min(ones(&[a, b]));
                for c in &rows[..j] {
                    least = least.min(ones(&[a, b, c]));
                }
            }
        }
        assert!(least >= code.distance(), "{least} of {code:?}");
        // For a distance of at most 4, no other word could be lighter.
        assert!(d > 4 || least == code.distance(), "{least} of {code:?}");
    }
}

/// Searches for light words in sums of one or two rows, for random information sets. No word is
/// lighter than the distance, and the shortest code has a word of exactly that weight.
#[test]
fn a_search_finds_no_lighter_word() {
    let mut prg = Prg::from_seed(Block(4));
    for (d, tight) in [(10, true), (16, false), (20, false), (32, false), (40, false), (64, false)]
    {
        let code = code(d);
        let least = (0..20).map(|_| lightest(&code, &mut prg)).min().unwrap();
        assert!(least >= d, "{least} of {code:?}");
        assert!(!tight || least == d, "{least} of {code:?}");
    }
}

/// Returns the lowest weight of sums of one or two rows of a generator matrix that is systematic at
/// random places.
fn lightest(code: &Code, prg: &mut Prg) -> usize {
    let words = code.length().div_ceil(64);
    let mut rows: Vec<Vec<u64>> = (0..DIMENSION)
        .map(|i| {
            let mut row = vec![0; words];
            row[i / 64] |= 1 << (i % 64);
            let parity = parity_words(code, Block(1 << i));
            for at in (0..code.parity_bits()).filter(|at| parity[at / 64] >> (at % 64) & 1 == 1) {
                row[(DIMENSION + at) / 64] |= 1 << ((DIMENSION + at) % 64);
            }
            row
        })
        .collect();
    let mut done = 0;
    for place in prg.permutation(code.length()) {
        let (word, bit) = (place as usize / 64, place % 64);
        let Some(pivot) = (done..DIMENSION).find(|i| rows[*i][word] >> bit & 1 == 1) else {
            continue;
        };
        rows.swap(done, pivot);
        let row = rows[done].clone();
        for (i, other) in rows.iter_mut().enumerate() {
            if i != done && other[word] >> bit & 1 == 1 {
                other.iter_mut().zip(&row).for_each(|(a, b)| *a ^= b);
            }
        }
        done += 1;
    }
    assert_eq!(done, DIMENSION);
    let ones = |a: &[u64], b: &[u64]| -> usize {
        a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones() as usize).sum()
    };
    let zero = vec![0; words];
    let pairs = (0..DIMENSION).flat_map(|i| (0..i).map(move |j| (i, j)));
    let two = pairs.map(|(i, j)| ones(&rows[i], &rows[j])).min().unwrap();
    rows.iter().map(|row| ones(row, &zero)).min().unwrap().min(two)
}
