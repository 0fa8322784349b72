//! The `symbolon` command.
fn main() {}
