//! What a node reads from a peer: the first message of a connection, and control messages.

use symbolon_service::fuzzing::{Message, Opening};

/// Checks what is made of these bytes.
pub fn check(data: &[u8]) {
    if let Some(bytes) = data.first_chunk()
        && let Some(opening) = Opening::decode(bytes)
    {
        assert_eq!(opening.encode(), *bytes);
    }
    if let Ok(message) = Message::decode(data) {
        assert_eq!(Message::decode(&message.encode()), Ok(message));
    }
}
