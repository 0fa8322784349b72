//! The first bytes of a connection, before anything about the peer is known: message headers, the
//! preamble of a lane, the hello, key files.

use symbolon_transport::fuzzing;

/// Checks what is made of these bytes.
pub fn check(data: &[u8]) {
    let _ = fuzzing::decode_hello(data);
    let _ = fuzzing::decode_key_file(data);
    if let Some(header) = data.first_chunk() {
        let _ = fuzzing::Header::decode(header);
    }
    if let Some(bytes) = data.first_chunk()
        && let Ok(preamble) = fuzzing::Preamble::decode(bytes)
    {
        assert_eq!(fuzzing::Preamble::decode(&preamble.encode()), Ok(preamble));
    }
}
