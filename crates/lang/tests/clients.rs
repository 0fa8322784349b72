//! Inputs `from clients` and outputs `to clients`: what is refused, and what is compiled.

use symbolon_circuit::{Circuit, ClientPorts, Receivers};
use symbolon_lang::fmt::format;
use symbolon_lang::{Options, compile_text};

fn compiled(text: &str, parties: Option<u16>) -> Result<Circuit, String> {
    let options = Options { parties, ..Options::default() };
    compile_text(text, &options).map_err(|errors| errors.to_string())
}

#[test]
fn what_cannot_be_from_clients_is_refused() {
    for (params, outputs, body, says) in [
        ("x: u8 from clients", "y: u8 to all", "x", "an array of `Option<…>`"),
        ("x: [u8; 3] from clients", "y: u8 to all", "x[0]", "write `Option<…>`"),
        ("x: Option<u8> from clients", "y: Option<u8> to all", "x", "an array of `Option<…>`"),
        ("x: [Option<()>; 3] from clients", "y: u8 to all", "0", "at least one bit"),
        ("x: [Option<[u8; 0]>; 3] from clients", "y: u8 to all", "0", "at least one bit"),
        ("x: [Option<u8>; 0] from clients", "y: u8 to all", "0", "an array of `Option<…>`"),
        (
            "x: [Option<u8>; 3] from clients, z: [Option<u8>; 4] from clients",
            "y: u8 to all",
            "0",
            "equally long",
        ),
        ("x: [Option<u8>; 3] from clients", "y: u8 to clients", "0", "each of the 3 clients"),
        ("x: [Option<u8>; 3] from clients", "y: [u8; 4] to clients", "[0; 4]", "3 clients"),
        ("x: [Option<u8>; 3] from clients", "y: [(); 3] to clients", "[(); 3]", "3 clients"),
        ("x: u8 from 0", "y: [u8; 4] to clients", "[x; 4]", "no input is `from clients`"),
        ("x: [Option<[u64; 20000]>; 2] from clients", "y: u8 to all", "0", "2^20 bits"),
        ("x: [Option<u8>; 300000] from clients", "y: u8 to all", "0", "2^26"),
    ] {
        let text = format!("fn main({params}) -> ({outputs}) {{ {body} }}");
        let found = compiled(&text, Some(2)).map(|_| ()).expect_err(&text);
        assert!(found.contains("error[E0") && found.contains(says), "{text}\n{found}");
    }
    // Enumerations that only look like the library's are refused, or work as it does.
    let own = "enum Option2 { None, Some(u8) } fn main(x: [Option2; 3] from clients) \
               -> (y: u8 to all) { 0 }";
    assert!(compiled(own, Some(2)).map(|_| ()).expect_err("refused").contains("write `Option<…>`"));
}

#[test]
fn clients_need_to_know_the_parties() {
    let main = "fn main(x: [Option<u8>; 3] from clients) -> (y: u8 to all) { x[0].unwrap_or(0) }";
    let found =
        compiled(main, None).map(|_| ()).expect_err("nothing says how many parties there are");
    assert!(found.contains("--parties N") && found.contains("E08"), "{found}");
    let parties = |text: &str, parties| {
        ClientPorts::of(&compiled(text, parties).expect("it compiles")).expect("clients").parties
    };
    assert_eq!(parties(main, Some(4)), 4);
    assert_eq!(parties(&format!("parties a, b, c;\n{main}"), None), 3);
    let constants = vec![("PARTIES".to_string(), "5".to_string())];
    let options = Options { constants, ..Options::default() };
    let circuit = compile_text(main, &options).expect("it compiles");
    assert_eq!(ClientPorts::of(&circuit).map(|ports| ports.parties), Some(5));
    // In the clear it does not matter, and the ports are those of the program.
    let options = Options { clear_clients: true, ..Options::default() };
    let circuit = compile_text(main, &options).expect("it compiles");
    assert_eq!(circuit.inputs()[0].name, "x");
    assert_eq!(ClientPorts::of(&circuit), None);
}

#[test]
fn a_party_may_be_called_clients() {
    let text = "parties clients, other;\n\
                fn main(x: u8 from clients, y: u8 from other) -> (z: u8 to clients) { x + y }";
    let circuit = compiled(text, None).expect("it compiles");
    assert_eq!(circuit.inputs()[0].owner.number(), 0);
    assert_eq!(circuit.outputs()[0].to, Receivers::only([0]));
    let each = "fn main(clients: [u8; PARTIES] from each, x: [Option<u8>; 2] from clients) \
                -> (clients: u8 to all) { clients[0] + x[0].unwrap_or(0) }";
    let circuit = compiled(each, Some(2)).expect("it compiles");
    let names: Vec<&str> = circuit.inputs().iter().map(|input| &*input.name).collect();
    assert_eq!(names, ["clients.0", "clients.1", "clients.shares.0", "clients.shares.1"]);
}

#[test]
fn ports_say_what_clients_give_and_learn() {
    let text =
        "fn main(a: [Option<u8>; 3] from clients, key: u8 from 1, b: [Option<(bool, i4)>; 3] \
                from clients) -> (y: u8 to 0, c: [i9; 3] to clients, d: [bool; 3] to clients) {
        assert(key != 0, \"a key\");
        (a[0].unwrap_or(key), [0; 3], [b[i].is_some() for i in 0..3])
    }";
    let circuit = compiled(text, Some(2)).expect("it compiles");
    let ports = ClientPorts::of(&circuit).expect("clients");
    let names = |fields: &[(String, symbolon_circuit::Type)]| {
        fields.iter().map(|(name, ty)| format!("{name}: {ty}")).collect::<Vec<_>>()
    };
    assert_eq!((ports.clients, ports.parties), (3, 2));
    assert_eq!(names(&ports.values), ["a: u8", "b: (bool, i4)"]);
    assert_eq!(names(&ports.answers), ["c: i9", "d: bool", "assert: u1"]);
    // A circuit that lost a port, or got another type for it, is not one for clients.
    let names = |wanted: &str| {
        let outputs = circuit.outputs().iter().map(|output| match &*output.name {
            name if name == wanted => "other".to_string(),
            name => name.to_string(),
        });
        outputs.collect::<Vec<_>>()
    };
    let inputs: Vec<String> = circuit.inputs().iter().map(|input| input.name.clone()).collect();
    for wanted in [ClientPorts::COUNTED, ClientPorts::ANSWERS] {
        let other = circuit.clone().with_names(inputs.clone(), names(wanted)).expect("names");
        assert_eq!(ClientPorts::of(&other), None);
    }
    let owners = vec![0u16; circuit.inputs().len()];
    let other = circuit.clone().with_owners(&owners).expect("owners");
    assert_eq!(ClientPorts::of(&other), None);
}

#[test]
fn clients_are_formatted_like_parties() {
    let text = "fn main(x:[Option<u8>;3]from clients)->(y:[u8;3]to clients){[0;3]}";
    let formatted = format(text).expect("it parses");
    assert!(formatted.contains("from clients)"), "{formatted}");
    assert!(formatted.contains("to clients)"), "{formatted}");
}
