//! The language server: what an editor asks while a program is typed.
//!
//! A change is checked before the next message is answered, which takes milliseconds. Work that
//! takes longer (the gates of each function, and errors that only show when gates are written) is
//! done on a thread of its own and given up when the next change comes.

mod answers;
mod document;
mod files;
mod server;
mod text;
mod worker;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use lsp_server::Connection;
use lsp_types::{
    CodeActionProviderCapability, CodeLensOptions, CompletionOptions, HoverProviderCapability,
    InitializeParams, InitializeResult, OneOf, PositionEncodingKind, ServerCapabilities,
    ServerInfo, TextDocumentSyncCapability, TextDocumentSyncKind,
};

use crate::compile::{STACK, with_stack};
use server::Server;
use text::Encoding;

/// What the editor sets: in `initializationOptions`, and under `symbolon` in changed settings.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Settings {
    /// Values of `pub const`s.
    constants: BTreeMap<String, String>,
    /// How many parties there are.
    parties: Option<u16>,
    /// Whether the editor can show URIs of the scheme `symbolon-std`, which it reads with the
    /// request `symbolon/source`.
    library_sources: bool,
}

/// Serves one editor over standard input and output until it ends the session.
///
/// # Errors
/// A sentence, when the editor breaks the protocol or leaves without notice.
pub fn serve() -> Result<(), String> {
    let (connection, threads) = Connection::stdio();
    let done = serve_on(&connection);
    // The thread that writes ends when nobody can send any more.
    drop(connection);
    done?;
    threads.join().map_err(|error| format!("the connection to the editor broke: {error}"))
}

/// Does the same as [`serve`], over any connection.
///
/// # Errors
/// Those of [`serve`].
pub fn serve_on(connection: &Connection) -> Result<(), String> {
    let broken = |error: &dyn std::fmt::Display| format!("the editor broke the protocol: {error}");
    let (id, params) = connection.initialize_start().map_err(|error| broken(&error))?;
    let params: InitializeParams =
        serde_json::from_value(params).map_err(|error| broken(&error))?;
    let encoding = encoding(&params);
    let result = InitializeResult {
        capabilities: capabilities(encoding),
        server_info: Some(ServerInfo {
            name: "symbolon".into(),
            version: Some(env!("CARGO_PKG_VERSION").into()),
        }),
    };
    let result = serde_json::to_value(result).map_err(|error| error.to_string())?;
    connection.initialize_finish(id, result).map_err(|error| broken(&error))?;
    let settings = params.initialization_options.as_ref();
    let settings =
        settings.and_then(|given| serde::Deserialize::deserialize(given).ok()).unwrap_or_default();
    let refresh = params.capabilities.workspace.and_then(|w| w.code_lens);
    let can_refresh = refresh.and_then(|lens| lens.refresh_support).unwrap_or(false);

    let (jobs, waiting) = crossbeam_channel::unbounded();
    let (done, counted) = crossbeam_channel::unbounded();
    let latest = Arc::new(AtomicU64::new(0));
    let worker = std::thread::Builder::new().name("gate counts".into()).stack_size(STACK);
    let change = latest.clone();
    // Nobody waits for it: it ends with its present job, or with the process.
    worker
        .spawn(move || worker::work(&waiting, &done, &change))
        .map_err(|error| format!("the system gives no thread: {error}"))?;
    with_stack(|| {
        let mut server = Server::new(connection, encoding, settings, jobs, latest);
        server.can_refresh = can_refresh;
        server.run(&counted).map_err(|error| broken(&error))
    })
}

fn encoding(params: &InitializeParams) -> Encoding {
    let general = params.capabilities.general.as_ref();
    let offered = general.and_then(|general| general.position_encodings.as_ref());
    match offered {
        Some(all) if all.contains(&PositionEncodingKind::UTF8) => Encoding::Utf8,
        _ => Encoding::Utf16,
    }
}

fn capabilities(encoding: Encoding) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(match encoding {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
        }),
        text_document_sync: Some(TextDocumentSyncCapability::Kind(
            TextDocumentSyncKind::INCREMENTAL,
        )),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        code_action_provider: Some(CodeActionProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec![":".into()]),
            ..CompletionOptions::default()
        }),
        ..ServerCapabilities::default()
    }
}
