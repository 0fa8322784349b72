//! `symbolon keygen` and `symbolon fingerprint`.

use symbolon::Identity;

use crate::common::error::{CliError, CliResult};
use crate::common::output::{print, tell};
use clap::Args;
use std::path::PathBuf;

/// Arguments of `keygen`.
#[derive(Args, Debug)]
pub struct KeygenArgs {
    /// Where to put the identity; readable by you alone
    #[arg(long, value_name = "FILE", default_value = "symbolon.key")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `fingerprint`.
#[derive(Args, Debug)]
pub struct FingerprintArgs {
    /// An identity file made by `symbolon keygen`
    pub file: PathBuf,
}

/// Makes an identity and prints its fingerprint.
///
/// # Errors
/// A usage failure when the file exists or cannot be written.
pub fn keygen(args: &KeygenArgs) -> CliResult<()> {
    if args.out.exists() && !args.force {
        return Err(CliError::usage(format!("{} exists", args.out.display()))
            .with_hint("--force replaces it; peers then need the new fingerprint"));
    }
    let identity = Identity::generate()?;
    identity.save(&args.out, args.force)?;
    tell(&format!(
        "wrote {}: keep it to yourself. Tell the peer this fingerprint over a channel that you both \
         trust:\n",
        args.out.display()
    ));
    print(&format!("{}\n", identity.fingerprint()))
}

/// Prints the fingerprint of an identity file.
///
/// # Errors
/// A usage failure when it is not one.
pub fn fingerprint(args: &FingerprintArgs) -> CliResult<()> {
    let identity = Identity::load(&args.file)?;
    print(&format!("{}\n", identity.fingerprint()))
}
