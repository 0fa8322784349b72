//! The `symbolon` command.

use std::hint::black_box;
use std::process::ExitCode;

fn main() -> ExitCode {
    keep_freed_memory();
    symbolon_cli::main()
}

/// Has the allocator keep blocks of up to 4 MB for the next ones that are asked for. glibc gives them back to the system, and
/// the next one is touched for the first time, page by page, until it has seen one as large come and go.
fn keep_freed_memory() {
    drop(black_box(Vec::<u8>::with_capacity(4 << 20)));
}
