//! Work ahead of time: `preprocess`, `prepare`, `run --prepared`, and `store`.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use symbolon::store::{Filter, Protection, Store};

use crate::common::pair::Pair;
use crate::common::{self, command, symbolon};

#[test]
fn monday_tuesday_wednesday() {
    let pair = Pair::new();
    let fill = ["preprocess", "--gates", "300", "--input-bits", "64", "--costs"];
    for ended in pair.both(&fill, [&[]; 2]) {
        let ended = ended.expect(0).says(&["independent"]);
        assert!(ended.out.contains("384 AND gates and 64 input bits"), "{}", ended.out);
    }
    for ended in pair.both(&["preprocess", "--gates", "384", "--input-bits", "9"], [&[]; 2]) {
        assert!(ended.expect(0).out.starts_with("there is enough already"));
    }
    let [zero, one] = pair.both(&["prepare", "add:8", "--count", "2"], [&[]; 2]);
    let (zero, one) = (zero.expect(0).says(&["2 of 2 from pools"]), one.expect(0));
    assert_eq!((&zero.out, zero.out.lines().count()), (&one.out, 2));
    let items: Vec<&str> = zero.out.lines().filter_map(|line| line.split(' ').nth(1)).collect();

    let [zero, one] = pair.add("200", "100");
    let (zero, one) = (zero.expect(0), one.expect(0));
    assert_eq!((zero.out.as_str(), one.out.as_str()), ("sum = 44\n", "sum = 44\n"));
    assert!(!zero.err.contains("dependent"), "nothing is prepared now: {}", zero.err);

    let listed = pair.look(0, "ls").expect(0).out;
    assert!(listed.contains("used") && listed.contains("1 run") && listed.contains("pool"));
    for party in [0, 1] {
        assert_eq!(pair.look(party, "verify").expect(0).out.matches("whole").count(), 2);
        assert!(
            pair.look(party, "gc")
                .expect(0)
                .out
                .starts_with("no longer listed: 1 used or void item;")
        );
    }
    let mut export = pair.store(0);
    let left = items.iter().find(|item| pair.look(0, "ls").out.contains(**item)).unwrap();
    export.push(left.to_string());
    let export: Vec<&str> = export.iter().map(String::as_str).collect();
    let about = symbolon(&[&["store", "export"], &export[..]].concat()).expect(0).json();
    assert_eq!(about["id"], **left);

    // What was prepared for one run is not wasted on a batch.
    let batch = ["run", "add:8", "--prepared", "--batch", "2"];
    let [zero, one] = pair.both(&batch, [&["--input", "x=1"], &["--input", "y=2"]]);
    zero.expect(2).says(&["wrk"]);
    one.expect(2).says(&["wrk"]);
    assert_eq!(pair.add("1", "2")[0].out, "sum = 3\n");
    for ended in pair.add("1", "2") {
        ended.expect(2).says(&["prepare it together"]);
    }
}

/// Each group has a session, and so a Δ, of its own.
#[test]
fn prepared_circuits_are_spread_over_groups() {
    let pair = Pair::unlocked();
    let spread = ["prepare", "add:8", "--count", "5", "--side-by-side", "2"];
    let [zero, one] = pair.both(&spread, [&["--json"], &[]]);
    let (zero, one) = (zero.expect(0).json(), one.expect(0).out);
    let items: Vec<&str> = one.lines().filter_map(|line| line.strip_prefix("prepared ")).collect();
    assert_eq!(zero["items"], serde_json::json!(items));
    // The costs of both sessions are added up.
    let phases = zero["parties"][0]["phases"].as_array().unwrap();
    assert_eq!(phases.iter().filter(|phase| phase["phase"] == "dependent").count(), 1);
    for store in [pair.path("a.store"), pair.path("b.store")] {
        let store = Store::open(store, &Protection::None).unwrap();
        let mut groups = std::collections::BTreeMap::new();
        for item in store.available_items(&Filter::default()).unwrap() {
            *groups.entry(item.group).or_insert(0) += 1;
        }
        let mut sizes: Vec<usize> = groups.into_values().collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [2, 3]);
    }
    for ended in pair.add("40", "2") {
        assert_eq!(ended.expect(0).out, "sum = 42\n");
    }
    let config = ["--config", &pair.path("0.toml")];
    let refused = |words: &[&str]| symbolon(&[words, &config].concat()).expect(2);
    refused(&["prepare", "add:8", "--side-by-side", "2"]).says(&["as many groups"]);
    refused(&[&spread[..], &["--from-pools"]].concat()).says(&["leave out --from-pools"]);
}

/// Parties that were asked for different things are not accused of cheating.
#[test]
fn a_parameter_on_one_side_only_is_named_on_both_and_nobody_is_accused() {
    let pair = Pair::unlocked();
    for words in [&["prepare", "add:8"][..], &["preprocess", "--gates", "128"]] {
        for ended in pair.both(words, [&["--segment-gates", "1000"], &[]]) {
            ended.expect(4).says(&["segment_gates", "1000", "1048576"]);
        }
    }
}

/// Killed processes waste material, and the rest still works.
#[test]
fn a_run_that_is_killed_wastes_at_most_one_circuit() {
    let pair = Pair::new();
    for ended in pair.both(&["prepare", "add:8", "--count", "6"], [&[]; 2]) {
        ended.expect(0);
    }
    for millis in [0, 4, 8, 12, 20] {
        pair.meet();
        let start = |party: &str, input: &str| {
            let config = pair.path(&format!("{party}.toml"));
            let words = ["run", "add:8", "--prepared", "--config", &config, "--input", input];
            command(&words).spawn().unwrap()
        };
        let (mut zero, mut one) = (start("0", "x=1"), start("1", "y=2"));
        std::thread::sleep(Duration::from_millis(millis));
        one.kill().unwrap();
        one.wait().unwrap();
        // A party that waited for the other would do so for a long time.
        std::thread::sleep(Duration::from_millis(100));
        let _ = zero.kill();
        let zero = zero.wait_with_output().unwrap();
        let said = String::from_utf8(zero.stdout).unwrap();
        assert!(said.is_empty() || said == "sum = 3\n", "{said}");
    }
    let used = pair.look(1, "ls").expect(0).out.matches("used").count();
    assert!(used <= 5, "one for each run");
    let [zero, one] = pair.add("40", "2");
    assert_eq!((zero.expect(0).out, one.expect(0).out), ("sum = 42\n".into(), "sum = 42\n".into()));
}

#[test]
fn mistakes_are_told() {
    let pair = Pair::new();
    pair.meet();
    let config = pair.path("1.toml");
    let without: String = std::fs::read_to_string(&config)
        .unwrap()
        .lines()
        .filter(|line| !line.starts_with("store"))
        .map(|line| format!("{line}\n"))
        .collect();
    let bare = pair.path("bare.toml");
    std::fs::write(&bare, without).unwrap();
    symbolon(&["preprocess", "--gates", "9", "--config", &bare]).expect(2).says(&["--store DIR"]);
    symbolon(&["preprocess", "--config", &bare]).expect(2).says(&["--gates"]);
    let with_ot = ["run", "add:8", "--prepared", "--ot", "iknp", "--config", &config];
    symbolon(&[&with_ot[..], &["--input", "y=1"]].concat()).expect(2).says(&["--ot"]);
    let unused = ["run", "add:8", "--store", "x", "--config", &bare, "--input", "y=1"];
    symbolon(&unused).expect(2).says(&["--prepared"]);
    symbolon(&["store", "ls", &pair.path("nowhere")]).expect(2).says(&["nowhere"]);
    for ended in pair.both(&["prepare", "add:8"], [&[]; 2]) {
        ended.expect(0);
    }
    // Party 0's store has a passphrase, and another one does not open it.
    symbolon(&["store", "ls", &pair.path("a.store")]).expect(2).says(&["passphrase"]);
    std::fs::write(pair.path("words"), "incorrect horse\n").unwrap();
    pair.look(0, "ls").expect(2).says(&["cannot unlock"]);
    std::fs::write(pair.path("words"), "\n").unwrap();
    pair.look(0, "ls").expect(2).says(&["empty"]);
    symbolon(&["store", "export", &pair.path("b.store"), "zz"]).expect(2).says(&["hexadecimal"]);
    let key = pair.path("store.key");
    symbolon(&["store", "keygen", "--out", &key]).expect(0).says(&["wrote"]);
    symbolon(&["store", "ls", &pair.path("b.store"), "--store-key", &key]).expect(2);
    // A copy is refused, and resetting its ownership voids what is in it.
    let copy = pair.path("copy.store");
    let copied =
        std::process::Command::new("cp").args(["-r", &pair.path("b.store"), &copy]).status();
    assert!(copied.unwrap().success());
    symbolon(&["store", "ls", &copy]).expect(2).says(&["does not belong here"]);
    symbolon(&["store", "reset-ownership", &copy]).expect(0);
    assert!(!symbolon(&["store", "ls", &copy]).expect(0).out.contains("1 run"));
    // So is a store that was put back in place: its material has been used.
    std::fs::write(pair.path("words"), "correct horse\n").unwrap();
    let stores = [pair.path("a.store"), pair.path("b.store")];
    let copied = |from: String, to: String| {
        assert!(
            std::process::Command::new("cp").args(["-a", &from, &to]).status().unwrap().success()
        );
    };
    stores.iter().for_each(|store| copied(store.clone(), format!("{store}.backup")));
    for ended in pair.add("1", "2") {
        ended.expect(0);
    }
    stores.iter().for_each(|store| copied(format!("{store}.backup/."), store.clone()));
    for ended in pair.add("3", "4") {
        ended.expect(2).says(&["rolled back to an earlier state", "Reset its ownership"]);
    }
    // Anyone who can read the passphrase can open the store.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let open = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(pair.path("words"), open).unwrap();
        pair.look(0, "ls").expect(2).says(&["chmod 600"]);
    }
}

/// An item that `verify` finds damaged is void: the next run takes another, and wastes none of the
/// peers'.
#[test]
fn what_is_found_damaged_is_not_tried() {
    let pair = Pair::unlocked();
    let [zero, one] = pair.both(&["prepare", "add:8", "--count", "2"], [&[]; 2]);
    let mut items: Vec<String> =
        zero.expect(0).out.lines().map(|line| line["prepared ".len()..].to_string()).collect();
    one.expect(0);
    items.sort();
    let file = format!("{}/items/{}/0.bin", pair.path("b.store"), items[0]);
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let found = pair.look(1, "verify").expect(2).says(&["1 item is damaged; it is void now"]);
    assert!(found.out.contains("damaged") && found.out.contains("whole"), "{}", found.out);
    let listed = pair.look(1, "ls").expect(0).out;
    assert!(listed.contains("void: a file of it is damaged"), "{listed}");
    pair.look(1, "verify").expect(0);
    for ended in pair.add("5", "6") {
        assert_eq!(ended.expect(0).out, "sum = 11\n");
    }
}

/// A pool that is made for `ywz` serves batches of `tinytable`, in three processes on each side.
#[test]
fn a_batch_is_prepared_from_a_pool_and_run_later() {
    let pair = Pair::new();
    let pool = ["preprocess", "--gates", "2000", "--input-bits", "800", "--protocol", "ywz"];
    for ended in pair.both(&pool, [&[], &[]]) {
        ended.expect(0);
    }
    let batch = ["--protocol", "tinytable", "--batch", "100"];
    for ended in pair.both(&[&["prepare", "add:8"][..], &batch].concat(), [&[], &[]]) {
        ended.expect(0).says(&["1 of 1 from pools"]);
    }
    std::fs::write(pair.path("x"), (0..100).map(|x| format!("{x}\n")).collect::<String>()).unwrap();
    let x = format!("x=@{}", pair.path("x"));
    let run = [&["run", "add:8", "--prepared"][..], &batch].concat();
    let sums: String = (0..100).map(|x| format!("{}\n", x + 100)).collect();
    for ended in pair.both(&run, [&["--input", &x], &["--input", "y=100"]]) {
        assert_eq!(ended.expect(0).out, sums);
    }
    // The batch was used up, and nothing was prepared for single evaluations.
    let other = ["run", "add:8", "--prepared", "--protocol", "tinytable"];
    for words in [&run[..], &other] {
        for ended in pair.both(words, [&["--input", "x=1"], &["--input", "y=1"]]) {
            assert!(ended.expect(2).err.contains("prepare it together first"));
        }
    }
}

/// Reads lines of a child's standard output until `enough` of them are there.
fn read_lines(child: &mut std::process::Child, enough: usize) -> Vec<String> {
    use std::io::BufRead;
    let mut reader = std::io::BufReader::with_capacity(1, child.stdout.as_mut().unwrap());
    let mut lines = Vec::new();
    while lines.len() < enough {
        let mut line = String::new();
        assert!(reader.read_line(&mut line).unwrap() > 0, "it ended: {lines:?}");
        lines.push(line);
    }
    lines
}

/// Returns the number of AND gates that are left in pools.
fn gates_left(pair: &Pair, party: usize) -> u64 {
    let listed = pair.look_with(party, "ls", &["--json"]).expect(0).json();
    assert_eq!(listed["format"], "symbolon-store-1");
    assert_eq!(listed["writing"].as_array().unwrap().len(), 0, "what is not closed is gone");
    let items = listed["items"].as_array().unwrap().iter();
    items.map(|item| 128 * item["left"][0].as_u64().unwrap()).sum()
}

#[cfg(unix)]
#[test]
fn an_interrupted_night_goes_on_where_it_ended() {
    let pair = Pair::unlocked();
    let words = ["preprocess", "--gates", "65536", "--pool-gates", "2048"];
    for (round, (signal, code)) in [("-INT", 130), ("-TERM", 143)].into_iter().enumerate() {
        let [mut zero, mut one] = pair.start(&words, [&[]; 2]);
        let hit = if round == 0 { &mut zero } else { &mut one };
        let lines = read_lines(hit, 2);
        assert!(lines.iter().all(|line| line.contains("2048 AND gates")), "{lines:?}");
        let mut kill = std::process::Command::new("kill");
        assert!(kill.args([signal, &hit.id().to_string()]).status().unwrap().success());
        let [zero, one] = [zero, one].map(common::end);
        let (hit, other) = if round == 0 { (zero, one) } else { (one, zero) };
        hit.expect(code).says(&["interrupted", "the material made so far is kept", "to continue"]);
        other.expect(3).says(&["it was interrupted"]);
        let left = [0, 1].map(|party| gates_left(&pair, party));
        let least = 4096 * (round as u64 + 1);
        assert!(left.iter().all(|gates| (least..65536).contains(gates)), "{left:?}");
    }
    let left = [0, 1].map(|party| gates_left(&pair, party));
    for ended in pair.both(&words, [&[]; 2]) {
        let pools = ended.expect(0).out.lines().count() as u64;
        assert!(pools * 2048 + left.iter().max().unwrap() >= 65536);
        assert!(pools < 32, "what was closed is used");
    }
    assert!([0, 1].iter().all(|party| gates_left(&pair, *party) >= 65536));
    for ended in pair.both(&words, [&[]; 2]) {
        assert!(ended.expect(0).out.starts_with("there is enough already"));
    }
    let [zero, one] = pair.both(&["prepare", "aes128"], [&[]; 2]);
    for ended in [zero, one] {
        ended.expect(0);
    }
    let listed = pair.look(0, "ls").expect(0).out;
    assert!(listed.contains("aes128 ("), "{listed}");
}

/// Returns the number of AND gates in the pools that a failed command reports.
#[cfg(unix)]
fn gates_told(err: &str) -> u64 {
    let Some((_, rest)) = err.split_once("the material made so far is kept: pools with ") else {
        return 0;
    };
    rest.split(' ').next().unwrap().parse().unwrap()
}

/// Sends a signal, or several without a pause.
#[cfg(unix)]
fn send(child: &Child, signals: &[&str]) {
    let id = child.id();
    let kills: Vec<String> = signals.iter().map(|signal| format!("kill {signal} {id}")).collect();
    // From the second signal on, the process may have ended already.
    Command::new("sh").args(["-c", &kills.join("; ")]).stderr(Stdio::null()).status().unwrap();
}

/// The signal comes as a pool gets its place: the store has exactly the pools that are reported.
#[cfg(unix)]
#[test]
fn an_interruption_tells_of_all_that_stays() {
    for placed in 1..=4 {
        let pair = Pair::unlocked();
        let words = ["preprocess", "--gates", "65536", "--pool-gates", "2048"];
        let [mut zero, one] = pair.start(&words, [&[]; 2]);
        let items =
            || std::fs::read_dir(pair.folder().join("a.store/items")).map_or(0, Iterator::count);
        while items() < placed {
            assert_eq!(zero.try_wait().unwrap(), None);
            std::thread::sleep(Duration::from_micros(100));
        }
        send(&zero, &["-INT"]);
        let [zero, one] = [zero, one].map(common::end);
        let told = [zero.expect(130), one.expect(3)].map(|ended| gates_told(&ended.err));
        assert_eq!(told, [0, 1].map(|party| gates_left(&pair, party)));
    }
}

/// The second signal ends a process at any point: what it was writing is shown, and nothing else is
/// touched.
#[cfg(unix)]
#[test]
fn a_second_signal_leaves_a_store_that_goes_on() {
    let pair = Pair::unlocked();
    let words = ["preprocess", "--gates", "65536", "--pool-gates", "2048"];
    for round in 0..3 {
        let [mut zero, one] = pair.start(&words, [&[]; 2]);
        read_lines(&mut zero, 1);
        send(&zero, &["-INT", "-INT"]);
        let [zero, one] = [zero, one].map(common::end);
        zero.expect(130);
        // Whether or not there was time to report it.
        let said = one.expect(3).err;
        assert!(said.contains("party 0"), "{said}");
        pair.look(0, "verify").expect(0);
        let listed = pair.look_with(0, "ls", &["--json"]).expect(0).json();
        assert!(listed["items"].as_array().unwrap().len() > round, "{listed}");
        let writing = listed["writing"].as_array().unwrap();
        assert!(writing.iter().all(|draft| draft["alive"] == false), "{listed}");
        let shown = pair.look(0, "ls").expect(0).out.matches("half-written: gc removes it").count();
        assert_eq!(shown, writing.len());
    }
    for ended in pair.both(&words, [&[]; 2]) {
        ended.expect(0);
    }
    pair.look(0, "gc").expect(0);
    assert_eq!(gates_left(&pair, 0), gates_left(&pair, 1));
    for ended in pair.both(&["prepare", "aes128"], [&[]; 2]) {
        ended.expect(0);
    }
}

#[test]
fn pools_of_different_sizes_are_a_difference() {
    let pair = Pair::unlocked();
    for ended in pair.both(&["preprocess", "--gates", "999"], [&["--pool-gates", "500"], &[]]) {
        ended.expect(4).says(&["pool_gates", "500", "16777216"]);
    }
}

#[test]
fn a_store_is_encrypted_and_goes_on() {
    let pair = Pair::unlocked();
    for ended in pair.both(&["prepare", "add:8", "--count", "2"], [&[]; 2]) {
        ended.expect(0);
    }
    for ended in pair.add("1", "2") {
        assert_eq!(ended.expect(0).out, "sum = 3\n");
    }
    let store = pair.path("a.store");
    symbolon(&["store", "encrypt", &store]).expect(2).says(&["--new-store-key"]);
    let words = pair.path("words");
    let encrypt = ["store", "encrypt", &store, "--new-store-passphrase", &words];
    symbolon(&encrypt).expect(0).says(&["encrypted"]);
    symbolon(&encrypt).expect(2).says(&["passphrase"]);
    symbolon(&["store", "ls", &store]).expect(2).says(&["passphrase"]);
    let own = ["--input", "x=40", "--store-passphrase", &words];
    let both = pair.both(&["run", "add:8", "--prepared"], [&own, &["--input", "y=2"]]);
    for ended in both {
        assert_eq!(ended.expect(0).out, "sum = 42\n");
    }
}

/// Three kinds of components; both programs call all of them.
const FUNCTIONS: &str = "\
#[component]
fn product(x: u8, y: u8) -> u8 { x * y }
#[component]
fn larger(x: u8, y: u8) -> u8 { if x > y { x } else { y } }
#[component]
fn mixed(x: u8, y: u8) -> u8 { (x & y) + x }
";

const FIRST: &str = "fn main(x: u8 from 0, y: u8 from 1) -> (z: u8 to all) {
    mixed(larger(product(x, y), y), product(x, x))
}\n";

const SECOND: &str = "fn main(x: u8 from 0, y: u8 from 1) -> (z: u8 to all) {
    larger(product(y, y), mixed(x, larger(x, y)))
}\n";

const DUPLO: [&str; 8] = [
    "--protocol",
    "duplo",
    "--component",
    "product",
    "--component",
    "larger",
    "--component",
    "mixed",
];

/// Each phase in processes of its own; the stores are closed in between.
#[test]
fn components_on_monday_a_program_on_tuesday_an_answer_on_wednesday() {
    let pair = Pair::unlocked();
    let write = |name: &str, main: &str| {
        let path = pair.path(name);
        std::fs::write(&path, format!("{FUNCTIONS}{main}")).unwrap();
        path
    };
    let (first, second) = (write("first.sym", FIRST), write("second.sym", SECOND));
    let fill = [&["preprocess", &first, "--count", "3"][..], &DUPLO].concat();
    for ended in pair.both(&fill, [&[]; 2]) {
        assert!(ended.expect(0).out.contains("components for 3 runs"));
    }
    for ended in pair.both(&fill, [&[]; 2]) {
        assert!(ended.expect(0).out.starts_with("there is enough already"));
    }
    let listed = pair.look(0, "ls").expect(0).out;
    assert!(listed.contains("6 × product") && listed.contains("3 × larger"), "{listed}");
    let json = pair.look_with(1, "ls", &["--json"]).expect(0).json();
    assert_eq!(json["items"][0]["components"].as_array().unwrap().len(), 3);
    // A program that the pool was not filled for.
    for (program, z) in [(&second, "z = 25\n"), (&first, "z = 24\n")] {
        let prepare = [&["prepare", program, "--from-pools"][..], &DUPLO].concat();
        for ended in pair.both(&prepare, [&[]; 2]) {
            ended.expect(0).says(&["1 of 1 from pools"]);
        }
        let run = [&["run", program, "--prepared"][..], &DUPLO].concat();
        for ended in pair.both(&run, [&["--input", "x=3"], &["--input", "y=5"]]) {
            let ended = ended.expect(0);
            assert_eq!(ended.out, z);
            assert!(!ended.err.contains("dependent"), "nothing is prepared now: {}", ended.err);
        }
    }
    let again = [&["prepare", &second, "--from-pools"][..], &DUPLO].concat();
    for ended in pair.both(&again, [&[]; 2]) {
        ended.expect(2).says(&["enough for 0 of 1"]);
    }
    let other = ["prepare", "cbcmac:2", "--from-pools", "--protocol", "duplo"];
    for ended in pair.both(&other, [&[]; 2]) {
        ended.expect(2).says(&["the pool has no components", "aes"]);
    }
    let other_rho = [&again[..], &["--rho", "64"]].concat();
    for ended in pair.both(&other_rho, [&[]; 2]) {
        ended.expect(2).says(&["enough for 0 of 1", "pools for ρ = 40, which do not serve"]);
    }
}

/// The same without a pool: three kinds, prepared together, each run later.
#[test]
fn three_kinds_of_components_are_run_on_a_later_day() {
    let pair = Pair::unlocked();
    let path = pair.path("first.sym");
    std::fs::write(&path, format!("{FUNCTIONS}{FIRST}")).unwrap();
    let prepare = [&["prepare", &path, "--count", "2"][..], &DUPLO].concat();
    for ended in pair.both(&prepare, [&[]; 2]) {
        assert_eq!(ended.expect(0).out.lines().count(), 2);
    }
    let run = [&["run", &path, "--prepared"][..], &DUPLO].concat();
    for (x, y, z) in [("x=3", "y=5", "z = 24\n"), ("x=2", "y=9", "z = 18\n")] {
        for ended in pair.both(&run, [&["--input", x], &["--input", y]]) {
            assert_eq!(ended.expect(0).out, z);
        }
    }
    for ended in pair.both(&run, [&["--input", "x=1"], &["--input", "y=1"]]) {
        ended.expect(2).says(&["prepare it together"]);
    }
}

/// The error names items that were prepared in another way, and says that they are not used.
#[test]
fn what_was_prepared_in_another_way_is_named() {
    let pair = Pair::unlocked();
    let prepare = ["prepare", "add:8", "--protocol", "duplo", "--batch", "3", "--rho", "64"];
    for ended in pair.both(&prepare, [&[]; 2]) {
        ended.expect(0);
    }
    let inputs: [&[&str]; 2] = [&["--input", "x=1"], &["--input", "y=1"]];
    let run = ["run", "add:8", "--prepared", "--protocol", "duplo"];
    for more in
        [&[][..], &["--batch", "3"], &["--batch", "3", "--rho", "64", "--component", "add:8"]]
    {
        for ended in pair.both(&[&run[..], more].concat(), inputs) {
            ended.expect(2).says(&["another way (duplo, 3 at a time, ρ = 64)"]);
        }
    }
    for ended in pair.both(&[&run[..], &["--batch", "3", "--rho", "64"]].concat(), inputs) {
        assert_eq!(ended.expect(0).out, "2\n2\n2\n");
    }
}

/// Later processes use up what one process on each side prepares at once: one by one, and several
/// online at a time.
#[test]
fn executions_of_dualex_are_prepared_in_one_go_and_run_on_later_days() {
    let pair = Pair::unlocked();
    let dualex = ["mul:16", "--protocol", "dualex"];
    let prepare = [&["prepare", "--count", "5"][..], &dualex].concat();
    for ended in pair.both(&prepare, [&[]; 2]) {
        assert_eq!(ended.expect(0).out.lines().count(), 5);
    }
    let clear = |x: &str, y: &str| {
        symbolon(&["circuit", "eval", "mul:16", "--input", x, "--input", y]).expect(0).out
    };
    let run = [&["run", "--prepared"][..], &dualex].concat();
    for (x, y) in [("x=3", "y=5"), ("x=40503", "y=65535")] {
        for ended in pair.both(&run, [&["--input", x], &["--input", y]]) {
            let ended = ended.expect(0);
            assert_eq!(ended.out, clear(x, y));
            assert!(!ended.err.contains("dependent"), "nothing is prepared now: {}", ended.err);
        }
    }
    let numbers = [[7, 11], [60_000, 60_001], [0, 9]];
    for (k, name) in ["x", "y"].into_iter().enumerate() {
        let lines: String = numbers.iter().map(|pair| format!("{}\n", pair[k])).collect();
        std::fs::write(pair.path(name), lines).unwrap();
    }
    let expected = numbers.map(|[x, y]| {
        let product = clear(&format!("x={x}"), &format!("y={y}"));
        product.split(" = ").nth(1).expect("NAME = VALUE").to_string()
    });
    let [x, y] = ["x", "y"].map(|name| format!("{name}=@{}", pair.path(name)));
    let batch = [&run[..], &["--batch", "3", "--in-flight", "2"]].concat();
    for ended in pair.both(&batch, [&["--input", &x], &["--input", &y]]) {
        assert_eq!(ended.expect(0).out, expected.concat());
    }
    for (words, hint) in [(&run, "prepare it together"), (&batch, "prepare more together")] {
        for ended in pair.both(words, [&["--input", "x=1"], &["--input", "y=1"]]) {
            ended.expect(2).says(&[hint]);
        }
    }
    for party in [0, 1] {
        let listed = pair.look(party, "ls").expect(0).out;
        assert!(!listed.contains("1 run"), "{listed}");
    }
}

/// Items that were prepared with another κ_b are not taken, and the error says so.
#[test]
fn executions_of_another_kappa_b_are_not_taken() {
    let pair = Pair::unlocked();
    let dualex = ["add:8", "--protocol", "dualex"];
    let prepare = [&["prepare", "--count", "2", "--kappa-b", "64"][..], &dualex].concat();
    for ended in pair.both(&prepare, [&[]; 2]) {
        assert_eq!(ended.expect(0).out.lines().count(), 2);
    }
    let run = [&["run", "--prepared"][..], &dualex].concat();
    let inputs: [&[&str]; 2] = [&["--input", "x=3"], &["--input", "y=4"]];
    for more in [&[][..], &["--kappa-b", "80"], &["--rho", "64"]] {
        for ended in pair.both(&[&run[..], more].concat(), inputs) {
            ended.expect(2).says(&["another way (dualex", "kappa_b 64 per preparation, ρ = 40)"]);
        }
    }
    // Those for which κ_b bounds the leak of each evaluation are weaker, and others.
    let each = [&run[..], &["--kappa-b", "64", "--kappa-b-per", "execution"]].concat();
    for ended in pair.both(&each, inputs) {
        ended.expect(2).says(&["another way (dualex", "kappa_b 64 per preparation, ρ = 40)"]);
    }
    for ended in pair.both(&[&run[..], &["--kappa-b", "64"]].concat(), inputs) {
        assert_eq!(ended.expect(0).out, "sum = 7\n");
    }
    let prepare = [&["prepare", "--kappa-b-per", "execution"][..], &dualex].concat();
    for ended in pair.both(&prepare, [&[]; 2]) {
        ended.expect(0);
    }
    for ended in pair.both(&run, inputs) {
        ended.expect(2).says(&["; dualex, 1 at a time, sync intersection, ρ = 40)"]);
    }
    for ended in pair.both(&[&run[..], &["--kappa-b-per", "execution"]].concat(), inputs) {
        assert_eq!(ended.expect(0).out, "sum = 7\n");
    }
}

/// Pools of gates and of components are requested by different options.
#[test]
fn pools_of_another_sort_are_refused() {
    let pair = Pair::unlocked();
    pair.meet();
    let config = pair.path("0.toml");
    for (words, says) in [
        (&["preprocess", "add:8"][..], "pools of gates"),
        (&["preprocess", "--gates", "9", "--protocol", "duplo"], "pools of components"),
        (&["preprocess", "--count", "2", "--gates", "9"], "pools of gates"),
        (&["preprocess", "--protocol", "duplo"], "for which circuit?"),
        (&["preprocess", "add:8", "--protocol", "dualex"], "prepare CIRCUIT --count N"),
        (&["preprocess", "--gates", "9", "--protocol", "dualex"], "dualex has no pools"),
        (&["prepare", "add:8", "--from-pools", "--protocol", "dualex"], "dualex has no pools"),
        (&["preprocess", "add:1", "--protocol", "duplo"], "no AND gates"),
        (
            &["prepare", "cbcmac:2", "--protocol", "duplo", "--component", "nosuch"],
            "its components are `cbcmac",
        ),
    ] {
        symbolon(&[words, &["--config", &config]].concat()).expect(2).says(&[says]);
    }
}

/// Components are made before the circuit is known, then connected, then evaluated.
#[test]
fn phases_of_duplo_are_told_apart() {
    let words = ["local", "add:8", "--protocol", "duplo", "--split-phases", "--costs"];
    let inputs = ["--input", "x=20", "--input", "y=22"];
    let ended = symbolon(&[&words[..], &inputs].concat()).expect(0);
    assert_eq!(ended.says(&["independent", "dependent", "online"]).out, "sum = 42\n");
    // Nothing is garbled.
    let words = ["local", "add:1", "--protocol", "duplo", "--split-phases"];
    let ended = symbolon(&[&words[..], &["--input", "x=1", "--input", "y=0"]].concat());
    assert_eq!(ended.expect(0).out, "sum = 1\n");
}
