//! The language server: any bytes from an editor leave it alive, and the end of a session after
//! them is answered.

use std::io::{Cursor, Write};
use std::sync::{Arc, Mutex};

use symbolon_lang::lsp::serve_over;

/// What the server writes.
#[derive(Clone, Default)]
struct Answers(Arc<Mutex<Vec<u8>>>);

impl Write for Answers {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("nobody panics").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Checks what is made of these bytes.
pub fn check(data: &[u8]) {
    // The bytes may hold any part of a session, its end included; then the server ends early.
    let mut session = data.to_vec();
    for body in [
        r#"{"jsonrpc":"2.0","id":"begin","method":"initialize","params":{"capabilities":{}}}"#,
        r#"{"jsonrpc":"2.0","id":"end","method":"shutdown"}"#,
        r#"{"jsonrpc":"2.0","method":"exit"}"#,
    ] {
        session.extend(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }
    let ends = b"\"exit\"";
    let early = data.windows(ends.len()).any(|part| part == ends) || data.contains(&b'\\');
    let answers = Answers::default();
    let done = serve_over(Cursor::new(session), answers.clone());
    if early {
        return;
    }
    done.expect("the session ends as it should");
    let answers = answers.0.lock().expect("nobody panics");
    let text = String::from_utf8_lossy(&answers);
    assert!(text.contains(r#""id":"end""#), "the end of the session is answered");
}
