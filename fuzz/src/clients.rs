//! What clients read from nodes and nodes from clients: a layout in the first line, then a share
//! with its hashes, a receipt, or an answer.

use symbolon_clients::{Hashes, Layout};

/// Checks what is made of these bytes.
pub fn check(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (text, rest) = (&data[..end], data.get(end + 1..).unwrap_or_default());
    let Some(layout) = std::str::from_utf8(text).ok().and_then(|t| Layout::from_json(t).ok())
    else {
        return;
    };
    assert_eq!(Layout::from_json(&layout.to_json()).as_ref().ok(), Some(&layout));
    let parties = layout.ports().parties;
    if let Some((hashes, share)) = rest.split_at_checked(32 * usize::from(parties))
        && let Ok(hashes) = Hashes::from_bytes(parties, hashes)
    {
        assert_eq!(hashes.to_bytes().len(), 32 * usize::from(parties));
        if let Ok(share) = layout.accept(0.into(), &hashes, share) {
            assert_eq!(share.as_bytes().len(), layout.share_len());
        }
    }
    if let Some((receipt, answer)) = rest.split_at_checked(layout.receipt_len())
        && let Ok(receipt) = layout.receipt(receipt)
        && let Ok(opened) = layout.open(&receipt, answer)
    {
        assert!(opened.answers.len() <= layout.ports().answers.len());
    }
    if let Ok(value) = std::str::from_utf8(rest)
        && let Ok(bits) = layout.values(&[("", value)])
    {
        assert_eq!(bits.len() as u64, layout.ports().value_bits());
    }
}
