//! `symbolon keygen` and `symbolon fingerprint`.

use symbolon::Identity;

use crate::args::{FingerprintArgs, KeygenArgs};
use crate::error::{CliError, CliResult};
use crate::output::{print, tell};

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
