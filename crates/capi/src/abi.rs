//! The number of the interface. The build script reads this file, too.

/// The number of this interface. It is raised when a program that was compiled with an earlier
/// header can no longer run with the library.
pub const SYMBOLON_ABI_VERSION: u32 = 1;
