//! A dealer and parties that trust it, each a process, over TLS.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::{Ended, Keys, command, end, free_address, keys, limited, symbolon};
use symbolon_preprocessing::dealer::Request;
use symbolon_transport::{Channel, DEALER, Identity, Kind, Meter, Options, Peer, connect_lanes};

const TRUST: &str = "the dealer is trusted: together with any one party";
const CIPHERTEXT: &str = "ciphertext = hex:3925841d02dc09fbdc118597196a0b32\n";
const INPUTS: [&[&str]; 2] = [
    &["--input", "key=hex:2b7e151628aed2a6abf7158809cf4f3c"],
    &["--input", "message=hex:3243f6a8885a308d313198a2e0370734"],
];

/// A running dealer.
struct Dealer {
    child: Child,
    address: String,
    reader: BufReader<std::process::ChildStderr>,
    told: String,
}

/// Starts a dealer with these words, on a port of its own.
fn deal(words: &[&str]) -> Dealer {
    deal_with(command(&[&["dealer", "--listen", "127.0.0.1:0"], words].concat()))
}

/// Starts this dealer.
fn deal_with(mut command: Command) -> Dealer {
    let mut child = command.spawn().unwrap();
    let mut reader = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    let address = loop {
        let start = told.len();
        assert!(reader.read_line(&mut told).unwrap() > 0, "ended before it listened: {told}");
        if let Some(address) = told[start..].strip_prefix("listening on ") {
            break address.trim().to_string();
        }
    };
    Dealer { child, address, reader, told }
}

impl Dealer {
    /// Waits for its end.
    fn end(mut self) -> Ended {
        self.reader.read_to_string(&mut self.told).unwrap();
        Ended { err: self.told, ..end(self.child) }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Two parties and a dealer that share a folder.
struct Town {
    keys: Keys,
    dealer_key: String,
    dealer_print: String,
}

impl Town {
    fn new() -> Town {
        let keys = keys();
        let dealer_key = keys.folder.path().join("d.key").to_string_lossy().into_owned();
        let print = symbolon(&["keygen", "--out", &dealer_key]).expect(0).out;
        Town { keys, dealer_key, dealer_print: print.trim().to_string() }
    }

    fn folder(&self) -> &Path {
        self.keys.folder.path()
    }

    fn path(&self, name: &str) -> String {
        self.folder().join(name).to_string_lossy().into_owned()
    }

    /// Starts a dealer for both parties, with more words.
    fn deal(&self, more: &[&str]) -> Dealer {
        let Keys { print_a, print_b, .. } = &self.keys;
        let words = ["--key", &self.dealer_key, "--allow", print_a, "--allow", print_b];
        deal(&[&words[..], more].concat())
    }

    /// Starts both parties with the same words, each with its own, and with a dealer at this
    /// address.
    fn both(&self, words: &[&str], own: [&[&str]; 2], dealer: Option<&str>) -> [Child; 2] {
        let address = free_address();
        let Keys { print_a, print_b, .. } = &self.keys;
        let sides = [("a", print_b, "listen"), ("b", print_a, "connect")];
        let start = |party: usize| {
            let (name, print, meet) = sides[party];
            let mut settings = format!(
                "party = {party}\n{meet} = \"{address}\"\nkey = \"{name}.key\"\npeer_fingerprint = \"{print}\"\n\
                 timeout = 20\nstore = \"{name}.store\"\n"
            );
            if let Some(dealer) = dealer {
                let print = &self.dealer_print;
                settings += &format!("dealer = \"{dealer}\"\ndealer_fingerprint = \"{print}\"\n");
            }
            let path = self.path(&format!("{party}.toml"));
            std::fs::write(&path, settings).unwrap();
            let words = [words, &["--costs", "--config", &path], own[party]].concat();
            command(&words).spawn().unwrap()
        };
        [start(0), start(1)]
    }

    fn look(&self, party: usize, what: &str) -> String {
        let store = self.path(["a.store", "b.store"][party]);
        symbolon(&["store", what, &store]).expect(0).out
    }
}

#[test]
fn three_processes_over_tls() {
    let town = Town::new();
    let dealer = town.deal(&["--sessions", "2"]);
    let at = Some(dealer.address.as_str());
    for ended in town.both(&["run", "aes128"], INPUTS, at).map(end) {
        let ended = ended.expect(0).says(&["warning", TRUST, "OT none", &town.dealer_print]);
        assert_eq!(ended.out, CIPHERTEXT);
    }
    for ended in town.both(&["run", "aes128", "--json"], INPUTS, at).map(end) {
        let json = ended.expect(0).says(&[TRUST]).json();
        assert_eq!(json["dealer"], *town.dealer_print);
        assert_eq!(json["ot"], "none");
        let phases: Vec<_> =
            json["phases"].as_array().unwrap().iter().map(|p| &p["phase"]).collect();
        assert_eq!(phases, ["setup", "independent", "dependent", "online"]);
    }
    let dealt = dealer.end().expect(0).says(&["warning", "learns all inputs", &town.dealer_print]);
    let lines: Vec<&str> = dealt.out.lines().collect();
    assert_eq!(lines.len(), 2, "{}", dealt.out);
    for line in lines {
        assert!(line.starts_with("served ") && line.contains("2 parties, 6400 AND gates"));
    }
}

#[test]
fn a_pool_is_dealt_one_day_and_used_on_others() {
    let town = Town::new();
    let dealer = town.deal(&["--sessions", "1"]);
    let pool = ["preprocess", "--gates", "13000", "--input-bits", "300"];
    for ended in town.both(&pool, [&[], &[]], Some(&dealer.address)).map(end) {
        assert!(ended.expect(0).says(&[TRUST]).out.contains("13056 AND gates"));
    }
    dealer.end().expect(0);
    // The dealer is gone, only its material is left; the settings still name it.
    let nowhere = Some("127.0.0.1:9");
    for ended in town.both(&["prepare", "aes128"], [&[], &[]], nowhere).map(end) {
        ended.expect(0).says(&[
            TRUST,
            "1 of 1 from pools",
            "1 of 1 made with the dealer's material",
        ]);
    }
    for party in [0, 1] {
        let listed = town.look(party, "ls");
        let mark = format!("dealer {}…", &town.dealer_print[..8]);
        assert_eq!(listed.matches(&mark).count(), 2, "{listed}");
        assert_eq!(town.look(party, "verify").matches("whole").count(), 2);
    }
    for ended in town.both(&["run", "aes128", "--prepared"], INPUTS, None).map(end) {
        ended.expect(2).says(&["not trusted here", &town.dealer_print]);
    }
    for ended in town.both(&["run", "aes128", "--prepared"], INPUTS, nowhere).map(end) {
        let ended = ended.expect(0).says(&[TRUST, "it was made with material of the dealer"]);
        assert_eq!(ended.out, CIPHERTEXT);
    }
    let listed = symbolon(&["store", "ls", &town.path("a.store"), "--json"]).expect(0).json();
    assert!(
        listed["items"].as_array().unwrap().iter().all(|item| item["dealer"] == *town.dealer_print)
    );
}

#[test]
fn every_protocol_takes_what_is_dealt() {
    let town = Town::new();
    let dealer = town.deal(&["--sessions", "4"]);
    let at = Some(dealer.address.as_str());
    for how in [
        &["--protocol", "wrk", "--form", "four-row"][..],
        &["--protocol", "wrk", "--form", "half-gates"],
        &["--protocol", "ywz"],
    ] {
        for ended in town.both(&[&["run", "aes128"], how].concat(), INPUTS, at).map(end) {
            let ended = ended.expect(0).says(&[TRUST, "OT none", "dealt by"]);
            assert_eq!(ended.out, CIPHERTEXT, "{how:?}");
        }
    }
    let (x, y) = (town.path("x.txt"), town.path("y.txt"));
    std::fs::write(&x, "1\n20\n250\n").unwrap();
    std::fs::write(&y, "5\n6\n7\n").unwrap();
    let (x, y) = (format!("x=@{x}"), format!("y=@{y}"));
    let batch = ["run", "add:8", "--protocol", "tinytable", "--batch", "3"];
    for ended in town.both(&batch, [&["--input", &x], &["--input", &y]], at).map(end) {
        assert_eq!(ended.expect(0).says(&[TRUST]).out, "6\n26\n1\n");
    }
    dealer.end().expect(0);
}

#[test]
fn a_batch_is_prepared_from_a_dealt_pool() {
    let town = Town::new();
    let dealer = town.deal(&["--sessions", "1"]);
    let pool = ["preprocess", "--gates", "2000", "--input-bits", "800", "--protocol", "ywz"];
    for ended in town.both(&pool, [&[], &[]], Some(&dealer.address)).map(end) {
        ended.expect(0);
    }
    dealer.end().expect(0);
    let nowhere = Some("127.0.0.1:9");
    let batch = ["--protocol", "tinytable", "--batch", "100"];
    let prepare = [&["prepare", "add:8"][..], &batch].concat();
    for ended in town.both(&prepare, [&[], &[]], nowhere).map(end) {
        ended.expect(0).says(&["1 of 1 from pools", "1 of 1 made with the dealer's material"]);
    }
    let run = [&["run", "add:8", "--prepared"][..], &batch].concat();
    let own = [&["--input", "x=2"][..], &["--input", "y=40"]];
    for ended in town.both(&run, own, nowhere).map(end) {
        assert_eq!(ended.expect(0).out, "42\n".repeat(100));
    }
}

#[test]
fn three_parties_and_a_dealer_are_four_processes() {
    let town = Town::new();
    let key = town.path("c.key");
    let print_c = symbolon(&["keygen", "--out", &key]).expect(0).out.trim().to_string();
    let dealer = town.deal(&["--allow", &print_c, "--sessions", "1"]);
    let Keys { print_a, print_b, .. } = &town.keys;
    let (print, at) = (&town.dealer_print, &dealer.address);
    let mut file = format!(
        "circuit = \"auction:3x8\"\ntimeout = 20\ndealer = \"{at}\"\ndealer_fingerprint = \"{print}\"\n"
    );
    for (id, print) in [print_a, print_b, &print_c].into_iter().enumerate() {
        let address = free_address();
        file +=
            &format!("[[party]]\nid = {id}\naddress = \"{address}\"\nfingerprint = \"{print}\"\n");
    }
    let path = town.path("auction.toml");
    std::fs::write(&path, file).unwrap();
    let bids = ["120", "130", "95"];
    let parties = [0, 1, 2].map(|party| {
        let (key, bid) = (town.path(["a.key", "b.key", "c.key"][party]), bids[party]);
        let (number, bid) = (party.to_string(), format!("bid_{party}={bid}"));
        let words = [
            "run", "--config", &path, "--party", &number, "--key", &key, "--input", &bid, "--costs",
        ];
        command(&words).spawn().unwrap()
    });
    let prices = ["0", "120", "0"];
    for (party, ended) in parties.map(end).into_iter().enumerate() {
        let ended = ended.expect(0).says(&[TRUST, "dealt by"]);
        assert_eq!(ended.out, format!("winner = 1\nprice_{party} = {}\n", prices[party]));
    }
    let dealt = dealer.end().expect(0);
    assert!(dealt.out.contains("3 parties, "), "{}", dealt.out);
}

/// Connections that send nothing, or rubbish, or one byte from time to time, as long as the dealer
/// lets them.
#[test]
fn strangers_at_the_door_keep_no_party_out() {
    let town = Town::new();
    let dealer = town.deal(&["--sessions", "2"]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for stranger in 0..4 {
            let (address, done) = (&dealer.address, &done);
            // A TLS record that never ends, plain nonsense, and silence.
            let word: &[u8] =
                [&b"\x16\x03\x01\x02\x00"[..], b"GET / HTTP/1.1\r\n\r\n", b""][stranger % 3];
            scope.spawn(move || {
                let mut held = Vec::new();
                while !done.load(Ordering::SeqCst) {
                    if held.len() < 40
                        && let Ok(mut socket) = TcpStream::connect(address)
                    {
                        let _ = socket.write_all(word);
                        held.push(socket);
                    }
                    // A stranger that was dropped connects again.
                    held.retain_mut(|socket| socket.write_all(&[1]).is_ok());
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
        }
        std::thread::sleep(Duration::from_millis(300));
        let ended =
            [(); 2].map(|()| town.both(&["run", "aes128"], INPUTS, Some(&dealer.address)).map(end));
        done.store(true, Ordering::SeqCst);
        for ended in ended.into_iter().flatten() {
            assert_eq!(ended.expect(0).out, CIPHERTEXT);
        }
    });
    let dealt = dealer.end().expect(0);
    assert_eq!(dealt.out.matches("served ").count(), 2, "{}", dealt.out);
}

/// Makes strangers hold as many slots as they get, in sessions that never complete, each over a
/// connection of its own.
fn strangers(address: &str, dealer: Option<&str>, sessions: u8, each: u16) -> Vec<Channel> {
    let call = |session: u8, identities: &[Identity], party: u16| {
        let print = dealer.map(|print| print.parse().unwrap());
        let meter = Meter::new();
        let mut options = match print {
            Some(_) => Options::tls(party, &identities[usize::from(party)], meter).unwrap(),
            None => Options::insecure_plain_tcp(party, meter),
        };
        options.connect_timeout = Duration::from_secs(60);
        let host = print.map_or(Peer::unauthenticated(DEALER), |print| Peer::pinned(DEALER, print));
        let mut lane = connect_lanes(&options, address, &host, 1).unwrap().remove(0);
        let keys = identities.iter().map(Identity::fingerprint).collect();
        let input_bits = vec![1; 256];
        let session = [session; 32];
        let request = Request {
            session,
            party: party.into(),
            evaluator: 0.into(),
            and_gates: 1,
            input_bits,
            keys,
        };
        let (head, table) = request.encode();
        // One that was already dropped does as well.
        let _ = lane.send(Kind::new("dealer request"), &head);
        let _ = lane.send(Kind::new("dealer request: parties"), &table).and_then(|()| lane.flush());
        lane
    };
    std::thread::scope(|scope| {
        let session = |session: u8| {
            scope.spawn(move || {
                let keys = if dealer.is_some() { 256 } else { 0 };
                let keys: Vec<_> = (0..keys).map(|_| Identity::generate().unwrap()).collect();
                (0..each).map(|party| call(session, &keys, party)).collect::<Vec<_>>()
            })
        };
        let all: Vec<_> = (0..sessions).map(session).collect();
        all.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

/// The dealer may have 1 024 files and connections; a thousand strangers take all that it gives
/// them.
/// Cheat: 1 000 strangers | a dealer's slots | every slot and descriptor taken | the dealer's caps
/// | always
#[test]
fn a_thousand_strangers_keep_nobody_from_a_dealer_for_anybody() {
    assert!(symbolon_transport::descriptor_limit(4096).is_none_or(|limit| limit > 1500));
    let town = Town::new();
    for tls in [true, false] {
        let how: &[&str] = match tls {
            true => &["--key", &town.dealer_key, "--allow-any"],
            false => &["--transport", "tcp"],
        };
        let words = [&["dealer", "--listen", "127.0.0.1:0", "--sessions", "1"], how].concat();
        let dealer = deal_with(limited("ulimit -n 1024", &words));
        let print = tls.then_some(town.dealer_print.as_str());
        let held = strangers(&dealer.address, print, 4, 250);
        let parties = match tls {
            true => town.both(&["run", "aes128"], INPUTS, Some(&dealer.address)),
            false => plain_pair(&dealer.address),
        };
        for ended in parties.map(end) {
            assert_eq!(ended.expect(0).out, CIPHERTEXT);
        }
        assert_eq!(held.len(), 1000);
        let dealt = dealer.end().expect(0);
        assert!(dealt.out.contains("too many parties"), "{}", dealt.out);
        assert_eq!(dealt.out.matches("served ").count(), 1, "{}", dealt.out);
        drop(held);
    }
}

#[test]
fn a_dealer_without_enough_descriptors_says_so() {
    let words = ["dealer", "--listen", "127.0.0.1:0", "--transport", "tcp"];
    let ended = end(limited("ulimit -n 300", &words).spawn().unwrap());
    let ended = ended.expect(71).says(&["needs at least", "ulimit -n"]);
    assert!(!ended.err.contains("listening on"), "a party would come in vain: {}", ended.err);
    // The same for the one of `local`, whose parties would only see that it has gone.
    let words = ["local", "add:8", "--dealer", "--input", "x=1", "--input", "y=2"];
    let ended = end(limited("ulimit -n 300", &words).spawn().unwrap());
    ended.expect(71).says(&["needs at least", "ulimit -n"]);
}

#[test]
fn parties_name_one_dealer_and_its_own_key() {
    let town = Town::new();
    let other = symbolon(&["keygen", "--out", &town.path("e.key")]).expect(0).out;
    let other = &other.trim().to_string();
    let dealer = town.deal(&["--join-timeout", "1"]);
    let at = Some(dealer.address.as_str());
    let run = ["run", "aes128"];
    // One of them pins another key of the dealer.
    let own = [[INPUTS[0], &["--dealer-fingerprint", other]].concat(), INPUTS[1].to_vec()];
    for ended in town.both(&run, [&own[0], &own[1]], at).map(end) {
        ended.expect(4).says(&["disagree on dealer", other, &town.dealer_print]);
    }
    // Both pin a key that the dealer does not have.
    let own = INPUTS.map(|input| [input, &["--dealer-fingerprint", other]].concat());
    let ended = town.both(&run, [&own[0], &own[1]], at).map(end);
    for ended in ended {
        assert_eq!(ended.expect(3).out, "");
    }
    dealer.kill();
    // A dealer that lets only one of them in.
    let only = ["--key", &town.dealer_key, "--allow", &town.keys.print_b, "--join-timeout", "1"];
    let dealer = deal(&only);
    let [zero, one] = town.both(&run, INPUTS, Some(&dealer.address)).map(end);
    zero.expect(3).says(&["--allow this party's key"]);
    one.expect(3).says(&["missing: 0", "--join-timeout"]);
    dealer.kill();
}

/// Returns the bytes of all files below a folder, if it exists.
fn size_of(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(about) if about.is_dir() => size_of(&entry.path()),
        Ok(about) => about.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}

#[test]
fn a_dealer_that_is_not_there_or_dies_is_told_and_nothing_is_kept() {
    let town = Town::new();
    let run = ["run", "aes128", "--timeout", "1"];
    for ended in town.both(&run, INPUTS, Some("127.0.0.1:9")).map(end) {
        let ended = ended.expect(3);
        assert_eq!(ended.out, "");
        let told = ended.err.contains("is the dealer started") || ended.err.contains("aborted");
        assert!(told, "{}", ended.err);
    }
    // More than can be dealt before the end.
    let dealer = town.deal(&[]);
    let pool = ["preprocess", "--gates", "30000000", "--input-bits", "8"];
    let parties = town.both(&pool, [&[], &[]], Some(&dealer.address));
    let drafts = Path::new(&town.path("a.store")).join("drafts");
    while size_of(&drafts) < 4 << 20 {
        std::thread::sleep(Duration::from_millis(5));
    }
    dealer.kill();
    for ended in parties.map(end) {
        let ended = ended.expect(3);
        let told = ended.err.contains("nothing that was dealt is used twice")
            || ended.err.contains("lost the connection with the dealer");
        assert!(told, "{}", ended.err);
    }
    for party in [0, 1] {
        assert!(!town.look(party, "ls").contains("pool"));
        assert!(town.look(party, "gc").starts_with("no longer listed: 0 used or void items;"));
    }
}

#[test]
fn all_parties_on_this_machine_may_have_a_dealer() {
    let inputs = [INPUTS[0], INPUTS[1]].concat();
    for transport in ["tls", "tcp", "memory"] {
        for parties in ["2", "3"] {
            let words = ["local", "aes128", "--dealer", "--transport", transport, "--costs"];
            let words = [&words[..], &["--parties", parties], &inputs].concat();
            let ended = symbolon(&words).expect(0).says(&[TRUST, "independent"]);
            assert_eq!(ended.out, CIPHERTEXT);
        }
    }
    let words = ["bench", "add:8", "--dealer", "--protocol", "tinytable", "--json"];
    let json = symbolon(&words).expect(0).json();
    assert_eq!(json["measurements"][0]["dealer"], "unauthenticated");
    symbolon(&["bench", "triples", "--dealer"]).expect(2).says(&["--dealer"]);
    // Without a dealer, nobody is trusted.
    let json = symbolon(&[&["local", "aes128", "--json"][..], &inputs].concat()).expect(0).json();
    assert_eq!(json["dealer"], serde_json::Value::Null);
}

/// Starts two parties over plain TCP, with a dealer at this address.
fn plain_pair(dealer: &str) -> [Child; 2] {
    let address = free_address();
    let start = |party: usize, meet: &str| {
        let party_text = party.to_string();
        let words = ["run", "aes128", "--party", &party_text, meet, &address, "--timeout", "20"];
        let how = ["--transport", "tcp", "--dealer", dealer];
        command(&[&words[..], &how, INPUTS[party]].concat()).spawn().unwrap()
    };
    [start(0, "--listen"), start(1, "--connect")]
}

#[test]
fn plain_tcp_is_asked_for_by_name() {
    let dealer = deal(&["--transport", "tcp", "--sessions", "1"]);
    for ended in plain_pair(&dealer.address).map(end) {
        let ended = ended.expect(0).says(&[TRUST, "neither private nor authenticated"]);
        assert_eq!(ended.out, CIPHERTEXT);
    }
    dealer.end().expect(0).says(&["neither private nor authenticated", "any party's slot"]);
}

#[test]
fn mistakes_are_told() {
    let town = Town::new();
    let key = town.dealer_key.as_str();
    let listen = ["dealer", "--listen", "127.0.0.1:0"];
    for (more, told) in [
        (&[][..], "--key FILE"),
        (&["--key", key], "--allow FINGERPRINT"),
        (&["--key", key, "--allow", "xyz"], "fingerprint"),
        (&["--key", key, "--allow-any", "--join-timeout", "0"], "--join-timeout"),
        (&["--key", key, "--allow-any", "--at-once", "0"], "--at-once"),
        (&["--transport", "tcp", "--key", key], "plain TCP uses no key"),
    ] {
        symbolon(&[&listen[..], more].concat()).expect(2).says(&[told]);
    }
    let run = ["run", "aes128", "--party", "0", "--listen", "127.0.0.1:0", "--key", key];
    let run = [&run[..], &["--peer-fingerprint", &town.keys.print_a], INPUTS[0]].concat();
    for (more, told) in [
        (&["--dealer", "h:1"][..], "--dealer-fingerprint"),
        (&["--dealer-fingerprint", &town.dealer_print], "--dealer HOST:PORT"),
        (&["--dealer", "h:1", "--dealer-fingerprint", &town.keys.print_b, "--ot", "iknp"], "no OT"),
        // A party that is also the dealer, whether this one or the peer, knows everything.
        (&["--dealer", "h:1", "--dealer-fingerprint", &town.dealer_print], "key of party 0"),
        (&["--dealer", "h:1", "--dealer-fingerprint", &town.keys.print_a], "key of party 1"),
    ] {
        symbolon(&[&run[..], more].concat()).expect(2).says(&[told]);
    }
    for words in [["dealer", "--help"], ["run", "--help"], ["preprocess", "--help"]] {
        let help = symbolon(&words).expect(0).out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains("learns all inputs and can change any output"), "{words:?}: {help}");
        assert!(help.contains("lone it can spoil outputs"), "{words:?}: {help}");
    }
    for words in [["local", "--help"], ["bench", "--help"]] {
        let help = symbolon(&words).expect(0).out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains("trust a dealer with all their inputs"), "{words:?}: {help}");
    }
}
