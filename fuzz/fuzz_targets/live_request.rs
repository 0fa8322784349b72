//! Requests to the live page of a command that shows it to its own machine.

#![no_main]

use libfuzzer_sys::fuzz_target;
use symbolon_cli::check_live_request;

fuzz_target!(|bytes: &[u8]| {
    let status = check_live_request(bytes);
    assert!([200, 400, 404, 405, 421, 431].contains(&status), "{status}");
    // Nothing but a GET is answered.
    assert!(status != 200 || bytes.windows(4).any(|four| four == b"GET "));
});
