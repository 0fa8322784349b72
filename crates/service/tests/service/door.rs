//! The door: requests of applications, and of strangers.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use symbolon::Protocol;
use symbolon_service::{Client, Door, DoorConfig, Node, Token, read_token};
use zeroize::Zeroizing;

use crate::common::*;

const NO_TIME: Duration = Duration::ZERO;

fn token() -> Token {
    Token::new(Zeroizing::new("a-token-of-this-test".to_string())).unwrap()
}

fn private_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    folder
}

fn body(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    Some(Zeroizing::new(text.as_bytes().to_vec()))
}

/// Returns the status and the JSON of a reply.
fn ask(client: &Client, path: &str, sent: Option<&str>) -> (u16, Value) {
    let reply = client.ask(path, sent.and_then(body), LONG).unwrap();
    let json = serde_json::from_slice(&reply.body);
    (reply.status, json.unwrap_or_else(|_| String::from_utf8_lossy(&reply.body).into()))
}

/// Two nodes, each with a door: a socket, and loopback.
fn doors(folder: &Path) -> ([Arc<Node>; 2], [Door; 2], [Client; 2]) {
    let mut function = adder(Protocol::Wrk);
    function.wait = Duration::from_secs(5);
    let mut nodes = World::new(2).start_all(&[function]).into_iter().map(Arc::new);
    let nodes = [nodes.next().unwrap(), nodes.next().unwrap()];
    let socket = DoorConfig::Socket(folder.join("door"));
    let open = |node: usize, config: &DoorConfig| Door::open(nodes[node].clone(), config).unwrap();
    let loopback = DoorConfig::Loopback("127.0.0.1:0".parse().unwrap(), token());
    let doors = [open(0, &socket), open(1, &loopback)];
    let loopback = DoorConfig::Loopback(doors[1].address().unwrap(), token());
    let clients = [Client::new(socket), Client::new(loopback)];
    (nodes, doors, clients)
}

#[test]
fn calls_over_http() {
    let folder = private_folder();
    let (nodes, doors, [zero, one]) = doors(folder.path());
    let path = "/v1/functions/add/calls/first";
    let (status, reply) = ask(&zero, path, Some(r#"{"inputs":{"x":20}}"#));
    assert_eq!((status, &reply["state"]), (202, &"waiting".into()));
    until("the call is announced", || {
        ask(&one, "/v1/functions/add/calls", None).1["calls"] == serde_json::json!(["first"])
    });
    let waits = format!("{path}?wait=60");
    let (status, reply) = ask(&one, &waits, Some(r#"{"inputs":{"y":"0x16"}}"#));
    assert_eq!((status, &reply["state"]), (200, &"done".into()), "{reply}");
    assert_eq!(reply["outputs"][0]["value"], "42");
    let (status, same) = ask(&zero, &waits, None);
    assert_eq!((status, &same["outputs"]), (200, &reply["outputs"]));
    // What does not fit is refused, without a value in the reply.
    for (path, sent, status, code) in [
        (path, r#"{"inputs":{"x":21}}"#, 409, "other-inputs"),
        ("/v1/functions/add/calls/new", r#"{"inputs":{"x":70001}}"#, 400, "inputs"),
        ("/v1/functions/add/calls/new", r#"{"inputs":{"y":70001}}"#, 400, "inputs"),
        ("/v1/functions/add/calls/new", r#"{"inputs":{"x":70001}"#, 400, "inputs"),
        ("/v1/functions/add/calls/new", r#"{"inputs":{},"more":70001}"#, 400, "inputs"),
        ("/v1/functions/add/calls/a%20b", r#"{"inputs":{"x":70001}}"#, 400, "inputs"),
        ("/v1/functions/add/calls/a?wait=-1", r#"{"inputs":{"x":70001}}"#, 400, "inputs"),
        ("/v1/functions/sub/calls/new", r#"{"inputs":{"x":70001}}"#, 404, "no-function"),
    ] {
        let (got, reply) = ask(&zero, path, Some(sent));
        assert_eq!((got, &reply["code"]), (status, &code.into()), "{path} {sent}: {reply}");
        assert!(!reply.to_string().contains("70001"), "{reply}");
    }
    assert_eq!(ask(&zero, "/v1/functions/add/calls/none", None).0, 404);
    assert_eq!(ask(&zero, "/v1/nothing", None).0, 404);
    drop((nodes, doors));
}

#[test]
fn no_inputs_from_the_peer() {
    let folder = private_folder();
    let (_nodes, _doors, [zero, _]) = doors(folder.path());
    let path = "/v1/functions/add/calls/alone?wait=60";
    let (status, reply) = ask(&zero, path, Some(r#"{"inputs":{"x":1}}"#));
    assert_eq!((status, &reply["error"]["code"]), (504, &"no-input-from-peer".into()));
    assert_eq!(reply["error"]["class"], "peer");
}

#[test]
fn what_a_node_has_and_counts() {
    let folder = private_folder();
    let (nodes, _doors, [zero, one]) = doors(folder.path());
    until("both are there", || nodes.iter().all(|node| node.stock().is_healthy()));
    assert_eq!(ask(&zero, "/healthz", None).0, 200);
    let (_, functions) = ask(&one, "/v1/functions", None);
    assert_eq!(functions[0]["name"], "add");
    assert_eq!(functions[0]["inputs"][1]["type"], "u16");
    assert_eq!(functions[0]["inputs"][1]["parties"], serde_json::json!([1]));
    let (_, stock) = ask(&one, "/v1/stock", None);
    assert_eq!(stock["functions"][0]["wanted"], 4);
    until("metrics show sessions", || {
        let (_, metrics) = ask(&zero, "/metrics", None);
        let text = metrics.as_str().unwrap();
        text.contains("symbolon_sessions{function=\"add\"} 2") && text.ends_with("# EOF\n")
    });
    nodes[1].drain();
    until("the peer knows", || ask(&zero, "/v1/stock", None).1["peers"][0]["draining"] == true);
    assert_eq!(ask(&one, "/healthz", None).0, 503);
    let (status, reply) = ask(&one, "/v1/functions/add/calls/late", Some(r#"{"inputs":{"y":1}}"#));
    assert_eq!((status, &reply["code"]), (503, &"draining".into()));
    let (status, reply) = ask(&zero, "/v1/functions/add/calls/late", Some(r#"{"inputs":{"x":1}}"#));
    assert_eq!((status, &reply["code"]), (503, &"peer-draining".into()));
}

#[test]
fn a_reply_that_is_due_goes_out_before_the_door_closes() {
    let folder = private_folder();
    let (nodes, doors, [zero, _]) = doors(folder.path());
    let path = "/v1/functions/add/calls/waits?wait=60";
    let waiting = std::thread::spawn(move || ask(&zero, path, Some(r#"{"inputs":{"x":1}}"#)));
    until("it waits", || nodes[0].stock().functions[0].waiting == 1);
    nodes[0].drain();
    drop(doors);
    let (status, reply) = waiting.join().unwrap();
    assert_eq!((status, &reply["error"]["code"]), (503, &"draining".into()));
    assert!(!folder.path().join("door").exists(), "the socket is removed");
}

/// Sends bytes and returns what comes back.
fn raw(address: std::net::SocketAddr, sent: &[u8]) -> String {
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    // The door may close before it has read all.
    let _ = stream.write_all(sent);
    let mut got = Vec::new();
    let _ = stream.read_to_end(&mut got);
    String::from_utf8_lossy(&got).into_owned()
}

/// Cheat: 1, stranger | door | no token, another token, garbage, a large body, silence | refused,
/// and others are served meanwhile | always
#[test]
fn strangers_get_nothing() {
    let folder = private_folder();
    let (nodes, doors, [_, one]) = doors(folder.path());
    let address = doors[1].address().unwrap();
    for header in ["", "Authorization: Bearer a-token-of-another\r\n", "Authorization: Basic a\r\n"]
    {
        for path in ["/v1/stock", "/metrics", "/healthz", "/openapi.json", "/nothing"] {
            let request =
                format!("GET {path} HTTP/1.1\r\nHost: a\r\n{header}Connection: close\r\n\r\n");
            let reply = raw(address, request.as_bytes());
            assert!(reply.starts_with("HTTP/1.1 401 "), "{path}: {reply}");
            assert!(!reply.contains("add"), "{reply}");
        }
    }
    let garbage = raw(address, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n");
    assert!(garbage.starts_with("HTTP/1.1 400 "), "{garbage}");
    let long = raw(address, &[b"GET /".to_vec(), vec![b'a'; 1 << 20]].concat());
    assert!(long.is_empty() || long.starts_with("HTTP/1.1 4"), "{long}");
    // More than the inputs of this party can be.
    let large = format!("{{\"inputs\":{{\"y\":{}1}}}}", " ".repeat(70 << 10));
    let (status, _) = ask(&one, "/v1/functions/add/calls/large", Some(&large));
    assert_eq!(status, 413);
    let silent: Vec<_> = (0..100).map(|_| std::net::TcpStream::connect(address).unwrap()).collect();
    let begun = Instant::now();
    assert_eq!(ask(&one, "/v1/stock", None).0, 200);
    assert!(begun.elapsed() < Duration::from_secs(5));
    // They are cut off in the end.
    let mut first = silent.into_iter().next().unwrap();
    first.set_read_timeout(Some(LONG)).unwrap();
    assert_eq!(first.read(&mut [0; 64]).unwrap_or(0), 0);
    drop(nodes);
}

#[test]
fn doors_that_others_could_use_are_refused() {
    let node = Arc::new(World::new(2).start(0, vec![adder(Protocol::Wrk)]));
    let refused = |config: DoorConfig| Door::open(node.clone(), &config).unwrap_err().to_string();
    let open = refused(DoorConfig::Loopback("0.0.0.0:0".parse().unwrap(), token()));
    assert!(open.contains("open to the network"), "{open}");
    let folder = private_folder();
    let socket = folder.path().join("door");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let set = |mode| std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode));
    set(0o750).unwrap();
    assert!(refused(DoorConfig::Socket(socket.clone())).contains("chmod 700"));
    set(0o700).unwrap();
    let door = Door::open(node.clone(), &DoorConfig::Socket(socket.clone())).unwrap();
    assert_eq!(mode(&socket), 0o600);
    assert!(refused(DoorConfig::Socket(socket.clone())).contains("another node serves it"));
    drop(door);
    // A socket that a killed node left is replaced; another file is not.
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    drop(Door::open(node.clone(), &DoorConfig::Socket(socket.clone())).unwrap());
    std::fs::write(&socket, "mine").unwrap();
    refused(DoorConfig::Socket(socket.clone()));
    assert_eq!(std::fs::read_to_string(&socket).unwrap(), "mine");
}

#[test]
fn tokens_are_private_and_long() {
    let folder = private_folder();
    let path = folder.path().join("token");
    std::fs::write(&path, "a-token-of-this-test\n").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(read_token(&path).unwrap_err().to_string().contains("chmod 600"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let read = read_token(&path).unwrap();
    assert_eq!(read.expose(), "a-token-of-this-test");
    assert_eq!(format!("{read:?}"), "Token(..)");
    std::fs::write(&path, "short").unwrap();
    assert!(read_token(&path).unwrap_err().to_string().contains("at least 16"));
}

#[test]
fn a_wrong_token_is_told_apart_from_a_door_that_is_shut() {
    let folder = private_folder();
    let (_nodes, doors, _) = doors(folder.path());
    let other = Token::new(Zeroizing::new("another-token-of-this-test".to_string())).unwrap();
    let client = Client::new(DoorConfig::Loopback(doors[1].address().unwrap(), other));
    let error = client.ask("/v1/stock", None, NO_TIME).unwrap_err().to_string();
    assert!(error.contains("does not accept the token"), "{error}");
    let shut = Client::new(DoorConfig::Socket(folder.path().join("none")));
    let error = shut.ask("/v1/stock", None, NO_TIME).unwrap_err().to_string();
    assert!(error.contains("No such file"), "{error}");
}
