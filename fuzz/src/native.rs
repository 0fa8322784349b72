//! Symbolon's own circuit files: whatever is read is written as the same circuit, from bytes that
//! begin after the format's name and version.

use symbolon_circuit::native::{read, write};

/// Checks what is made of these bytes.
pub fn check(data: &[u8]) {
    // Anything is read or refused, also what has another name or version.
    let _ = read(data);
    for version in 1..=2 {
        let Ok(circuit) = read(&[&b"\x89SBC"[..], &[version], data].concat()) else { continue };
        let mut bytes = Vec::new();
        write(&circuit, &mut bytes).expect("what was read is within the limits");
        let again = read(&bytes).expect("what was written can be read");
        assert_eq!(again, circuit);
        assert_eq!(again.digest(), circuit.digest());
    }
}
