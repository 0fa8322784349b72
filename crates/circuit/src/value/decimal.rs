//! Decimal numbers of more bits than a machine word has.

use zeroize::Zeroizing;

use super::DECIMAL_BITS;

/// Nine decimal digits fit a limb.
const GROUP: u32 = 1_000_000_000;
const GROUP_DIGITS: usize = 9;

/// The most significant digits that a number of [`DECIMAL_BITS`] bits can have.
pub(super) const MAX_DIGITS: usize = 1234;

/// Returns the number that ASCII digits write, least significant bit first, without leading zeros;
/// `None` when there are more than [`MAX_DIGITS`] (leading zeros aside).
pub(super) fn to_bits(digits: &[u8]) -> Option<Zeroizing<Vec<bool>>> {
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    let digits = &digits[zeros..];
    if digits.len() > MAX_DIGITS {
        return None;
    }
    // All memory is allocated at once, so that growing leaves no copy of a secret behind.
    let mut limbs = Zeroizing::new(Vec::with_capacity(DECIMAL_BITS as usize / 32 + 1));
    for group in digits.chunks(GROUP_DIGITS) {
        let value = group.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
        let mut carry = value;
        let scale = 10u64.pow(group.len() as u32);
        for limb in limbs.iter_mut() {
            let wide: u64 = u64::from(*limb) * scale + carry;
            *limb = wide as u32;
            carry = wide >> 32;
        }
        if carry > 0 {
            limbs.push(carry as u32);
        }
    }
    let mut bits = Zeroizing::new(Vec::with_capacity(32 * limbs.len()));
    bits.extend(limbs.iter().flat_map(|limb| (0..32).map(move |i| limb >> i & 1 == 1)));
    let length = bits.iter().rposition(|&bit| bit).map_or(0, |last| last + 1);
    bits.truncate(length);
    Some(bits)
}

/// Returns the decimal digits of the number with these bits, least significant first.
pub(super) fn from_bits(bits: impl Iterator<Item = bool>) -> String {
    let mut limbs: Vec<u32> = Vec::new();
    for (i, bit) in bits.enumerate() {
        if i % 32 == 0 {
            limbs.push(0);
        }
        limbs[i / 32] |= u32::from(bit) << (i % 32);
    }
    let mut groups = Vec::new();
    loop {
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
        if limbs.is_empty() {
            break;
        }
        let mut rest = 0u64;
        for limb in limbs.iter_mut().rev() {
            let wide = rest << 32 | u64::from(*limb);
            *limb = (wide / u64::from(GROUP)) as u32;
            rest = wide % u64::from(GROUP);
        }
        groups.push(rest);
    }
    let first = groups.pop().unwrap_or(0).to_string();
    groups.iter().rev().fold(first, |text, group| format!("{text}{group:09}"))
}
