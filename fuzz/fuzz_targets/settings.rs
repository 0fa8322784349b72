//! Settings files of the command.

#![no_main]

use libfuzzer_sys::fuzz_target;
use symbolon_cli::check_settings;

fuzz_target!(|text: &str| {
    if let Err(told) = check_settings(text) {
        assert!(!told.is_empty(), "a refusal says why");
    }
});
