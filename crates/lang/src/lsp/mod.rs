//! The language server: what an editor asks while a program is typed.
//!
//! A change is checked before the next message is answered, which takes milliseconds. Work that
//! takes longer (the gates of each function, and errors that only show when gates are written) is
//! done on a thread of its own and given up when the next change comes.

mod answers;
mod document;
mod files;
mod fixes;
mod pipe;
mod server;
mod text;
mod worker;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crossbeam_channel::Sender;
use lsp_server::{Connection, ErrorCode, Message, Request, RequestId, Response};
use lsp_types::notification::{Exit, Notification as _};
use lsp_types::request::{Initialize, Request as _};
use lsp_types::{
    CodeActionProviderCapability, CodeLensOptions, CompletionOptions, HoverProviderCapability,
    InitializeParams, InitializeResult, OneOf, PositionEncodingKind, ServerCapabilities,
    ServerInfo, TextDocumentSyncCapability, TextDocumentSyncKind,
};
use symbolon_common::NoThread;

use crate::compile::{STACK, with_stack};
use pipe::{Incoming, Reader};
use server::Server;
use text::Encoding;

/// The notification after which nothing is read.
const EXIT: &str = Exit::METHOD;

/// What the error says about an editor that ends without asking to.
const LEFT: &str = "it left before it ended the session";

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

/// Why a session with an editor ended early.
#[derive(Debug)]
pub enum ServeError {
    /// The editor broke the protocol or left without notice: a sentence.
    Editor(String),
    /// The system gave no thread.
    NoThread(NoThread),
}

impl From<String> for ServeError {
    fn from(text: String) -> Self {
        ServeError::Editor(text)
    }
}

impl From<NoThread> for ServeError {
    fn from(error: NoThread) -> Self {
        ServeError::NoThread(error)
    }
}

/// Serves one editor over standard input and output until it ends the session.
///
/// # Errors
/// When the editor leaves without notice, and when the system gives no thread.
pub fn serve() -> Result<(), ServeError> {
    serve_over(std::io::BufReader::new(std::io::stdin()), std::io::stdout())
}

/// Does the same as [`serve`], over any pipes. What is no message is skipped, and answered with an
/// error.
///
/// # Errors
/// Those of [`serve`].
pub fn serve_over(
    from: impl BufRead + Send + 'static,
    to: impl Write + Send + 'static,
) -> Result<(), ServeError> {
    let (sender, sent) = crossbeam_channel::bounded(0);
    let (received, receiver) = crossbeam_channel::bounded(0);
    let to = Arc::new(Mutex::new(to));
    let reader = {
        let to = to.clone();
        start("editor's messages", move || take_messages(Reader::new(from), &received, &to))?
    };
    let writer = start("answers", move || {
        sent.iter().try_for_each(|message: Message| {
            message.write(&mut *to.lock().unwrap_or_else(PoisonError::into_inner))
        })
    })?;
    let connection = Connection { sender, receiver };
    let done = serve_on(&connection);
    // The thread that writes ends when nobody can send any more.
    drop(connection);
    done?;
    for thread in [reader, writer] {
        match thread.join() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => Err(format!("the connection to the editor broke: {error}"))?,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    Ok(())
}

type Pipe = JoinHandle<io::Result<()>>;

fn start(
    name: &str,
    work: impl FnOnce() -> io::Result<()> + Send + 'static,
) -> Result<Pipe, NoThread> {
    std::thread::Builder::new().name(name.into()).spawn(work).map_err(NoThread)
}

/// Passes messages on until the one that ends the session, and refuses what is none.
fn take_messages(
    mut reader: Reader<impl BufRead>,
    messages: &Sender<Message>,
    to: &Mutex<impl Write>,
) -> io::Result<()> {
    while let Some(incoming) = reader.next()? {
        match incoming {
            Incoming::Message(message) => {
                let is_last = matches!(&message, Message::Notification(n) if n.method == EXIT);
                if messages.send(message).is_err() || is_last {
                    break;
                }
            }
            Incoming::Refused(Some(answer)) => {
                let text = answer.to_string();
                let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
                write!(to, "Content-Length: {}\r\n\r\n{text}", text.len())?;
                to.flush()?;
            }
            Incoming::Refused(None) => {}
        }
    }
    Ok(())
}

/// Does the same as [`serve`], over any connection.
///
/// # Errors
/// Those of [`serve`].
pub fn serve_on(connection: &Connection) -> Result<(), ServeError> {
    let broken = |error: &dyn std::fmt::Display| format!("the editor broke the protocol: {error}");
    let (id, params) = first_request(connection).map_err(|error| broken(&error))?;
    let encoding = encoding(&params);
    let result = InitializeResult {
        capabilities: capabilities(encoding),
        server_info: Some(ServerInfo {
            name: "symbolon".into(),
            version: Some(env!("CARGO_PKG_VERSION").into()),
        }),
    };
    let response = Response::new_ok(id, result);
    connection.sender.send(response.into()).map_err(|error| broken(&error))?;
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
    worker.spawn(move || worker::work(&waiting, &done, &change)).map_err(NoThread)?;
    with_stack(|| {
        let mut server = Server::new(connection, encoding, settings, jobs, latest);
        server.can_refresh = can_refresh;
        server.run(&counted).map_err(|error| broken(&error))
    })??;
    Ok(())
}

/// Waits for the request that begins the session, and refuses others.
fn first_request(connection: &Connection) -> Result<(RequestId, InitializeParams), String> {
    loop {
        let message = connection.receiver.recv().map_err(|_| LEFT)?;
        let (id, code, why) = match message {
            Message::Request(Request { id, method, params }) if method == Initialize::METHOD => {
                match serde_json::from_value(params) {
                    Ok(params) => return Ok((id, params)),
                    Err(error) => (id, ErrorCode::InvalidParams, error.to_string()),
                }
            }
            Message::Request(Request { id, .. }) => {
                (id, ErrorCode::ServerNotInitialized, "the first request is `initialize`".into())
            }
            Message::Notification(notification) if notification.method == EXIT => {
                return Err(LEFT.into());
            }
            Message::Notification(_) | Message::Response(_) => continue,
        };
        let refusal = Response::new_err(id, code as i32, why);
        connection.sender.send(refusal.into()).map_err(|_| LEFT)?;
    }
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
