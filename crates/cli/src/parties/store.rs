//! How a store of material is opened.

use std::path::Path;

use symbolon::store::{Protection, Store, StoreError};

use crate::args::StoreArgs;
use crate::common::error::{CliError, CliResult};

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        symbolon::Error::from(error).into()
    }
}

/// Opens the store that was named, or makes it.
///
/// # Errors
/// A usage failure when none was named, or it cannot be opened.
pub fn open_or_create(args: &StoreArgs) -> CliResult<Store> {
    let directory = args.store.as_ref().ok_or_else(|| {
        CliError::usage("which store? Say --store DIR")
            .with_hint("each party keeps what it made ahead of time in a directory of its own")
    })?;
    let protection = protection(args.store_key.as_deref(), args.store_passphrase.as_deref())?;
    Ok(Store::open_or_create(directory, &protection)?)
}

/// Returns what opens a store.
///
/// # Errors
/// A usage failure when there are two; one when the passphrase cannot be read.
pub fn protection(key: Option<&Path>, passphrase: Option<&Path>) -> CliResult<Protection> {
    match (key, passphrase) {
        (Some(_), Some(_)) => Err(CliError::usage(
            "a store is opened by a key file or by a passphrase: say --store-key or --store-passphrase",
        )),
        (Some(file), None) => Ok(Protection::KeyFile(file.to_path_buf())),
        (None, Some(file)) => Ok(Protection::passphrase_file(file)?),
        (None, None) => Ok(Protection::None),
    }
}
