//! Clients who are no party: what they give, and what becomes of it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use symbolon::circuit::{ClientPorts, Type};
use symbolon::{Inputs, Protocol, SessionParams};
use symbolon_clients::{Hashes, Layout, Share, Submission};
use symbolon_lang::{Options, compile_text};
use symbolon_service::{
    Admission, Call, CallError, Certificate, ClientNodes, Door, FunctionConfig, Node, Posted,
    PublicDoorConfig, RoundState, SubmitError, complete, read_client_tokens,
};

use crate::common::*;

const AUCTION: &str = "
fn main(bids: [Option<u16>; 4] from clients) -> (best: u16 to all, sold: [bool; 4] to clients) {
    let mut best = 0;
    for bid in bids {
        best = if bid.unwrap_or(0) > best { bid.unwrap_or(0) } else { best };
    }
    let mut sold = [false; 4];
    for i in 0..4 {
        sold[i] = bids[i].unwrap_or(0) == best;
    }
    (best, sold)
}";

pub fn auction(parties: u16) -> FunctionConfig {
    let options = Options { parties: Some(parties), ..Options::default() };
    let circuit = compile_text(AUCTION, &options).unwrap();
    let params = SessionParams::new(Protocol::Ywz);
    FunctionConfig {
        ready: 1,
        low: 1,
        side_by_side: 1,
        wait: Duration::from_secs(60),
        ..FunctionConfig::new(name("auction"), circuit, params)
    }
}

fn layout(node: &Node) -> Layout {
    node.layout("auction").unwrap()
}

pub fn bid(layout: &Layout, amount: u16) -> Submission {
    layout.encode(&layout.values(&[("bids", &amount.to_string())]).unwrap()).unwrap()
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn posted(client: &str, share: &[u8], hashes: &Hashes) -> Posted {
    let (share, hashes) = (base64(share), base64(&hashes.to_bytes()));
    Posted { client: name(client), share, hashes }
}

/// Gives a client's shares to some of the nodes.
pub fn give(nodes: &[Node], to: &[usize], client: &str, made: &Submission) {
    for party in to {
        let posted = posted(client, made.shares[*party].as_bytes(), &made.hashes);
        nodes[*party].submit("auction", &name("c"), &posted, None).unwrap();
    }
}

pub fn open_all(nodes: &[Node]) {
    nodes.iter().for_each(|node| node.open("auction", &name("c"), None).unwrap());
}

pub fn close(node: &Node) -> Result<Call, CallError> {
    let circuit = node.circuit("auction").unwrap();
    let inputs = complete(&circuit, node.party(), Inputs::builder(&circuit, node.party()));
    node.call("auction", &name("c"), inputs.unwrap())
}

fn best(nodes: &[Node]) -> u128 {
    let calls: Vec<Call> = nodes.iter().map(|node| close(node).unwrap()).collect();
    let all: Vec<u128> = calls
        .iter()
        .map(|call| match &*answer(call) {
            Ok(outputs) => outputs.uint("best").unwrap(),
            Err(error) => panic!("{error}"),
        })
        .collect();
    assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
    all[0]
}

fn clients(node: &Node) -> Value {
    serde_json::to_value(node.clients("auction", &name("c")).unwrap()).unwrap()
}

/// Opens the nodes' doors for clients.
fn doors(nodes: &[Arc<Node>]) -> (Vec<Door>, Vec<String>) {
    let open = |node: &Arc<Node>| {
        let address = "127.0.0.1:0".parse().unwrap();
        let origins = vec!["https://auction.example".to_string()];
        let config = PublicDoorConfig { address, tls: None, origins, nodes: Vec::new() };
        Door::open_public(node.clone(), &config).unwrap()
    };
    let doors: Vec<Door> = nodes.iter().map(open).collect();
    let urls = doors.iter().map(|door| format!("http://{}", door.address().unwrap())).collect();
    (doors, urls)
}

#[test]
fn clients_give_values_to_three_nodes_and_read_answers() {
    let nodes = World::new(3).start_all(&[auction(3)]);
    let nodes: Vec<Arc<Node>> = nodes.into_iter().map(Arc::new).collect();
    let (_doors, urls) = doors(&nodes);
    let (function, call) = (name("auction"), name("c"));
    nodes.iter().for_each(|node| node.open("auction", &call, None).unwrap());
    let bids = [("ann", 30u16), ("bob", 70), ("eve", 20)];
    let waiting: Vec<_> = bids
        .map(|(client, amount)| {
            let to = ClientNodes::new(&urls, None).unwrap();
            let layout = to.layout(&function).unwrap();
            let made = bid(&layout, amount);
            let client = name(client);
            to.submit((&function, &call), &client, None, &made).unwrap();
            // The same again changes nothing.
            to.submit((&function, &call), &client, None, &made).unwrap();
            let (function, call) = (function.clone(), call.clone());
            std::thread::spawn(move || {
                let receipt = (&layout, &made.receipt);
                let opened = to.answer((&function, &call), &client, receipt, LONG);
                opened.unwrap().expect("an answer").answers
            })
        })
        .into();
    assert_eq!(clients(&nodes[0])["submissions"], 3);
    let calls: Vec<Call> = nodes.iter().map(|node| close(node).unwrap()).collect();
    for call in &calls {
        match &*answer(call) {
            Ok(outputs) => assert_eq!(outputs.uint("best").unwrap(), 70),
            Err(error) => panic!("{error}"),
        }
    }
    let answers: Vec<_> = waiting.into_iter().map(|one| one.join().unwrap()).collect();
    for (answer, won) in answers.iter().zip([false, true, false]) {
        assert_eq!((answer[0].0.as_str(), answer[0].2.get(0)), ("sold", won));
    }
    let about = json!({
        "state": "over", "submissions": 3, "places": ["ann", "bob", "eve"], "left_out": [],
        "refused": [],
    });
    nodes.iter().for_each(|node| assert_eq!(clients(node), about));
}

/// Cheat: client; 1 | service | other submissions to other parties; a share withheld | the client
/// is left out, and all parties see its name | always
#[test]
fn a_client_of_whom_the_parties_hold_different_things_is_left_out() {
    let nodes = World::new(3).start_all(&[auction(3)]);
    let layout = layout(&nodes[0]);
    open_all(&nodes);
    give(&nodes, &[0, 1, 2], "ann", &bid(&layout, 10));
    let [one, other] = [bid(&layout, 500), bid(&layout, 600)];
    give(&nodes, &[0, 1], "bob", &one);
    give(&nodes, &[2], "bob", &other);
    give(&nodes, &[0, 2], "carl", &bid(&layout, 700));
    assert_eq!(best(&nodes), 10);
    for node in &nodes {
        let about = clients(node);
        assert_eq!(about["places"], json!(["ann"]));
        let left_out = json!([
            {"client": "bob", "why": "differs"},
            {"client": "carl", "why": "missing", "parties": [1]},
        ]);
        assert_eq!(about["left_out"], left_out);
        let answer = |client: &str| node.client_answer("auction", &name("c"), &name(client));
        assert_eq!(answer("bob").unwrap().left_out.as_deref(), Some("differs"));
        assert_eq!(answer("carl").unwrap().left_out.as_deref(), Some("missing at 1"));
        assert_eq!(answer("ann").unwrap().counted, Some(true));
    }
}

/// Returns the hash of a party's share.
fn hash(party: u16, share: &[u8]) -> [u8; 32] {
    let hasher = Sha256::new().chain_update("symbolon client share");
    hasher.chain_update(party.to_le_bytes()).chain_update(share).finalize().into()
}

/// Cheat: client | service | a submission whose tag is wrong | the run does not count it, all
/// parties see its name, and the others count | always
#[test]
fn a_client_whose_tag_is_wrong_is_refused() {
    let nodes = World::new(2).start_all(&[auction(2)]);
    let layout = layout(&nodes[0]);
    open_all(&nodes);
    give(&nodes, &[0, 1], "ann", &bid(&layout, 10));
    let made = bid(&layout, 600);
    let mut shares: Vec<Vec<u8>> = made.shares.iter().map(|one| one.as_bytes().to_vec()).collect();
    // The lowest bit of the value.
    shares[1][32] ^= 1;
    let hashes = [hash(0, &shares[0]), hash(1, &shares[1])].concat();
    let hashes = Hashes::from_bytes(2, &hashes).unwrap();
    for (node, share) in nodes.iter().zip(&shares) {
        node.submit("auction", &name("c"), &posted("bob", share, &hashes), None).unwrap();
    }
    assert_eq!(best(&nodes), 10);
    for node in &nodes {
        assert_eq!(clients(node)["refused"], json!(["bob"]));
        let bob = node.client_answer("auction", &name("c"), &name("bob")).unwrap();
        assert_eq!((bob.counted, bob.place, bob.state), (Some(false), Some(1), RoundState::Over));
    }
}

/// Returns the address of a door that says the same to everybody.
fn says(reply: &Value) -> String {
    use std::io::{BufRead, BufReader, Write};
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", port.local_addr().unwrap());
    let body = reply.to_string();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    std::thread::spawn(move || {
        for stream in port.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut line = String::new();
            while stream.read_line(&mut line).unwrap() > 2 {
                line.clear();
            }
            stream.get_mut().write_all(format!("{head}{body}").as_bytes()).unwrap();
        }
    });
    url
}

/// Cheat: any party | clients: answers | says that values counted when they did not; hides the
/// answer, as if clients had none | the client takes an answer alone, or the word of all nodes |
/// always
#[test]
fn one_nodes_word_is_not_enough_for_a_client() {
    let reply = |counted: bool| {
        json!({"state": "over", "place": 0, "left_out": null, "counted": counted, "answer": null,
            "error": null})
    };
    let [yes, no] = [true, false].map(|counted| says(&reply(counted)));
    let bid = Type::Uint(16);
    let layout = |answers: &[(String, Type)]| {
        let values = vec![("bid".to_string(), bid.clone())];
        Layout::new(ClientPorts { clients: 1, parties: 2, values, answers: answers.to_vec() })
    };
    let result = |urls: [&String; 2], layout: &Layout| {
        let made = layout.encode(&layout.values(&[("bid", "1")]).unwrap()).unwrap();
        let nodes = ClientNodes::new(&urls.map(String::clone), None).unwrap();
        let (about, client) = ((&name("f"), &name("c")), name("ann"));
        nodes.answer(about, &client, (layout, &made.receipt), LONG)
    };
    let none = layout(&[]).unwrap();
    assert!(result([&yes, &yes], &none).unwrap().is_none());
    for urls in [[&yes, &no], [&no, &yes]] {
        assert_eq!(result(urls, &none).unwrap_err().code, "client-not-counted");
    }
    let some = layout(&[("won".to_string(), Type::Bool)]).unwrap();
    assert_eq!(result([&yes, &yes], &some).unwrap_err().code, "node");
}

#[test]
fn the_first_submission_counts_and_late_ones_are_refused() {
    let nodes = World::new(2).start_all(&[auction(2)]);
    let layout = layout(&nodes[0]);
    let made = bid(&layout, 10);
    let submit = |call: &str, client: &str, made: &Submission| {
        let posted = posted(client, made.shares[0].as_bytes(), &made.hashes);
        nodes[0].submit("auction", &name(call), &posted, None)
    };
    assert_eq!(submit("c", "ann", &made), Err(SubmitError::NoCall));
    open_all(&nodes);
    submit("c", "ann", &made).unwrap();
    submit("c", "ann", &made).unwrap();
    assert_eq!(submit("c", "ann", &bid(&layout, 10)), Err(SubmitError::Other));
    assert_eq!(submit("d", "ann", &made), Err(SubmitError::NoCall));
    for client in ["b", "c", "d"] {
        submit("c", client, &bid(&layout, 1)).unwrap();
    }
    assert_eq!(submit("c", "e", &bid(&layout, 1)), Err(SubmitError::Full));
    // Party 1 has nothing of any of them.
    assert_eq!(best(&nodes), 0);
    submit("c", "ann", &made).unwrap();
    assert_eq!(submit("c", "e", &bid(&layout, 1)), Err(SubmitError::Closed));
    assert_eq!(clients(&nodes[1])["left_out"].as_array().unwrap().len(), 4);
    // The name of the call belongs to it.
    assert_eq!(nodes[0].open("auction", &name("c"), None), Err(CallError::OtherInputs));
}

#[test]
fn a_call_is_made_when_its_time_is_over() {
    let function = FunctionConfig { wait: Duration::from_secs(2), ..auction(2) };
    let nodes = World::new(2).start_all(&[function]);
    let layout = layout(&nodes[0]);
    stocked(&nodes);
    // Party 1's time is over when party 0 has given up once.
    for (node, milliseconds) in nodes.iter().zip([200, 3500]) {
        let time = Some(Duration::from_millis(milliseconds));
        node.open("auction", &name("c"), time).unwrap();
    }
    give(&nodes, &[0, 1], "ann", &bid(&layout, 10));
    until("it has run", || nodes.iter().all(|node| clients(node)["state"] == "over"));
    until("it has an answer", || {
        let ann = nodes[1].client_answer("auction", &name("c"), &name("ann")).unwrap();
        ann.counted == Some(true) && ann.answer.is_some()
    });
}

#[test]
fn calls_that_take_submissions_are_few() {
    let mut function = auction(2);
    function.clients.as_mut().unwrap().open = 2;
    let node = World::new(2).start(0, vec![function, adder(Protocol::Wrk)]);
    let open = |function: &str, call: &str| node.open(function, &name(call), None);
    open("auction", "a").unwrap();
    open("auction", "b").unwrap();
    open("auction", "a").unwrap();
    assert_eq!(open("auction", "c"), Err(CallError::Busy));
    let none = CallError::Inputs("the function has no clients".to_string());
    assert_eq!(open("add", "c"), Err(none));
    assert_eq!(open("sub", "c"), Err(CallError::NoFunction));
}

/// Asks a door for clients.
fn ask(url: &str, head: &str, body: &str) -> (u16, String) {
    use std::io::{Read, Write};
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let length = body.len();
    let request =
        format!("{head}\r\nHost: a\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    // The door may close before it has read all.
    let _ = stream.write_all(request.as_bytes());
    let mut reply = String::new();
    let _ = stream.read_to_string(&mut reply);
    let status = reply.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or(0), reply)
}

/// Cheat: client, stranger | door for clients | no token, another's token, large and malformed
/// bodies, more requests than allowed | refused by name, and nothing is kept | always
#[test]
fn strangers_fill_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, "ann token-of-ann-0123\nbob token-of-bob-0123\n").unwrap();
    make_private(&tokens);
    let mut function = auction(2);
    let config = function.clients.as_mut().unwrap();
    config.admission = read_client_tokens(&tokens).unwrap();
    assert!(matches!(config.admission, Admission::Tokens(_)));
    config.per_minute = Some(12);
    let node = Arc::new(World::new(2).start(0, vec![function, adder(Protocol::Wrk)]));
    node.open("auction", &name("c"), None).unwrap();
    let (_doors, urls) = doors(std::slice::from_ref(&node));
    let layout = layout(&node);
    let made = bid(&layout, 10);
    let body = |client: &str, share: &Share| {
        serde_json::to_string(&posted(client, share.as_bytes(), &made.hashes)).unwrap()
    };
    let fits = body("ann", &made.shares[0]);
    let post = "POST /v1/submit/auction/c HTTP/1.1";
    let with = |token: &str| format!("{post}\r\nAuthorization: Bearer {token}");
    let large = format!("{fits}{}", " ".repeat(4096));
    let long = "x".repeat(65);
    for (head, body, status, code) in [
        (post.to_string(), &fits, 401, "token"),
        (with("token-of-bob-0123"), &fits, 401, "token"),
        (with("token-of-ann-0123"), &large, 400, "malformed"),
        (with("token-of-ann-0123"), &"{}".to_string(), 400, "malformed"),
        (with("token-of-ann-0123"), &body("ann", &made.shares[1]), 400, "malformed"),
        (with("token-of-ann-0123"), &fits.replace("\"ann\"", &format!("{long:?}")), 400, "malform"),
        ("POST /v1/submit/add/c HTTP/1.1".to_string(), &fits, 404, "no-function"),
        ("GET /v1/submit/auction/c/answer HTTP/1.1".to_string(), &String::new(), 400, "malformed"),
    ] {
        let (got, reply) = ask(&urls[0], &head, body);
        assert_eq!(got, status, "{head}: {reply}");
        assert!(reply.contains(code), "{reply}");
        assert!(!reply.contains(&base64(made.shares[0].as_bytes())), "{reply}");
    }
    assert_eq!(clients(&node)["submissions"], 0);
    assert_eq!(ask(&urls[0], &with("token-of-ann-0123"), &fits).0, 200);
    assert_eq!(clients(&node)["submissions"], 1);
    // Applications' routes are not here.
    assert_eq!(ask(&urls[0], "GET /v1/stock HTTP/1.1", "").0, 404);
    // Pages of one origin may ask.
    let preflight = |origin: &str| {
        let head = "OPTIONS /v1/submit/auction/c HTTP/1.1\r\nAccess-Control-Request-Method: POST";
        let reply = ask(&urls[0], &format!("{head}\r\nOrigin: {origin}"), "").1.to_lowercase();
        reply.contains(&format!("access-control-allow-origin: {origin}"))
    };
    assert!(preflight("https://auction.example") && !preflight("https://evil.example"));
    let codes: Vec<u16> = (0..10).map(|_| ask(&urls[0], &with("no"), &fits).0).collect();
    assert_eq!((codes[0], codes[9]), (401, 429), "{codes:?}");
}

#[cfg(unix)]
fn make_private(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

#[cfg(not(unix))]
fn make_private(_: &Path) {}

#[test]
fn doors_for_clients_that_strangers_could_read_are_refused() {
    let node = Arc::new(World::new(2).start(0, vec![auction(2)]));
    let refused = |address: &str, origin: &str| {
        let (address, origins) = (address.parse().unwrap(), vec![origin.to_string()]);
        let config = PublicDoorConfig { address, tls: None, origins, nodes: Vec::new() };
        Door::open_public(node.clone(), &config).unwrap_err().to_string()
    };
    assert!(refused("0.0.0.0:0", "*").contains("without a certificate"));
    assert!(refused("127.0.0.1:0", "auction.example").contains("is no origin"));
    let to = |url: &str| ClientNodes::new(&[url.to_string()], None).map(drop).unwrap_err();
    assert!(to("http://a.example").to_string().contains("without https"));
    assert!(to("a.example:80").to_string().contains("https://HOST:PORT"));
}

#[test]
fn the_door_has_a_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    for names in [["localhost"], ["other.example"]] {
        let made = rcgen::generate_simple_self_signed(names.map(String::from)).unwrap();
        std::fs::write(file(names[0]), made.cert.pem()).unwrap();
        std::fs::write(file("key"), made.signing_key.serialize_pem()).unwrap();
        let node = Arc::new(World::new(2).start(0, vec![auction(2)]));
        let tls = Some(Certificate { chain: file(names[0]), key: file("key") });
        let address = "127.0.0.1:0".parse().unwrap();
        let config = PublicDoorConfig { address, tls, origins: Vec::new(), nodes: Vec::new() };
        let door = Door::open_public(node, &config).unwrap();
        let url = format!("https://localhost:{}", door.address().unwrap().port());
        let error = |authorities: Option<&Path>| {
            let nodes = ClientNodes::new(std::slice::from_ref(&url), authorities).unwrap();
            nodes.layout(&name("auction")).unwrap_err()
        };
        // The handshake goes well where the name and the authority are right: what is said then is
        // that one node is not enough.
        let known = error(Some(&file(names[0]))).to_string();
        assert_eq!(known.contains("1 nodes are given"), names[0] == "localhost", "{known}");
        let unknown = error(None).to_string();
        assert!(unknown.contains("certificate"), "{unknown}");
    }
}

#[test]
fn clients_are_what_the_circuit_says() {
    let mut world = World::new(2);
    let mut refused = |function: FunctionConfig| {
        let error = Node::start(world.config(0, vec![function])).map(drop).unwrap_err();
        error.to_string()
    };
    let with =
        |function: FunctionConfig| FunctionConfig { clients: auction(2).clients, ..function };
    assert!(refused(with(adder(Protocol::Wrk))).contains("it has no clients"));
    assert!(refused(FunctionConfig { clients: None, ..auction(2) }).contains("need settings"));
    // The error for a circuit of three parties may be about the third one's input.
    assert!(refused(auction(3)).contains("parties"));
}
