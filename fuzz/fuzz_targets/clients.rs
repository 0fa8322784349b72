#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| symbolon_fuzz::clients::check(data));
