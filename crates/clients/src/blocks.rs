//! Blocks and their bytes.

use zeroize::Zeroizing;

/// Reads blocks, whose number divides the bytes.
pub(crate) fn to_blocks(bytes: &[u8]) -> Zeroizing<Vec<u64>> {
    let blocks = bytes.as_chunks::<8>().0.iter();
    Zeroizing::new(blocks.map(|block| u64::from_le_bytes(*block)).collect())
}

/// Writes blocks.
pub(crate) fn to_bytes(blocks: &[u64]) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(8 * blocks.len()));
    blocks.iter().for_each(|block| bytes.extend_from_slice(&block.to_le_bytes()));
    bytes
}
