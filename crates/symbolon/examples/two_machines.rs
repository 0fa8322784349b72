//! Two parties that connect over TLS. On one machine, both in this process:
//!
//! ```text
//! cargo run --release -p symbolon --example two_machines
//! ```
//!
//! On two machines, each has its own key, and its wealth in a file, as others can see a command
//! line. The first command prints the fingerprint that the other side needs, and is the same on
//! both:
//!
//! ```text
//! cargo run --release -p symbolon --example two_machines -- key me.pem
//! cargo run --release -p symbolon --example two_machines -- \
//!     listen 0.0.0.0:7000 me.pem FINGERPRINT wealth.txt
//! cargo run --release -p symbolon --example two_machines -- \
//!     dial alice.example:7000 me.pem FINGERPRINT wealth.txt
//! ```

#![allow(clippy::print_stdout)]

use std::thread;

use symbolon::circuit::builtin;
use symbolon::{Config, Endpoint, Identity, Inputs, Session, Transport};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Is party 0 richer? Both learn the answer, and nothing else.
fn party(number: u16, transport: Transport, wealth: u128) -> Result<bool> {
    let circuit = builtin::by_name("millionaires:32")?;
    let inputs = Inputs::builder(&circuit, number).uint(usize::from(number), wealth)?.finish()?;
    let mut session = Session::connect(Config::new(number, transport), &circuit)?;
    Ok(session.evaluate(&inputs)?.uint("richer")? == 1)
}

fn on_two_machines(args: &[&str]) -> Result<()> {
    let [role, address, key, fingerprint, wealth] = args else {
        return Err("listen|dial HOST:PORT KEY FINGERPRINT WEALTH_FILE, or key FILE".into());
    };
    let (number, meeting) = match *role {
        "listen" => (0, Endpoint::listen(address)?),
        _ => (1, Endpoint::dial(*address)),
    };
    let transport = Transport::tls(meeting, Identity::load(key)?, fingerprint.parse()?);
    let wealth: u128 = std::fs::read_to_string(wealth)?.trim().parse()?;
    println!("party 0 is richer: {}", party(number, transport, wealth)?);
    Ok(())
}

/// Runs both on one machine: two keys, two threads, one TLS connection.
fn on_one_machine() -> Result<()> {
    let (alice, bob) = (Identity::generate()?, Identity::generate()?);
    let (alices, bobs) = (alice.fingerprint(), bob.fingerprint());
    let listening = Endpoint::listen("127.0.0.1:0")?;
    let address = listening.local_address().ok_or("no address")?.to_string();
    let for_alice = Transport::tls(listening, alice, bobs);
    let for_bob = Transport::tls(Endpoint::dial(address), bob, alices);
    let (alice, bob) = thread::scope(|scope| {
        let alice = scope.spawn(|| party(0, for_alice, 120));
        let bob = party(1, for_bob, 95);
        (alice.join().expect("alice"), bob)
    });
    let (alice, bob) = (alice?, bob?);
    println!("alice is richer: alice learned {alice}, bob learned {bob}");
    assert!(alice && bob);
    Ok(())
}

#[allow(missing_docs)]
pub fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["key", file] => {
            let identity = Identity::generate()?;
            identity.save(file, false)?;
            println!("{}", identity.fingerprint());
            Ok(())
        }
        ["listen" | "dial", ..] => on_two_machines(&args),
        // The arguments of a test arrive here, too.
        _ => on_one_machine(),
    }
}
