//! `docs/reference/openapi.json` is generated from the door's types.
//!
//! `SYMBOLON_WRITE_DOCS=1 cargo test -p symbolon-service --test service documents` rewrites it.

use std::path::Path;

#[test]
fn the_openapi_document_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/openapi.json");
    let current = symbolon_service::openapi() + "\n";
    if std::env::var_os("SYMBOLON_WRITE_DOCS").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let hint = "docs/reference/openapi.json is not current: SYMBOLON_WRITE_DOCS=1 rewrites it";
    assert!(written == current, "{hint}");
}
