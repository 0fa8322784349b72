//! Settings files of the command.

use symbolon_cli::check_settings;

/// Checks what is made of these bytes.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Err(told) = check_settings(text) {
        assert!(!told.is_empty(), "a refusal says why");
    }
}
