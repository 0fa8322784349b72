//! What a client asks the nodes of all parties.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::Uri;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde::Deserialize;
use serde_json::Value;
use symbolon::ErrorClass;
use symbolon::escape::one_line;
use symbolon_clients::{ClientError, Layout, Opened, Receipt, Submission};
use symbolon_transport::Classified;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use zeroize::Zeroizing;

use super::reply::{ClientAnswer, RoundState};
use super::submission::Posted;
use crate::client::{Asked, Reply, exchange};
use crate::door::ErrorReply;
use crate::name::Name;

/// How long a reply may take beside the time that its request waits.
const TIME: Duration = Duration::from_secs(30);

/// The maximum size of a reply, in bytes.
const MAX_REPLY: usize = 1 << 20;

/// The pause before a node that was not there is asked again.
const PAUSE: Duration = Duration::from_secs(1);

/// How often a node that is not there is asked.
const TRIES: u32 = 5;

/// The longest time that one request waits.
const ONE_WAIT: Duration = Duration::from_secs(30);

/// The doors for clients of all parties' nodes, by number.
pub struct ClientNodes {
    nodes: Vec<Address>,
    tls: TlsConnector,
}

#[derive(Clone)]
struct Address {
    text: String,
    host: String,
    port: u16,
    /// What comes before `/v1`.
    prefix: String,
    tls: bool,
}

/// Why a client cannot give its values, or has no answer. It never holds a value.
#[derive(Debug)]
pub struct ClientFailure {
    /// Whose turn it is to act.
    pub class: ErrorClass,
    /// What went wrong, a stable name.
    pub code: String,
    message: String,
}

impl fmt::Display for ClientFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ClientFailure {}

impl ClientFailure {
    fn new(class: ErrorClass, code: &str, message: String) -> ClientFailure {
        ClientFailure { class, code: code.to_string(), message }
    }

    fn usage(message: String) -> ClientFailure {
        ClientFailure::new(ErrorClass::Usage, "usage", message)
    }
}

impl From<ClientError> for ClientFailure {
    fn from(error: ClientError) -> ClientFailure {
        ClientFailure::new(error.class(), error.code(), error.to_string())
    }
}

type Outcome<T> = Result<T, ClientFailure>;

/// What a node says about a function.
#[derive(Deserialize)]
struct About {
    party: u16,
    layout: Value,
}

/// A request to all nodes.
#[derive(Clone, Default)]
struct Request {
    path: String,
    token: Option<Zeroizing<String>>,
    body: Option<Zeroizing<Vec<u8>>>,
    wait: Duration,
}

impl Address {
    fn parse(text: &str) -> Outcome<Address> {
        let wrong = |why: &str| ClientFailure::usage(format!("the node {}: {why}", one_line(text)));
        let uri: Uri = text.parse().map_err(|_| wrong("it takes https://HOST:PORT"))?;
        let tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(wrong("it takes https://HOST:PORT")),
        };
        let host = uri.host().ok_or_else(|| wrong("it has no host"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_string();
        let local = host == "localhost"
            || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        if !tls && !local {
            return Err(wrong("without https, everybody on the way could read the share"));
        }
        let port = uri.port_u16().unwrap_or(if tls { 443 } else { 80 });
        let prefix = uri.path().trim_end_matches('/').to_string();
        Ok(Address { text: one_line(text).to_string(), host, port, prefix, tls })
    }

    fn failed(&self, why: &dyn fmt::Display) -> ClientFailure {
        let message = format!("the node {}: {why}", self.text);
        ClientFailure::new(ErrorClass::Peer, "node", message)
    }

    async fn send(&self, tls: &TlsConnector, request: &Request) -> Outcome<Reply> {
        let sent = async {
            let connection = TcpStream::connect((self.host.as_str(), self.port)).await;
            let connection = connection.map_err(|error| error.to_string())?;
            let path = format!("{}{}", self.prefix, request.path);
            let asked = Asked {
                host: &self.host,
                path: &path,
                token: request.token.as_ref().map(|token| token.as_str()),
                body: request.body.clone(),
                limit: MAX_REPLY,
            };
            if !self.tls {
                return exchange(connection, asked).await;
            }
            let name =
                ServerName::try_from(self.host.clone()).map_err(|error| error.to_string())?;
            let connection = tls.connect(name, connection).await;
            exchange(connection.map_err(|error| error.to_string())?, asked).await
        };
        match tokio::time::timeout(TIME + request.wait, sent).await {
            Ok(reply) => reply.map_err(|why| self.failed(&why)),
            Err(_) => Err(self.failed(&"it does not reply in time")),
        }
    }

    /// Asks again where the node is not there. Doing so is safe: the same submission counts once.
    async fn ask(&self, tls: &TlsConnector, request: &Request) -> Outcome<Reply> {
        let mut tries = 1;
        loop {
            let reply = self.send(tls, request).await;
            let again = match &reply {
                Ok(reply) => reply.status == 429 || reply.status >= 502,
                Err(_) => true,
            };
            if !again || tries >= TRIES {
                return reply.and_then(|reply| self.accepted(reply));
            }
            tries += 1;
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Returns the body of a reply, or what the node refuses.
    fn accepted(&self, reply: Reply) -> Outcome<Reply> {
        if reply.status == 200 {
            return Ok(reply);
        }
        match serde_json::from_slice::<ErrorReply>(&reply.body) {
            Ok(error) => {
                let message = format!("the node {}: {}", self.text, one_line(&error.message));
                Err(ClientFailure::new(ErrorClass::Peer, &one_line(&error.code), message))
            }
            Err(_) => Err(self.failed(&format!("it replies with status {}", reply.status))),
        }
    }
}

impl ClientNodes {
    /// Takes the addresses of all parties' doors for clients, by number, and a file with the
    /// certificates of authorities to trust; without it those that the system trusts.
    ///
    /// # Errors
    /// An address that is none, or goes to another machine without HTTPS; certificates that cannot
    /// be read.
    pub fn new(urls: &[String], authorities: Option<&Path>) -> Outcome<ClientNodes> {
        let nodes = urls.iter().map(|url| Address::parse(url)).collect::<Outcome<Vec<_>>>()?;
        let mut roots = RootCertStore::empty();
        if let Some(path) = authorities {
            let wrong = |why: &dyn fmt::Display| {
                ClientFailure::usage(format!("the certificates {}: {why}", path.display()))
            };
            for one in CertificateDer::pem_file_iter(path).map_err(|error| wrong(&error))? {
                let one = one.map_err(|error| wrong(&error))?;
                roots.add(one).map_err(|error| wrong(&error))?;
            }
        } else if nodes.iter().any(|node| node.tls) {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|error| ClientFailure::usage(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(ClientNodes { nodes, tls: TlsConnector::from(Arc::new(config)) })
    }

    /// Asks all nodes at the same time.
    fn ask_all(&self, requests: Vec<Request>) -> Outcome<Vec<Outcome<Reply>>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime
            .map_err(|error| ClientFailure::new(ErrorClass::System, "system", error.to_string()))?;
        runtime.block_on(async {
            let ask = |(node, request): (&Address, Request)| {
                let (node, tls) = (node.clone(), self.tls.clone());
                tokio::spawn(async move { node.ask(&tls, &request).await })
            };
            let all: Vec<_> = self.nodes.iter().zip(requests).map(ask).collect();
            let mut replies = Vec::new();
            for (node, reply) in self.nodes.iter().zip(all) {
                replies.push(reply.await.unwrap_or_else(|error| Err(node.failed(&error))));
            }
            Ok(replies)
        })
    }

    fn same(&self, request: &Request) -> Vec<Request> {
        vec![request.clone(); self.nodes.len()]
    }

    /// Asks all nodes what clients give to a function. All must say the same.
    ///
    /// # Errors
    /// A node cannot be reached, has no such function, is another party's or says something else.
    pub fn layout(&self, function: &Name) -> Outcome<Layout> {
        let request = Request { path: format!("/v1/submit/{function}"), ..Request::default() };
        let mut known: Option<Layout> = None;
        for (place, reply) in self.ask_all(self.same(&request))?.into_iter().enumerate() {
            let node = &self.nodes[place];
            let reply = reply?;
            let about = serde_json::from_slice::<About>(&reply.body);
            let about = about.map_err(|_| node.failed(&"its reply is not what a node says"))?;
            if usize::from(about.party) != place {
                let party = about.party;
                return Err(node.failed(&format!("it is party {party}'s, not party {place}'s")));
            }
            let layout = Layout::from_json(&about.layout.to_string())?;
            if usize::from(layout.ports().parties) != self.nodes.len() {
                let parties = layout.ports().parties;
                let given = self.nodes.len();
                let message =
                    format!("the function has {parties} parties; {given} nodes are given");
                return Err(ClientFailure::usage(message));
            }
            match &known {
                Some(known) if *known != layout => {
                    return Err(node.failed(&"it says that clients give something else"));
                }
                _ => known = Some(layout),
            }
        }
        known.ok_or_else(|| ClientFailure::usage("no nodes are given".to_string()))
    }

    /// Gives each party its share.
    ///
    /// # Errors
    /// Why a node refuses it; then the client is left out, unless the same shares are given again
    /// in time.
    pub fn submit(
        &self,
        (function, call): (&Name, &Name),
        client: &Name,
        token: Option<&str>,
        made: &Submission,
    ) -> Outcome<()> {
        let hashes = STANDARD.encode(made.hashes.to_bytes());
        let request = |share: &symbolon_clients::Share| {
            let share = STANDARD.encode(share.as_bytes());
            let posted = Posted { client: client.clone(), share, hashes: hashes.clone() };
            let length = posted.share.len() + hashes.len() + 256;
            let mut body = Zeroizing::new(Vec::with_capacity(length));
            let written = serde_json::to_writer(&mut *body, &posted);
            debug_assert!(written.is_ok(), "texts can be written as JSON");
            Request {
                path: format!("/v1/submit/{function}/{call}"),
                token: token.map(|token| Zeroizing::new(token.to_string())),
                body: Some(body),
                wait: Duration::ZERO,
            }
        };
        let replies = self.ask_all(made.shares.iter().map(request).collect())?;
        replies.into_iter().try_for_each(|reply| reply.map(drop))
    }

    /// Waits for what becomes of the client's values, for at most this long. One node can pass an
    /// answer on, which it cannot change; where clients have none, all nodes must say that the
    /// values counted.
    ///
    /// # Errors
    /// All nodes say that the client is left out or the run failed, or cannot be reached; or there
    /// is no answer in time.
    pub fn answer(
        &self,
        (function, call): (&Name, &Name),
        client: &Name,
        (layout, receipt): (&Layout, &Receipt),
        wait: Duration,
    ) -> Outcome<Option<Opened>> {
        let until = Instant::now() + wait;
        loop {
            let wait = until.saturating_duration_since(Instant::now()).min(ONE_WAIT);
            let seconds = wait.as_secs_f64();
            let path =
                format!("/v1/submit/{function}/{call}/answer?client={client}&wait={seconds}");
            let request = Request { path, wait, ..Request::default() };
            let (mut counted, mut failures) = (0, Vec::new());
            for (node, reply) in self.nodes.iter().zip(self.ask_all(self.same(&request))?) {
                match reply.and_then(|reply| read(node, &reply, layout, receipt)) {
                    Ok(Known::Opened(opened)) => return Ok(Some(opened)),
                    Ok(Known::Counted) => counted += 1,
                    Ok(Known::Nothing) => {}
                    Err(error) => failures.push(error),
                }
            }
            if counted == self.nodes.len() {
                return Ok(None);
            }
            // One node that lies or is away does not end the wait for the others.
            if counted + failures.len() == self.nodes.len() {
                let changed = failures.iter().position(|one| one.class == ErrorClass::Misbehaved);
                return Err(failures.swap_remove(changed.unwrap_or(0)));
            }
            if Instant::now() >= until {
                let message = "no answer yet: the call has not run".to_string();
                return Err(ClientFailure::new(ErrorClass::Peer, "no-answer", message));
            }
        }
    }
}

/// What a node says has become of a client's values.
enum Known {
    Nothing,
    /// They counted, and clients have no answers.
    Counted,
    Opened(Opened),
}

/// Reads what a node says.
fn read(node: &Address, reply: &Reply, layout: &Layout, receipt: &Receipt) -> Outcome<Known> {
    let answer = serde_json::from_slice::<ClientAnswer>(&reply.body);
    let answer = answer.map_err(|_| node.failed(&"its reply is not what a node says"))?;
    if let Some(why) = &answer.left_out {
        let message = match why.as_str() {
            "differs" => "the parties hold different submissions of this client".to_string(),
            "none" => "no party has a submission of this client".to_string(),
            why => format!("the submission of this client is {}", one_line(why)),
        };
        return Err(ClientFailure::new(ErrorClass::Peer, "left-out", message));
    }
    if let Some(encoded) = &answer.answer {
        let bytes =
            STANDARD.decode(encoded).map_err(|_| node.failed(&"its answer is no base64"))?;
        return Ok(Known::Opened(layout.open(receipt, &bytes)?));
    }
    match (answer.counted, &answer.error) {
        (Some(true), _) if layout.answer_len() > 0 => Err(node.failed(&"it hides the answer")),
        (Some(true), _) => Ok(Known::Counted),
        (Some(false), _) => Err(ClientFailure::from(ClientError::NotCounted)),
        (None, Some(code)) if answer.state == RoundState::Over => {
            Err(node.failed(&format!("the run failed: {}", one_line(code))))
        }
        (None, _) => Ok(Known::Nothing),
    }
}
