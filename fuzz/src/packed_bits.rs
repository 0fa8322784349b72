//! Packed bits as every protocol receives them: the first byte chooses how many are expected.

use symbolon_primitives::BitVec;

/// Checks what is made of these bytes.
pub fn check(data: &[u8]) {
    let [n, bytes @ ..] = data else { return };
    let n = usize::from(*n);
    match BitVec::from_bytes(n, bytes) {
        Some(bits) => {
            assert_eq!(bits.len(), n);
            assert_eq!(bits.to_bytes(), bytes, "one bit vector, one encoding");
        }
        None => assert!(bytes.len() != BitVec::byte_len(n) || n % 8 != 0),
    }
}
