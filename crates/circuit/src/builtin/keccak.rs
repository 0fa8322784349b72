//! Keccak-f\[1600\] (FIPS 202).

use super::byte_order::{big_endian, from_big_endian};
use crate::builder::{Builder, Gates, Word};
use crate::{Circuit, CircuitError, Receivers, Type};

/// The permutation of `state ⊕ block`; 38 400 ANDs.
///
/// All three values are the standard's strings of 200 bytes read as big-endian integers: the byte
/// absorbed first is the most significant.
pub(super) fn keccak_f() -> Result<Circuit, CircuitError> {
    let mut b = Builder::new("keccak_f");
    let state = b.input("state", Type::Uint(1600), 0);
    let block = b.input("block", Type::Uint(1600), 1);
    let absorbed = b.xor(&state, &block);
    let mut lanes: Vec<Word> = big_endian(&absorbed, 64).iter().map(swap_bytes).collect();
    for constant in round_constants() {
        lanes = round(&mut b, &lanes, constant);
    }
    let bytes: Vec<Word> = lanes.iter().map(swap_bytes).collect();
    b.output("state", &from_big_endian(&bytes), Type::Uint(1600), Receivers::All);
    b.finish()
}

/// Converts a lane: lanes are little-endian, whatever the string around them is.
fn swap_bytes(lane: &Word) -> Word {
    from_big_endian(&lane.split(8))
}

/// One round; lane (x, y) is at index x + 5y.
fn round(g: &mut Gates, lanes: &[Word], constant: u64) -> Vec<Word> {
    let columns: [Word; 5] = std::array::from_fn(|x| {
        let rest = lanes[x + 5..].iter().step_by(5);
        rest.fold(lanes[x].clone(), |sum, lane| g.xor(&sum, lane))
    });
    let theta: [Word; 5] =
        std::array::from_fn(|x| g.xor(&columns[(x + 4) % 5], &columns[(x + 1) % 5].rotl(1)));

    let mut moved = vec![Word::default(); 25];
    moved[0] = g.xor(&lanes[0], &theta[0]);
    let (mut x, mut y) = (1, 0);
    for t in 0..24 {
        // ρ rotates the lane by a triangular number, π moves it.
        let lane = g.xor(&lanes[x + 5 * y], &theta[x]);
        (x, y) = (y, (2 * x + 3 * y) % 5);
        moved[x + 5 * y] = lane.rotl((t + 1) * (t + 2) / 2);
    }

    let mut next: Vec<Word> = (0..25)
        .map(|i| {
            let row = i / 5 * 5;
            let (near, far) = (&moved[row + (i + 1) % 5], &moved[row + (i + 2) % 5]);
            let chi = g.and(&!near, far);
            g.xor(&moved[i], &chi)
        })
        .collect();
    next[0] = g.xor(&next[0], &Word::constant(64, constant.into()));
    next
}

/// The 24 constants of ι, from the standard's shift register x⁸ + x⁶ + x⁵ + x⁴ + 1.
fn round_constants() -> [u64; 24] {
    let mut register = 1u8;
    std::array::from_fn(|_| {
        (0..7).fold(0, |constant, j| {
            let bit = u64::from(register & 1);
            register = register << 1 ^ if register & 0x80 != 0 { 0x71 } else { 0 };
            constant | bit << ((1 << j) - 1)
        })
    })
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use proptest::prelude::*;

    use super::*;
    use crate::builder::and_count;
    use crate::builtin::testing::{hex, run};

    /// The state after one permutation of zeros, from the Keccak team's reference vectors.
    const OF_ZEROS: &str = "\
        e7dde140798f25f18a47c033f9ccd584eea95aa61e2698d54d49806f304715bd57d05362054e288b\
        d46f8e7f2da497ffc44746a4a0e5fe90762e19d60cda5b8c9c05191bf7a630ad64fc8fd0b75a9330\
        35d617233fa95aeb0321710d26e6a6a95f55cfdb167ca58126c84703cd31b8439f56a5111a2ff201\
        61aed9215a63e505f270c98cf2febe641166c47b95703661cb0ed04f555a7cb8c832cf1c8ae83e8c\
        14263aae22790c94e409c5a224f94118c26504e72635f5163ba1307fe944f67549a2ec5c7bfff1ea";

    #[test]
    fn permutes_zeros() {
        let circuit = keccak_f().unwrap();
        assert_eq!(and_count(&circuit), 38_400);
        assert_eq!(run(&circuit, &[BigUint::ZERO, BigUint::ZERO]), [hex(OF_ZEROS)]);
    }

    /// FIPS 202's examples for the empty message: one block of padding, absorbed.
    #[test]
    fn known_digests_of_sha3() {
        let circuit = keccak_f().unwrap();
        for (rate, digest) in [
            (136, "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a"),
            (
                72,
                "a69f73cca23a9ac5c8b567dc185a756e97c982164fe25859e0d1dcc1475c80a6\
                 15b2123af1f5f94c11e3e9402c3ac558f500199d95b6d3e301758586281dcd26",
            ),
        ] {
            let mut block = [0u8; 200];
            block[0] = 0x06;
            block[rate - 1] |= 0x80;
            let out = run(&circuit, &[BigUint::ZERO, BigUint::from_bytes_be(&block)]);
            assert_eq!(&out[0] >> (1600 - 4 * digest.len()), hex(digest));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4))]
        #[test]
        fn depends_on_the_sum_of_its_inputs_alone(bytes in prop::collection::vec(any::<u8>(), 200)) {
            let mask = BigUint::from_bytes_be(&bytes);
            prop_assert_eq!(run(&keccak_f().unwrap(), &[mask.clone(), mask]), [hex(OF_ZEROS)]);
        }
    }
}
