//! Both messages of a request to a dealer, from anyone who reaches it. A request that decodes has
//! one encoding and a party within its range, and its sizes do not overflow.

use symbolon_preprocessing::dealer::{MAX_PARTIES, Request};

/// Checks what is made of these bytes.
pub fn check(data: &[u8]) {
    let Some((head, table)) = data.split_first_chunk() else { return };
    let length = Request::table_length(head);
    assert!(length.is_none_or(|length| length <= MAX_PARTIES * 40));
    let Ok(request) = Request::decode(head, table) else { return };
    assert_eq!(length, Some(table.len()));
    let (again, same) = request.encode();
    assert_eq!((&again[2..], same.as_slice()), (&head[2..], table), "one request, one encoding");
    assert!(request.party.index() < request.parties());
    (0..request.parties() as u16)
        .for_each(|party| assert!(request.bytes_to_party(party.into()) >= 24));
}
