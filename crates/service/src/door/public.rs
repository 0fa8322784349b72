//! The routes for clients. Names and digests are all that is in an address or a log.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Path, Query, State as FromState};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use symbolon::Error;
use symbolon::circuit::PartyId;
use tower_http::cors::{AllowOrigin, CorsLayer};

use super::PublicDoorConfig;
use super::addresses::Visitor;
use super::api::reply;
use super::body::{NoBody, read};
use super::types::ErrorReply;
use crate::clients::{Posted, RoundState, SubmitError};
use crate::name::Name;
use crate::node::Node;

/// The maximum of `wait`, in seconds.
const MAX_WAIT: f64 = 60.0;

/// How often it is looked whether an answer is there.
const LOOK: Duration = Duration::from_millis(250);

/// How long a browser need not ask again whether a page may use the door.
const PREFLIGHT: Duration = Duration::from_secs(600);

/// What the routes share.
struct Public {
    node: Arc<Node>,
    nodes: Vec<String>,
}

/// What a client must know of a function.
#[derive(Serialize)]
struct About {
    /// The function.
    function: String,
    /// The party that says so.
    party: PartyId,
    /// What clients give and learn, and how many there are.
    layout: Value,
    /// The addresses of all parties' doors for clients, if they are told.
    nodes: Vec<String>,
}

/// A submission was taken.
#[derive(Serialize)]
struct Taken {
    state: &'static str,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asking {
    client: String,
    #[serde(default)]
    wait: f64,
}

/// Returns all routes.
pub(super) fn router(node: Arc<Node>, config: &PublicDoorConfig) -> symbolon::Result<Router> {
    let any = config.origins.iter().any(|origin| origin == "*");
    let origins = config.origins.iter().map(|origin| {
        let wrong = || Error::InvalidInput(format!("{origin:?} is no origin"));
        let scheme = origin.starts_with("https://") || origin.starts_with("http://");
        match scheme && origin.matches('/').count() == 2 {
            true => HeaderValue::from_str(origin).map_err(|_| wrong()),
            false => Err(wrong()),
        }
    });
    let allowed = match any {
        true => AllowOrigin::any(),
        false => AllowOrigin::list(origins.collect::<symbolon::Result<Vec<_>>>()?),
    };
    let cors = CorsLayer::new()
        .allow_origin(allowed)
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([header::CONTENT_TYPE, header::AUTHORIZATION])
        .max_age(PREFLIGHT);
    let public = Public { node, nodes: config.nodes.clone() };
    Ok(Router::new()
        .route("/v1/submit/{function}", get(about))
        .route("/v1/submit/{function}/{call}", axum::routing::post(submit))
        .route("/v1/submit/{function}/{call}/answer", get(answer))
        .fallback(|| async { StatusCode::NOT_FOUND })
        .layer(cors)
        .with_state(Arc::new(public)))
}

fn refuse(error: &SubmitError) -> Response {
    let status = match error {
        SubmitError::NoFunction | SubmitError::NoCall => StatusCode::NOT_FOUND,
        SubmitError::Closed => StatusCode::GONE,
        SubmitError::Token => StatusCode::UNAUTHORIZED,
        SubmitError::Other => StatusCode::CONFLICT,
        SubmitError::Full => StatusCode::INSUFFICIENT_STORAGE,
        SubmitError::TooOften => StatusCode::TOO_MANY_REQUESTS,
        SubmitError::Malformed(_) => StatusCode::BAD_REQUEST,
    };
    reply(status, &ErrorReply::from(error))
}

impl Public {
    /// Counts a request.
    ///
    /// Check: service | how often an address asks | strangers who flood the door | –
    fn admit(&self, function: &str, Visitor(visit): &Visitor) -> Result<(), SubmitError> {
        self.node.layout(function)?;
        match self.node.client_rate(function) {
            Some(most) if !visit.may_ask(function, most, Instant::now()) => {
                Err(SubmitError::TooOften)
            }
            _ => Ok(()),
        }
    }
}

fn named(text: &str) -> Result<Name, SubmitError> {
    let wrong = |error: crate::name::NoName| SubmitError::Malformed(error.to_string());
    text.parse().map_err(wrong)
}

/// Says what a client must know.
async fn about(
    FromState(public): FromState<Arc<Public>>,
    Extension(visitor): Extension<Visitor>,
    Path(function): Path<String>,
) -> Response {
    let layout = public.admit(&function, &visitor).and_then(|()| public.node.layout(&function));
    match layout {
        Ok(layout) => {
            let layout = serde_json::from_str(&layout.to_json()).unwrap_or_default();
            let (party, nodes) = (public.node.party(), public.nodes.clone());
            reply(StatusCode::OK, &About { function, party, layout, nodes })
        }
        Err(error) => refuse(&error),
    }
}

/// Takes a submission.
async fn submit(
    FromState(public): FromState<Arc<Public>>,
    Extension(visitor): Extension<Visitor>,
    Path((function, call)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let taken = async {
        public.admit(&function, &visitor)?;
        let call = named(&call)?;
        let wrong = |why: &str| SubmitError::Malformed(why.to_string());
        let body = read(body, public.node.submission_limit(&function)?).await;
        let body = body.map_err(|why| {
            wrong(match why {
                NoBody::TooLarge => "the body is too large",
                NoBody::TooSlow => "the body came too slowly",
                NoBody::Broken => "the body ended early",
            })
        })?;
        let posted: Posted = serde_json::from_slice(&body)
            .map_err(|_| wrong("the body is not {\"client\": …, \"share\": …, \"hashes\": …}"))?;
        let token = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
        let token = token.and_then(|token| token.strip_prefix(b"Bearer "));
        public.node.submit(&function, &call, &posted, token)
    };
    match taken.await {
        Ok(()) => reply(StatusCode::OK, &Taken { state: "taken" }),
        Err(error) => refuse(&error),
    }
}

/// Says what has become of a client's values. Waits for the run if that is wanted.
async fn answer(
    FromState(public): FromState<Arc<Public>>,
    Extension(visitor): Extension<Visitor>,
    Path((function, call)): Path<(String, String)>,
    query: Result<Query<Asking>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let found = async {
        public.admit(&function, &visitor)?;
        let wrong =
            || SubmitError::Malformed(format!("it takes `client` and `wait`, 0 to {MAX_WAIT}"));
        let Query(Asking { client, wait }) = query.map_err(|_| wrong())?;
        if !(0.0..=MAX_WAIT).contains(&wait) {
            return Err(wrong());
        }
        let (call, client) = (named(&call)?, named(&client)?);
        let until = Instant::now() + Duration::from_secs_f64(wait);
        loop {
            let answer = public.node.client_answer(&function, &call, &client)?;
            let comes = answer.counted.is_none() && answer.left_out.is_none();
            let over = answer.state == RoundState::Over && answer.error.is_some();
            if !comes || over || Instant::now() >= until {
                return Ok(answer);
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    match found.await {
        Ok(answer) => reply(StatusCode::OK, &answer),
        Err(error) => refuse(&error),
    }
}
