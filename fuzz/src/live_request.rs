//! Requests to the live page of a command.

use symbolon_cli::check_live_request;

/// Checks what is made of these bytes.
pub fn check(bytes: &[u8]) {
    let status = check_live_request(bytes).expect("a connection in memory");
    assert!([200, 400, 403, 404, 405, 431].contains(&status), "{status}");
    // Nothing but a GET with the token is answered.
    let has = |part: &[u8]| bytes.windows(part.len()).any(|some| some == part);
    assert!(status != 200 || has(b"GET ") && has(b"token=0123"));
}
