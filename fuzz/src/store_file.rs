//! The files of a store, changed by anyone who can write to the disk: the manifest, the head,
//! records of the index, descriptions of unfinished items, headers and frames of sections.

use symbolon_store::ItemId;
use symbolon_store::fuzzing::{
    About, CommitPointer, FileKeys, HEADER, Header, Manifest, Record, RootKey,
};

/// Checks what is made of these bytes.
pub fn check(data: &[u8]) {
    let [which, bytes @ ..] = data else { return };
    match which % 5 {
        0 => drop(Manifest::decode(bytes)),
        1 => drop(CommitPointer::decode(bytes)),
        2 => {
            let Some((id, bytes)) = bytes.split_first_chunk() else { return };
            if let Ok(record) = Record::decode(ItemId(*id), bytes) {
                assert_eq!(record.meta.id(), ItemId(*id));
                let counts = &record.meta.counts;
                assert!(record.next.iter().zip(counts).all(|(next, count)| next <= count));
                let _ = record.bytes();
            }
        }
        3 => drop(About::decode(bytes)),
        _ => {
            let Some((header, bytes)) = bytes.split_first_chunk::<HEADER>() else { return };
            let Ok(decoded) = Header::decode(header) else { return };
            let keys = FileKeys::new(&RootKey::derive(b"nothing", &decoded.store), &decoded);
            assert_eq!(
                keys.header()[..HEADER - 32],
                header[..HEADER - 32],
                "one header, one encoding"
            );
            let mut frame = bytes.to_vec();
            if keys.open(0, true, &mut frame).is_ok() {
                keys.seal(0, true, &mut frame).unwrap();
                assert_eq!(frame, bytes, "one frame, one sealing");
            }
        }
    }
}
