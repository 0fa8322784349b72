//! The `symbolon` command.

use std::hint::black_box;
use std::process::ExitCode;

use symbolon_primitives::out_of_memory::Exiting;

/// Ends the process with a sentence when memory runs out.
#[global_allocator]
static ALLOCATOR: Exiting = Exiting;

fn main() -> ExitCode {
    symbolon_cli::end_well_without_memory();
    keep_freed_memory();
    symbolon_cli::main()
}

/// Makes the allocator keep freed blocks of up to 4 MB. Until glibc has freed a block of this size,
/// it returns such blocks to the system, and every new one faults in page by page.
fn keep_freed_memory() {
    drop(black_box(Vec::<u8>::with_capacity(4 << 20)));
}
