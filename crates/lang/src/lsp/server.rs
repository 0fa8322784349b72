//! The server's loop: messages in, answers and errors out.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::{Receiver, Sender, select};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    DidChangeConfiguration, DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument,
    Notification as _, PublishDiagnostics,
};
use lsp_types::request::{
    CodeActionRequest, CodeLensRefresh, CodeLensRequest, Completion, DocumentSymbolRequest,
    Formatting, GotoDefinition, HoverRequest, Request as _, Shutdown,
};
use lsp_types::{
    CodeActionParams, CodeLensParams, CompletionParams, DidChangeConfigurationParams,
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DocumentFormattingParams, DocumentSymbolParams, DocumentSymbolResponse, GotoDefinitionParams,
    GotoDefinitionResponse, HoverParams, Location, Position, PublishDiagnosticsParams, Range, Uri,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::document::{Analysis, Document};
use super::files::{self, Modules};
use super::text::{Encoding, Text};
use super::worker::{Counted, Job};
use super::{EXIT, LEFT, Settings};
use crate::source::Span;
use crate::{MAX_SOURCE, Options};

/// The request for the text of a module of the library.
const SOURCE: &str = "symbolon/source";

type Broken = Box<dyn Error + Send + Sync>;

/// The server and what is open.
pub struct Server<'c> {
    connection: &'c Connection,
    encoding: Encoding,
    settings: Settings,
    /// Whether the editor requests the gates again when it is told to.
    pub can_refresh: bool,
    documents: BTreeMap<String, (Uri, Document)>,
    jobs: Sender<Job>,
    /// The number of the last change of any document; older jobs are void.
    latest: Arc<AtomicU64>,
    requests: i32,
    /// Whether the editor has ended the session, and is to leave.
    is_over: bool,
}

/// The parameters of [`SOURCE`].
#[derive(serde::Deserialize)]
struct SourceParams {
    uri: Uri,
}

impl<'c> Server<'c> {
    /// Creates a server without documents.
    pub fn new(
        connection: &'c Connection,
        encoding: Encoding,
        settings: Settings,
        jobs: Sender<Job>,
        latest: Arc<AtomicU64>,
    ) -> Self {
        let documents = BTreeMap::new();
        Server {
            connection,
            encoding,
            settings,
            can_refresh: false,
            documents,
            jobs,
            latest,
            requests: 0,
            is_over: false,
        }
    }

    /// Answers until the editor ends the session.
    ///
    /// # Errors
    /// When the editor breaks the protocol or is gone.
    pub fn run(&mut self, counted: &Receiver<Counted>) -> Result<(), Broken> {
        loop {
            // One document at a time, so that typing never waits for the others.
            if self.connection.receiver.is_empty() && self.check_one()? {
                continue;
            }
            select! {
                recv(self.connection.receiver) -> message => match message {
                    Ok(Message::Request(request)) => {
                        let response = self.answer(request);
                        self.send(response)?;
                    }
                    Ok(Message::Notification(notification)) if notification.method == EXIT => {
                        return self.left();
                    }
                    Ok(Message::Notification(notification)) => self.notice(notification),
                    Ok(Message::Response(_)) => {}
                    Err(_) => return self.left(),
                },
                recv(counted) -> counted => self.take_counts(counted?)?,
            }
        }
    }

    /// Ends the session, which the editor must have asked for.
    fn left(&self) -> Result<(), Broken> {
        if self.is_over { Ok(()) } else { Err(LEFT.into()) }
    }

    fn send(&self, message: impl Into<Message>) -> Result<(), Broken> {
        Ok(self.connection.sender.send(message.into())?)
    }

    fn notice(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        // A notification that cannot be read is ignored: it has no answer.
        match method.as_str() {
            DidOpenTextDocument::METHOD => {
                let Some(params) = read::<DidOpenTextDocumentParams>(params) else { return };
                let item = params.text_document;
                self.open(item.uri, item.version, item.text);
            }
            DidChangeTextDocument::METHOD => {
                let Some(params) = read::<DidChangeTextDocumentParams>(params) else { return };
                self.change(params);
            }
            DidCloseTextDocument::METHOD => {
                let Some(params) = read::<DidCloseTextDocumentParams>(params) else { return };
                let uri = params.text_document.uri;
                if let Some((uri, document)) = self.documents.remove(uri.as_str()) {
                    self.outdate(&document.path);
                    let _ = self.publish(uri, None, Vec::new());
                }
            }
            DidChangeConfiguration::METHOD => {
                let Some(params) = read::<DidChangeConfigurationParams>(params) else { return };
                let given = params.settings.get("symbolon").cloned().unwrap_or(params.settings);
                if let Some(mut settings) = read::<Settings>(given) {
                    settings.library_sources = self.settings.library_sources;
                    self.settings = settings;
                    let change = self.next_change();
                    for (_, document) in self.documents.values_mut() {
                        document.is_stale = true;
                        document.change = change;
                    }
                }
            }
            _ => {}
        }
    }

    fn next_change(&self) -> u64 {
        self.latest.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn open(&mut self, uri: Uri, version: i32, mut text: String) {
        limit(&mut text);
        let path = files::path_of(&uri).unwrap_or_else(|| PathBuf::from("untitled.sym"));
        self.outdate(&path);
        let document = Document {
            path,
            version,
            text: Text::new(text),
            change: self.next_change(),
            is_stale: true,
            analysis: Analysis::default(),
            counts: Vec::new(),
            late_errors: Default::default(),
        };
        self.documents.insert(uri.as_str().to_string(), (uri, document));
    }

    fn change(&mut self, params: DidChangeTextDocumentParams) {
        let change = self.next_change();
        let key = params.text_document.uri.as_str();
        let Some((_, document)) = self.documents.get_mut(key) else { return };
        let mut text = std::mem::take(&mut document.text);
        for event in params.content_changes {
            text = text.changed(event, self.encoding);
        }
        limit(&mut text.text);
        document.text = if text.text.is_empty() { Text::default() } else { text };
        document.version = params.text_document.version;
        document.change = change;
        document.is_stale = true;
        let path = document.path.clone();
        self.outdate(&path);
    }

    /// Marks the documents that use this file, to be checked again.
    fn outdate(&mut self, path: &Path) {
        let change = self.latest.load(Ordering::Relaxed);
        for (_, document) in self.documents.values_mut() {
            if document.uses(path) {
                document.is_stale = true;
                document.change = change;
            }
        }
    }

    fn modules(&self, path: &Path) -> Modules {
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        let open = self
            .documents
            .values()
            .map(|(_, document)| (document.path.clone(), Arc::from(document.text.text.as_str())));
        Modules { folder, open: open.collect() }
    }

    fn options(&self) -> Options {
        let constants = self.settings.constants.clone().into_iter().collect();
        Options { constants, parties: self.settings.parties, ..Options::default() }
    }

    /// Checks a document that has changed; false if none has.
    fn check_one(&mut self) -> Result<bool, Broken> {
        let stale = self.documents.iter().find(|(_, (_, document))| document.is_stale);
        let Some(key) = stale.map(|(key, _)| key.clone()) else { return Ok(false) };
        self.check(&key)?;
        Ok(true)
    }

    /// Checks a document, tells the editor, and asks for its gates.
    fn check(&mut self, key: &str) -> Result<(), Broken> {
        let Some((_, document)) = self.documents.get(key) else { return Ok(()) };
        let modules = self.modules(&document.path);
        let options = self.options();
        let Some((uri, document)) = self.documents.get_mut(key) else { return Ok(()) };
        document.check(&modules, &options);
        let diagnostics = document.diagnostics(self.encoding);
        let job = Job {
            uri: uri.clone(),
            change: document.change,
            name: document.path.display().to_string(),
            text: document.text.text.as_str().into(),
            modules,
            options,
        };
        let (uri, version) = (uri.clone(), document.version);
        self.jobs.send(job)?;
        self.publish(uri, Some(version), diagnostics)
    }

    fn publish(
        &self,
        uri: Uri,
        version: Option<i32>,
        diagnostics: Vec<lsp_types::Diagnostic>,
    ) -> Result<(), Broken> {
        let params = PublishDiagnosticsParams { uri, diagnostics, version };
        self.send(Notification::new(PublishDiagnostics::METHOD.into(), params))
    }

    fn take_counts(&mut self, counted: Counted) -> Result<(), Broken> {
        let key = counted.uri.as_str().to_string();
        let Some((uri, document)) = self.documents.get_mut(&key) else { return Ok(()) };
        if document.change != counted.change || document.is_stale {
            return Ok(());
        }
        let has_errors = !counted.errors.is_empty();
        document.counted(counted);
        if has_errors {
            let (uri, version) = (uri.clone(), document.version);
            let diagnostics = document.diagnostics(self.encoding);
            self.publish(uri, Some(version), diagnostics)?;
        }
        if self.can_refresh {
            self.requests += 1;
            let id = RequestId::from(self.requests);
            self.send(Request::new(id, CodeLensRefresh::METHOD.into(), Value::Null))?;
        }
        Ok(())
    }

    fn answer(&mut self, request: Request) -> Response {
        let Request { id, method, params } = request;
        match self.result(&method, params) {
            Ok(result) => Response::new_ok(id, result),
            Err((code, message)) => Response::new_err(id, code as i32, message),
        }
    }

    fn result(&mut self, method: &str, params: Value) -> Result<Value, (ErrorCode, String)> {
        let encoding = self.encoding;
        if self.is_over {
            return Err((ErrorCode::InvalidRequest, "the session is over".into()));
        }
        match method {
            Shutdown::METHOD => {
                self.is_over = true;
                Ok(Value::Null)
            }
            HoverRequest::METHOD => {
                let params: HoverParams = parameters(params)?;
                let at = params.text_document_position_params;
                let document = self.fresh(&at.text_document.uri)?;
                value(document.hover(at.position, encoding))
            }
            GotoDefinition::METHOD => {
                let params: GotoDefinitionParams = parameters(params)?;
                let at = params.text_document_position_params;
                value(self.definition(&at.text_document.uri, at.position)?)
            }
            DocumentSymbolRequest::METHOD => {
                let params: DocumentSymbolParams = parameters(params)?;
                let symbols = self.fresh(&params.text_document.uri)?.symbols(encoding);
                value(DocumentSymbolResponse::Nested(symbols))
            }
            Formatting::METHOD => {
                let params: DocumentFormattingParams = parameters(params)?;
                value(self.fresh(&params.text_document.uri)?.format(encoding))
            }
            CodeLensRequest::METHOD => {
                let params: CodeLensParams = parameters(params)?;
                value(self.fresh(&params.text_document.uri)?.lenses(encoding))
            }
            CodeActionRequest::METHOD => {
                let params: CodeActionParams = parameters(params)?;
                let uri = params.text_document.uri;
                value(self.fresh(&uri)?.fixes(&uri, params.range, encoding))
            }
            Completion::METHOD => {
                let params: CompletionParams = parameters(params)?;
                let at = params.text_document_position;
                value(self.fresh(&at.text_document.uri)?.completions(at.position, encoding))
            }
            SOURCE => {
                let params: SourceParams = parameters(params)?;
                value(files::library_text(&params.uri))
            }
            _ => Err((ErrorCode::MethodNotFound, format!("there is no method {method}"))),
        }
    }

    /// Checks an open document in its present state and returns it.
    fn fresh(&mut self, uri: &Uri) -> Result<&Document, (ErrorCode, String)> {
        let gone = || (ErrorCode::InvalidParams, "this document is not open".to_string());
        let (_, document) = self.documents.get(uri.as_str()).ok_or_else(gone)?;
        if document.is_stale {
            let key = uri.as_str().to_string();
            self.check(&key).map_err(|error| (ErrorCode::InternalError, error.to_string()))?;
        }
        self.documents.get(uri.as_str()).map(|(_, document)| document).ok_or_else(gone)
    }

    fn definition(
        &mut self,
        uri: &Uri,
        position: Position,
    ) -> Result<Option<GotoDefinitionResponse>, (ErrorCode, String)> {
        let encoding = self.encoding;
        let library = self.settings.library_sources;
        let document = self.fresh(uri)?;
        let Some(span) = document.definition(position, encoding) else { return Ok(None) };
        let location = if span.file == 0 {
            Some(Location::new(uri.clone(), document.text.range(span, encoding)))
        } else {
            elsewhere(document, span, encoding, library)
        };
        Ok(location.map(GotoDefinitionResponse::Scalar))
    }
}

/// Drops a text that is much too long: the check refuses texts half as long.
fn limit(text: &mut String) {
    if text.len() > 2 * MAX_SOURCE {
        *text = String::new();
    }
}

/// Returns a place in a module, if the editor can show it.
fn elsewhere(
    document: &Document,
    span: Span,
    encoding: Encoding,
    library: bool,
) -> Option<Location> {
    let source = document.analysis.sources.files.get(span.file as usize)?;
    let is_library = files::library_uri(&source.name)
        .is_some_and(|uri| files::library_text(&uri).is_some_and(|text| text == &*source.text));
    let uri = match is_library {
        true if library => files::library_uri(&source.name)?,
        true => return None,
        false => files::uri_of(Path::new(&source.name))?,
    };
    let range: Range = Text::new(source.text.to_string()).range(span, encoding);
    Some(Location::new(uri, range))
}

fn read<T: DeserializeOwned>(params: Value) -> Option<T> {
    serde_json::from_value(params).ok()
}

fn parameters<T: DeserializeOwned>(params: Value) -> Result<T, (ErrorCode, String)> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

fn value(result: impl serde::Serialize) -> Result<Value, (ErrorCode, String)> {
    serde_json::to_value(result).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}
