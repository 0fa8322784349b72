//! The routes.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, Request, State as FromState};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};
use symbolon::Error;
use utoipa::OpenApi;

use super::Token;
use super::body::{NoBody, inputs, json, read};
use super::types::{CallReply, ErrorReply, FailureReply, State};
use crate::about::{FunctionReply, FunctionStock, PeerStock, PortReply, Stock};
use crate::clients::{ClientsReply, LeftOut, RoundState, Why};
use crate::error::CallError;
use crate::name::Name;
use crate::node::{Call, Node};

/// The maximum of `wait`.
const MAX_WAIT: f64 = 600.0;

/// What a body may have beside four bytes for each bit of this party's inputs.
const BODY: usize = 64 << 10;

/// The door's interface.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "symbolon serve",
        description = "The door of a node for applications.",
        version = "1",
        license(name = "MIT OR Apache-2.0")
    ),
    paths(
        functions,
        announced,
        start_call,
        find_call,
        open_clients,
        list_clients,
        stock,
        health,
        metrics
    ),
    components(schemas(
        CallReply,
        ErrorReply,
        FailureReply,
        FunctionReply,
        PortReply,
        State,
        Stock,
        PeerStock,
        FunctionStock,
        CallBody,
        AnnouncedReply,
        OpenBody,
        ClientsReply,
        LeftOut,
        Why,
        RoundState
    ))
)]
struct Interface;

/// Returns the description of the door's interface, an OpenAPI document.
pub fn openapi() -> String {
    Interface::openapi().to_pretty_json().expect("an OpenAPI document can be written as JSON")
}

/// This party's inputs for a call.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "it describes what `body.rs` reads")]
struct CallBody {
    /// A value for each input of this party, by name: a text as `--input` of the command takes it,
    /// such as `hex:01ff`, or a JSON value.
    #[schema(value_type = Object)]
    inputs: (),
    /// Or, for any of the inputs, its wires as digits 0 and 1, the first one first.
    #[schema(value_type = Option<Object>)]
    bits: (),
}

/// Calls that wait for the inputs of this party.
#[derive(Serialize, utoipa::ToSchema)]
struct AnnouncedReply {
    /// Their names.
    #[schema(value_type = Vec<String>)]
    calls: Vec<Name>,
}

/// How a call takes submissions of clients.
#[derive(Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct OpenBody {
    /// For how long; without it for as long as the settings say.
    seconds: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Waiting {
    #[serde(default)]
    wait: f64,
}

/// Returns all routes.
pub(super) fn router(node: Arc<Node>, token: Option<Token>) -> Router {
    let router = Router::new()
        .route("/v1/functions", get(functions))
        .route("/v1/functions/{function}/calls", get(announced))
        .route("/v1/functions/{function}/calls/{call}", post(start_call).get(find_call))
        .route(
            "/v1/functions/{function}/calls/{call}/clients",
            post(open_clients).get(list_clients),
        )
        .route("/v1/stock", get(stock))
        .route("/healthz", get(health))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(document))
        .fallback(|| async { StatusCode::NOT_FOUND })
        .with_state(node);
    match token {
        Some(token) => router.layer(middleware::from_fn_with_state(token, check_token)),
        None => router,
    }
}

/// Check: service | the token of a door on loopback | strangers on the same machine | –
async fn check_token(
    FromState(token): FromState<Token>,
    headers: HeaderMap,
    request: Request,
    next: Next,
) -> Response {
    let header = headers.get(header::AUTHORIZATION).map(|value| value.as_bytes());
    match token.is_in(header) {
        true => next.run(request).await,
        false => (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")]).into_response(),
    }
}

pub(super) fn reply(status: StatusCode, value: &impl Serialize) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    (status, headers, Body::from(json(value))).into_response()
}

fn status(error: &CallError) -> StatusCode {
    match error {
        CallError::NoFunction | CallError::NoCall => StatusCode::NOT_FOUND,
        CallError::Inputs(_) => StatusCode::BAD_REQUEST,
        CallError::OtherInputs | CallError::NotACaller => StatusCode::CONFLICT,
        CallError::Budget => StatusCode::TOO_MANY_REQUESTS,
        CallError::NoInputFromPeer(_) => StatusCode::GATEWAY_TIMEOUT,
        CallError::OtherClients(_) => StatusCode::BAD_GATEWAY,
        CallError::Run(_) => StatusCode::BAD_GATEWAY,
        CallError::State(_) => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    }
}

fn refuse(error: &CallError) -> Response {
    reply(status(error), &ErrorReply::new(error))
}

/// Waits for the answer of a call for as long as the caller wants.
async fn answer(node: &Node, name: Name, call: &Call, wait: f64) -> Response {
    let mut answer = call.answer();
    if answer.is_none() && wait > 0.0 {
        let wait = Duration::from_secs_f64(wait);
        answer = tokio::time::timeout(wait, call.arrived()).await.ok();
    }
    let status = match answer.as_deref() {
        None => StatusCode::ACCEPTED,
        Some(Ok(_)) => StatusCode::OK,
        Some(Err(error)) => status(error),
    };
    let parties = node.parties() as u16;
    reply(status, &CallReply::new(name, answer.as_ref(), parties))
}

/// Returns the waiting time and the name in a request.
fn wanted(
    query: Result<Query<Waiting>, axum::extract::rejection::QueryRejection>,
    call: &str,
) -> Result<(f64, Name), CallError> {
    let wrong = || CallError::Inputs(format!("`wait` takes 0 to {MAX_WAIT} seconds"));
    let Query(Waiting { wait }) = query.map_err(|_| wrong())?;
    if !(0.0..=MAX_WAIT).contains(&wait) {
        return Err(wrong());
    }
    Ok((wait, named(call)?))
}

fn named(call: &str) -> Result<Name, CallError> {
    call.parse().map_err(|error: crate::name::NoName| CallError::Inputs(error.to_string()))
}

type Asked = Result<Query<Waiting>, axum::extract::rejection::QueryRejection>;

/// Gives this party's inputs for a call, and waits for the answer if that is wanted.
#[utoipa::path(
    post, path = "/v1/functions/{function}/calls/{call}",
    params(
        ("function" = String, Path, description = "the function"),
        ("call" = String, Path, description = "the name of the call, the same for all parties"),
        ("wait" = Option<f64>, Query, description = "seconds to wait for the answer, at most 600")
    ),
    request_body = CallBody,
    responses(
        (status = 200, description = "the call is done", body = CallReply),
        (status = 202, description = "it waits or runs: ask again with GET", body = CallReply),
        (status = 400, description = "the inputs or the name do not fit", body = ErrorReply),
        (status = 404, description = "no such function", body = ErrorReply),
        (status = 408, description = "the body came too slowly", body = ErrorReply),
        (status = 409, description = "the name has other inputs, or this party may not start calls",
         body = ErrorReply),
        (status = 413, description = "the body is too large", body = ErrorReply),
        (status = 429, description = "the owner allows no more calls", body = ErrorReply),
        (status = 502, description = "the run failed", body = CallReply),
        (status = 503, description = "too many calls wait, the function is disabled, or a node is \
                                      about to stop", body = ErrorReply),
        (status = 504, description = "no inputs from a peer", body = CallReply)
    )
)]
async fn start_call(
    FromState(node): FromState<Arc<Node>>,
    Path((function, call)): Path<(String, String)>,
    query: Asked,
    body: Body,
) -> Response {
    let wanted = wanted(query, &call)
        .and_then(|wanted| node.circuit(&function).map(|circuit| (wanted, circuit)));
    let ((wait, name), circuit) = match wanted {
        Ok(wanted) => wanted,
        Err(error) => return refuse(&error),
    };
    let own = circuit.inputs().iter().filter(|input| input.owner == node.party());
    let bits: u64 = own.map(|input| input.ty.width()).sum();
    let limit = usize::try_from(bits).unwrap_or(usize::MAX).saturating_mul(4).saturating_add(BODY);
    let body = match read(body, limit).await {
        Ok(body) => body,
        Err(why) => {
            let (status, text) = match why {
                NoBody::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "the body is too large"),
                NoBody::TooSlow => (StatusCode::REQUEST_TIMEOUT, "the body came too slowly"),
                NoBody::Broken => (StatusCode::BAD_REQUEST, "the body ended early"),
            };
            return reply(status, &ErrorReply::new(&CallError::Inputs(text.to_string())));
        }
    };
    let given = inputs(&body, &circuit, node.party());
    drop(body);
    let posted = given
        .map_err(|error| match error {
            Error::InvalidInput(why) => CallError::Inputs(why),
            error => CallError::Run(error),
        })
        .and_then(|inputs| node.call(&function, &name, inputs));
    match posted {
        Ok(posted) => answer(&node, name, &posted, wait).await,
        Err(error) => refuse(&error),
    }
}

/// Returns what has become of a call.
#[utoipa::path(
    get, path = "/v1/functions/{function}/calls/{call}",
    params(
        ("function" = String, Path, description = "the function"),
        ("call" = String, Path, description = "the name of the call"),
        ("wait" = Option<f64>, Query, description = "seconds to wait for the answer, at most 600")
    ),
    responses(
        (status = 200, description = "the call is done", body = CallReply),
        (status = 202, description = "it waits or runs", body = CallReply),
        (status = 404, description = "no such function, or no such call", body = ErrorReply)
    )
)]
async fn find_call(
    FromState(node): FromState<Arc<Node>>,
    Path((function, call)): Path<(String, String)>,
    query: Asked,
) -> Response {
    let found = wanted(query, &call).and_then(|(wait, name)| {
        let found = node.find(&function, &name)?;
        Ok((wait, name, found))
    });
    match found {
        Ok((wait, name, found)) => answer(&node, name, &found, wait).await,
        Err(error) => refuse(&error),
    }
}

/// Lists the functions.
#[utoipa::path(
    get, path = "/v1/functions",
    responses((status = 200, description = "all functions", body = Vec<FunctionReply>))
)]
async fn functions(FromState(node): FromState<Arc<Node>>) -> Response {
    reply(StatusCode::OK, &node.functions())
}

/// Lists the calls for which other parties have inputs, and this party has none.
#[utoipa::path(
    get, path = "/v1/functions/{function}/calls",
    params(("function" = String, Path, description = "the function")),
    responses(
        (status = 200, description = "the names of the calls", body = AnnouncedReply),
        (status = 404, description = "no such function", body = ErrorReply)
    )
)]
async fn announced(
    FromState(node): FromState<Arc<Node>>,
    Path(function): Path<String>,
) -> Response {
    match node.announced(&function) {
        Ok(calls) => reply(StatusCode::OK, &AnnouncedReply { calls }),
        Err(error) => refuse(&error),
    }
}

/// Opens a call for submissions of clients, until this party makes the call or the time is over;
/// then the node makes it, unless this party has inputs of its own.
#[utoipa::path(
    post, path = "/v1/functions/{function}/calls/{call}/clients",
    params(
        ("function" = String, Path, description = "the function"),
        ("call" = String, Path, description = "the name of the call, the same for all parties")
    ),
    request_body = OpenBody,
    responses(
        (status = 200, description = "it takes submissions", body = ClientsReply),
        (status = 400, description = "the function has no clients, or the body does not fit",
         body = ErrorReply),
        (status = 404, description = "no such function", body = ErrorReply),
        (status = 409, description = "the call was made already", body = ErrorReply),
        (status = 503, description = "too many calls are open", body = ErrorReply)
    )
)]
async fn open_clients(
    FromState(node): FromState<Arc<Node>>,
    Path((function, call)): Path<(String, String)>,
    body: Body,
) -> Response {
    let opened = async {
        let name = named(&call)?;
        let wrong = || CallError::Inputs("the body is not {\"seconds\": NUMBER}".to_string());
        let body = read(body, BODY).await.map_err(|_| wrong())?;
        let given = match body.is_empty() {
            true => OpenBody::default(),
            false => serde_json::from_slice::<OpenBody>(&body).map_err(|_| wrong())?,
        };
        let time = given.seconds.map(Duration::try_from_secs_f64).transpose();
        node.open(&function, &name, time.map_err(|_| wrong())?)?;
        node.clients(&function, &name)
    };
    match opened.await {
        Ok(clients) => reply(StatusCode::OK, &clients),
        Err(error) => refuse(&error),
    }
}

/// Lists the clients of a call.
#[utoipa::path(
    get, path = "/v1/functions/{function}/calls/{call}/clients",
    params(
        ("function" = String, Path, description = "the function"),
        ("call" = String, Path, description = "the name of the call")
    ),
    responses(
        (status = 200, description = "who takes part, and who does not", body = ClientsReply),
        (status = 404, description = "no such function, or the call is not open here",
         body = ErrorReply)
    )
)]
async fn list_clients(
    FromState(node): FromState<Arc<Node>>,
    Path((function, call)): Path<(String, String)>,
) -> Response {
    match named(&call).and_then(|name| node.clients(&function, &name)) {
        Ok(clients) => reply(StatusCode::OK, &clients),
        Err(error) => refuse(&error),
    }
}

/// Returns what is prepared, and who is there.
#[utoipa::path(
    get, path = "/v1/stock",
    responses((status = 200, description = "what the node has", body = Stock))
)]
async fn stock(FromState(node): FromState<Arc<Node>>) -> Response {
    reply(StatusCode::OK, &node.stock())
}

/// Returns whether calls can run.
#[utoipa::path(
    get, path = "/healthz",
    responses(
        (status = 200, description = "calls can run", body = Stock),
        (status = 503, description = "a peer is away, a function is disabled or has no session, or \
                                      the node is about to stop", body = Stock)
    )
)]
async fn health(FromState(node): FromState<Arc<Node>>) -> Response {
    let stock = node.stock();
    let healthy = stock.is_healthy();
    reply(if healthy { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, &stock)
}

/// Returns what the node counts, as OpenMetrics text.
#[utoipa::path(
    get, path = "/metrics",
    responses((status = 200, description = "OpenMetrics text", body = String))
)]
async fn metrics(FromState(node): FromState<Arc<Node>>) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], node.metrics()).into_response()
}

async fn document() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], openapi()).into_response()
}
