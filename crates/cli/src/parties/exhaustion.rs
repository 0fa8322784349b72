//! Memory or threads that run out where no error can be returned: the command says so and ends,
//! with the exit code of every other shortage.

use std::panic;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use symbolon_primitives::out_of_memory;

use crate::common::error::{CliError, ErrorClass};
use crate::common::output::lacks_json;
use crate::parties::child_message::ChildMessage;

/// How much stack the main thread needs at most.
const STACK: usize = 1 << 20;

/// What is written at the end, made before anything is short: writing it must not allocate.
struct LastWords {
    /// For people.
    text: String,
    /// For programs: a document.
    json: String,
    /// For the parent of a party's process.
    message: String,
}

impl LastWords {
    fn new(failure: CliError) -> LastWords {
        let json = serde_json::to_string_pretty(&failure.json()).unwrap_or_default();
        let text = format!("{failure}\n");
        let message = serde_json::to_string(&ChildMessage::Failed(failure)).unwrap_or_default();
        LastWords { text, json: json + "\n", message: message + "\n" }
    }
}

static WITHOUT_MEMORY: OnceLock<LastWords> = OnceLock::new();
static WITHOUT_THREADS: OnceLock<LastWords> = OnceLock::new();

/// Whether a parent reads what this process says.
static FOR_PARENT: AtomicBool = AtomicBool::new(false);

/// Prepares this process for the end of its memory and threads: what cannot return an error, or
/// returns it to a library that panics, ends the process with a sentence and exit code 71.
pub fn end_well_without_memory() {
    let code = ErrorClass::System.exit_code();
    out_of_memory::set_ending(|| say(&WITHOUT_MEMORY), code);
    let _ = WITHOUT_MEMORY.set(LastWords::new(no_memory()));
    let _ = WITHOUT_THREADS.set(LastWords::new(no_threads()));
    out_of_memory::catch_aborts();
    out_of_memory::grow_stack(STACK);
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |about| {
        let payload = about.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        match text.and_then(lack) {
            Some(Lack::Memory) => out_of_memory::end_with(|| say(&WITHOUT_MEMORY), code),
            Some(Lack::Threads) => out_of_memory::end_with(|| say(&WITHOUT_THREADS), code),
            None => usual(about),
        }
    }));
}

/// Makes the end known to this process's parent instead of to the user.
pub fn tell_parent() {
    FOR_PARENT.store(true, Ordering::Relaxed);
}

fn no_memory() -> CliError {
    CliError::system("this process got no more memory from the system")
}

fn no_threads() -> CliError {
    CliError::system("this process got no more threads, or no memory for their stacks")
}

#[derive(Debug, PartialEq, Eq)]
enum Lack {
    Memory,
    Threads,
}

/// Returns what a panic says that the system did not have: the standard library and others panic
/// when they get none. The texts are those of ENOMEM and EAGAIN, for debugging and for people.
fn lack(payload: &str) -> Option<Lack> {
    let says = |texts: [&str; 2]| texts.iter().any(|text| payload.contains(text));
    if says(["kind: OutOfMemory", "(os error 12)"]) {
        Some(Lack::Memory)
    } else if says(["kind: WouldBlock", "(os error 11)"]) {
        Some(Lack::Threads)
    } else {
        None
    }
}

/// Writes the last words; allocates nothing, and waits for no lock.
fn say(words: &OnceLock<LastWords>) {
    let Some(words) = words.get() else {
        return write(Stream::Error, "error: memory ran out before the command began\n");
    };
    if FOR_PARENT.load(Ordering::Relaxed) {
        return write(Stream::Output, &words.message);
    }
    write(Stream::Error, &words.text);
    if lacks_json() {
        write(Stream::Output, &words.json);
    }
}

enum Stream {
    Output,
    Error,
}

/// Writes to the stream itself: the standard library's has a buffer and a lock.
#[cfg(unix)]
fn write(stream: Stream, text: &str) {
    let stream = match stream {
        Stream::Output => rustix::stdio::stdout(),
        Stream::Error => rustix::stdio::stderr(),
    };
    let mut left = text.as_bytes();
    while let Ok(written @ 1..) = rustix::io::write(stream, left) {
        left = &left[written..];
    }
}

#[cfg(not(unix))]
fn write(stream: Stream, text: &str) {
    use std::io::Write;
    let _ = match stream {
        Stream::Output => std::io::stdout().write_all(text.as_bytes()),
        Stream::Error => std::io::stderr().write_all(text.as_bytes()),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_about_threads_and_memory_are_told_from_others() {
        let error = std::io::Error::from_raw_os_error;
        // As `thread::spawn`, a library's `unwrap`, and the start of a thread say it.
        for (text, lacking) in [
            (format!("failed to spawn thread: {:?}", error(11)), Some(Lack::Threads)),
            (format!("`Result::unwrap()` on an `Err` value: {:?}", error(11)), Some(Lack::Threads)),
            (format!("failed to allocate an alternative stack: {}", error(12)), Some(Lack::Memory)),
            ("index out of bounds".to_string(), None),
            (format!("`Result::unwrap()` on an `Err` value: {:?}", error(2)), None),
        ] {
            assert_eq!(lack(&text), lacking, "{text}");
        }
    }

    #[test]
    fn a_parent_understands_the_last_message() {
        let LastWords { message, .. } = LastWords::new(no_memory());
        assert!(message.ends_with('\n') && message.lines().count() == 1, "{message}");
        let ChildMessage::Failed(heard) = serde_json::from_str(&message).unwrap() else {
            panic!("another message");
        };
        assert_eq!((heard.class, heard.message), (ErrorClass::System, no_memory().message));
        assert!(heard.hint.is_some_and(|hint| hint.contains("ulimit")));
    }
}
