//! The end of a command whose memory runs out: a sentence and an exit code.
//!
//! When an allocation fails, the standard library writes a line of its own and aborts, and with
//! `RUST_BACKTRACE=1` it first collects a backtrace: that allocates, fails again, and waits for a
//! lock that it holds itself. A program cannot replace this with stable Rust. So a command makes
//! [`Exiting`] its allocator, which ends the process before the standard library learns of the
//! failure. A request that could be refused with an error (`try_reserve`) ends the process as well.
//!
//! The library for users does none of this: it leaves the allocator to the program.
//!
//! Unsafe: an allocator | each call goes to the system's allocator as it came
//!
//! Unsafe: a write below the stack pointer | the pointer is moved there and back
//!
//! Unsafe: calls to the C library | a handler that allocates nothing, and memory that nobody uses

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How the process ends.
#[derive(Clone, Copy)]
struct Ending {
    last_words: fn(),
    exit_code: u8,
}

static ENDING: OnceLock<Ending> = OnceLock::new();

/// How long a second thread without memory lets the first one write.
const PATIENCE: Duration = Duration::from_secs(2);

/// The system's allocator; when it has no more, the process ends as [`set_ending`] said.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exiting;

// SAFETY: every call is passed on to the system's allocator with the arguments that it came with,
// and its result is returned if there is one.
unsafe impl GlobalAlloc for Exiting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        some(unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        some(unsafe { System.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller's.
        some(unsafe { System.realloc(old, layout, new_size) })
    }

    #[inline]
    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller's.
        unsafe { System.dealloc(old, layout) }
    }
}

#[inline]
fn some(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        end();
    }
    memory
}

/// Says how the process ends when memory has run out: `last_words` is called once, and must not
/// allocate; then the process exits with this code, without destructors. Only the first call
/// counts.
pub fn set_ending(last_words: fn(), exit_code: u8) {
    let _ = ENDING.set(Ending { last_words, exit_code });
}

/// Ends the process as [`set_ending`] said; allocates nothing.
#[cold]
#[inline(never)]
fn end() -> ! {
    match ENDING.get() {
        Some(&Ending { last_words, exit_code }) => end_with(last_words, exit_code),
        None => std::process::abort(),
    }
}

/// Ends the process with these last words and this code, as if memory had run out.
pub fn end_with(last_words: fn(), exit_code: u8) -> ! {
    static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
    if HAS_BEGUN.swap(true, Ordering::SeqCst) {
        // Another thread writes; or this one, and its last words failed.
        std::thread::sleep(PATIENCE);
    } else {
        last_words();
    }
    exit_now(exit_code.into())
}

/// Exits without what runs at exit, which could allocate, or wait for a lock.
#[cfg(unix)]
fn exit_now(code: i32) -> ! {
    // SAFETY: it takes any number and does not return.
    unsafe { libc::_exit(code) }
}

#[cfg(not(unix))]
fn exit_now(code: i32) -> ! {
    std::process::exit(code)
}

/// Ends the process as [`set_ending`] said also when the C library aborts because memory has run
/// out, as it does when a thread's destructors cannot be registered.
#[cfg(unix)]
pub fn catch_aborts() {
    extern "C" fn aborted(_: libc::c_int) {
        if !has(1 << 20) {
            end();
        }
        // Otherwise the process dies of the signal when this returns.
    }
    let handler = aborted as extern "C" fn(libc::c_int);
    // SAFETY: zero is a valid `sigaction`, the set of signals is initialised before it is used, and
    // the handler calls only functions that a handler may call.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(libc::SIGABRT, &action, std::ptr::null_mut());
    }
}

/// Does nothing: such systems are not limited in this way.
#[cfg(not(unix))]
pub fn catch_aborts() {}

/// Returns whether the system gives this process this many more bytes of memory.
#[cfg(unix)]
fn has(bytes: usize) -> bool {
    let (protection, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new map, of which nobody uses a byte, and which is removed again.
    unsafe {
        let map = libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0);
        map != libc::MAP_FAILED && libc::munmap(map, bytes) == 0
    }
}

/// Grows the stack of the main thread to this many bytes, or ends the process as [`set_ending`]
/// said. The system would kill a process whose stack it cannot grow later.
#[cfg(unix)]
pub fn grow_stack(bytes: usize) {
    // SAFETY: zero is a valid `rlimit`, and the call writes to nothing else.
    let limit = unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        (libc::getrlimit(libc::RLIMIT_STACK, &mut limit) == 0).then_some(limit.rlim_cur)
    };
    // The command line and the environment may take a quarter of it.
    if limit.is_some_and(|limit| limit < 2 * bytes as u64) || !has(2 * bytes) {
        end();
    }
    reach_down(bytes);
}

/// Writes to the byte this far below the caller's frame, and so has the system grow the stack to
/// it. The pages between are touched when they are used: to touch all of them takes a millisecond.
#[cfg(all(unix, target_arch = "x86_64"))]
fn reach_down(bytes: usize) {
    // SAFETY: the stack pointer is restored, and what is below it belongs to nobody.
    unsafe {
        std::arch::asm!("sub rsp, {0}", "mov byte ptr [rsp], 0", "add rsp, {0}", in(reg) bytes);
    }
}

/// As above.
#[cfg(all(unix, target_arch = "aarch64"))]
fn reach_down(bytes: usize) {
    // SAFETY: the stack pointer is restored, and what is below it belongs to nobody.
    unsafe {
        std::arch::asm!("sub sp, sp, {0}", "strb wzr, [sp]", "add sp, sp, {0}", in(reg) bytes);
    }
}

/// As above, but each page is touched.
#[cfg(all(unix, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn reach_down(bytes: usize) {
    crate::stack::touch(bytes);
}

/// Does nothing: such systems grow stacks in other ways.
#[cfg(not(unix))]
pub fn grow_stack(_bytes: usize) {}
