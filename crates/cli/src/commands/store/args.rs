//! The command line of `store`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Arguments of `store`.
#[derive(Args, Debug)]
pub struct StoreCommandArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: StoreCommand,
}

/// What can be done with a store.
#[derive(Subcommand, Debug)]
pub enum StoreCommand {
    /// List pools and prepared circuits, what is left of them, and what is being written
    Ls {
        /// The store.
        #[command(flatten)]
        store: OpenArgs,
        /// Say also what the node with these settings can no longer use
        #[cfg(feature = "service")]
        #[arg(long, value_name = "FILE")]
        node: Option<PathBuf>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Read and check everything that is not used up; what is damaged becomes void
    Verify(OpenArgs),
    /// Remove what is used, void or half-written
    Gc {
        /// The store.
        #[command(flatten)]
        store: OpenArgs,
        /// Remove also what the node with these settings can no longer use, as `ls` lists it
        #[cfg(feature = "service")]
        #[arg(long, value_name = "FILE")]
        node: Option<PathBuf>,
    },
    /// Print what is public about an item as JSON; material itself never leaves the store
    Export {
        /// The store.
        #[command(flatten)]
        store: OpenArgs,
        /// The item, as `ls` names it
        item: String,
    },
    /// Encrypt an existing store, or change its key; no process may be using it
    Encrypt {
        /// The store, and what opens it now.
        #[command(flatten)]
        store: OpenArgs,
        /// The new key file (`store keygen` makes one)
        #[arg(long, value_name = "FILE", conflicts_with = "new_store_passphrase")]
        new_store_key: Option<PathBuf>,
        /// A file whose first line is the new passphrase
        #[arg(long, value_name = "FILE")]
        new_store_passphrase: Option<PathBuf>,
    },
    /// Make a store that was copied or moved here usable: everything in it becomes void
    ResetOwnership(OpenArgs),
    /// Make a key file that opens stores
    Keygen {
        /// Where to write it
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
}

/// A store that is there, and what opens it.
#[derive(Args, Debug)]
pub struct OpenArgs {
    /// The directory of the store
    pub directory: PathBuf,
    /// The key file that opens it
    #[arg(long, value_name = "FILE", conflicts_with = "store_passphrase")]
    pub store_key: Option<PathBuf>,
    /// A file whose first line is the passphrase that opens it
    #[arg(long, value_name = "FILE")]
    pub store_passphrase: Option<PathBuf>,
}
