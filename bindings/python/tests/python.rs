//! Runs the package's tests in Python with the extension as this workspace builds it, beside the
//! nodes of two parties, which live in this process. Tests of the wheel, in a fresh environment,
//! are `.ci/python`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use symbolon::circuit::{Circuit, builtin};
use symbolon::zeroize::Zeroizing;
use symbolon::{Identity, Listener, Protocol, SessionParams};
use symbolon_lang::{Options, compile_text};
use symbolon_service::{
    Door, DoorConfig, FunctionConfig, Node, NodeConfig, Party, PublicDoorConfig, Token,
};

/// What the node of party 1 wants to hear on loopback.
const TOKEN: &str = "a-token-of-this-test";

const LARGER: &str = "
struct Pair { low: u8, high: u16 }
fn main(x: [u32; 4] from 0, by: Pair from 1) -> (y: [u32; 4] to all, pair: Pair to 0) {
    let mut y = x;
    for i in 0..4 { y[i] = x[3 - i] + by.high as u32; }
    (y, by)
}";

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

fn library() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let folder = here.parent().unwrap();
    let name =
        format!("{}symbolon_python{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    folder.join(name)
}

/// The Python that `SYMBOLON_PYTHON` names, or the machine's.
fn python() -> Command {
    Command::new(std::env::var_os("SYMBOLON_PYTHON").unwrap_or_else(|| "python3".into()))
}

/// Whether this Python can run the tests; says what it lacks.
fn has_what_it_takes() -> bool {
    let probe = "import sys, numpy, pytest; assert sys.version_info >= (3, 10)";
    let found = python().args(["-c", probe]).output();
    let found = found.is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("NOT CHECKED: Python 3.10 with numpy and pytest is not installed");
    }
    found
}

/// The nodes of two parties.
struct Service {
    _doors: Vec<Door>,
    /// As the tests read it: the socket of party 0, the address of party 1 on loopback and its
    /// token, and the doors for clients.
    about: String,
}

impl Service {
    fn start(folder: &Path) -> Service {
        let listeners: Vec<Listener> =
            (0..2).map(|_| Listener::bind("127.0.0.1:0").unwrap()).collect();
        let identities: Vec<Arc<Identity>> =
            (0..2).map(|_| Arc::new(Identity::generate().unwrap())).collect();
        let party = |(listener, identity): (&Listener, &Arc<Identity>)| {
            Party::new(Some(listener.local_addr().to_string()), identity.fingerprint())
        };
        let parties: Vec<Party> = listeners.iter().zip(&identities).map(party).collect();
        let start = |(party, (listener, identity))| {
            let config = NodeConfig {
                party: u16::into(party),
                identities: vec![identity],
                parties: parties.clone(),
                listener: Some(listener),
                functions: functions(),
                timeout: Duration::from_secs(20),
                state: None,
                store: None,
            };
            Arc::new(Node::start(config).unwrap())
        };
        let nodes: Vec<Arc<Node>> =
            (0..).zip(listeners.into_iter().zip(identities)).map(start).collect();
        let socket = folder.join("door");
        let token = Token::new(Zeroizing::new(TOKEN.to_string())).unwrap();
        let loopback = DoorConfig::Loopback("127.0.0.1:0".parse().unwrap(), token);
        let public = |node: &Arc<Node>| {
            let address = "127.0.0.1:0".parse().unwrap();
            let config =
                PublicDoorConfig { address, tls: None, origins: Vec::new(), nodes: Vec::new() };
            Door::open_public(node.clone(), &config).unwrap()
        };
        let doors = vec![
            Door::open(nodes[0].clone(), &DoorConfig::Socket(socket.clone())).unwrap(),
            Door::open(nodes[1].clone(), &loopback).unwrap(),
            public(&nodes[0]),
            public(&nodes[1]),
        ];
        let at = |door: usize| doors[door].address().unwrap();
        let (address, zero, one) = (at(1), at(2), at(3));
        let socket = socket.display();
        let about = format!("{socket} {address} {TOKEN} http://{zero} http://{one}");
        Service { _doors: doors, about }
    }
}

fn functions() -> Vec<FunctionConfig> {
    let compiled = |text: &str| {
        let options = Options { parties: Some(2), ..Options::default() };
        Arc::new(compile_text(text, &options).unwrap())
    };
    let function = |name: &str, circuit: Arc<Circuit>| FunctionConfig {
        ready: 2,
        low: 1,
        side_by_side: 1,
        wait: Duration::from_secs(60),
        ..FunctionConfig::new(name.parse().unwrap(), circuit, SessionParams::new(Protocol::Wrk))
    };
    let adder = Arc::new(builtin::by_name("add:16").unwrap());
    vec![
        function("add", adder),
        function("larger", compiled(LARGER)),
        function("auction", compiled(AUCTION)),
    ]
}

/// Creates a folder that nobody else may enter.
fn private_folder(within: &Path) -> PathBuf {
    let folder = within.join("service");
    std::fs::create_dir(&folder).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    folder
}

/// Copies a package, with those in it.
fn copy_modules(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        let copy = to.join(file.file_name());
        match file.file_type().unwrap().is_dir() {
            true if file.file_name() == "__pycache__" => {}
            true => copy_modules(&file.path(), &copy),
            false => drop(std::fs::copy(file.path(), copy).unwrap()),
        }
    }
}

/// Returns two lists of test files, with every file on one of them.
fn test_files(package: &Path) -> [Vec<PathBuf>; 2] {
    let entries = std::fs::read_dir(package.join("tests")).unwrap();
    let is_test = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("test_") && name.ends_with(".py"))
    };
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.unwrap().path()).filter(is_test).collect();
    files.sort_unstable();
    assert!(files.len() > 10, "{files:?}");
    let later = files.split_off(files.len() / 2);
    [files, later]
}

#[test]
fn the_package_s_tests_pass() {
    if !has_what_it_takes() {
        return;
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("symbolon");
    copy_modules(&here.join("python/symbolon"), &package);
    std::fs::copy(library(), package.join("_symbolon.abi3.so")).unwrap();
    let service = cfg!(unix).then(|| Service::start(&private_folder(folder.path())));
    // Two at a time: most of them wait for most of their time.
    let run = |files: Vec<PathBuf>| {
        let mut tests = python();
        tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).args(files);
        tests.current_dir(here).env("PYTHONPATH", folder.path());
        tests.env("PYTHONDONTWRITEBYTECODE", "1");
        tests.envs(service.as_ref().map(|service| ("SYMBOLON_TEST_SERVICE", &service.about)));
        tests.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    for ended in test_files(here).map(run).map(|tests| tests.wait_with_output().unwrap()) {
        let said = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success(), "{said}\n{}", String::from_utf8_lossy(&ended.stderr));
    }
}
