//! A dealer makes the material of two parties, which trust it not to work together with either of
//! them. All three are connected over TLS, here within one process.
//!
//! ```text
//! cargo run --release -p symbolon --example dealer
//! ```

#![allow(clippy::print_stdout)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use symbolon::circuit::builtin;
use symbolon::dealer::{AdmissionPolicy, Dealing, Event, ServerLimits, serve};
use symbolon::{Config, Dealer, Endpoint, Identity, Inputs, Listener, Session, Transport};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const KEY: &str = "hex:000102030405060708090a0b0c0d0e0f";
const MESSAGE: &str = "hex:00112233445566778899aabbccddeeff";

/// Encrypts party 1's message under party 0's key. Both learn the result, and the dealer does not.
fn party(number: u16, transport: Transport, dealer: Dealer) -> symbolon::Result<String> {
    let circuit = builtin::by_name("aes128")?;
    let (own, value) = if number == 0 { ("key", KEY) } else { ("message", MESSAGE) };
    let inputs = Inputs::builder(&circuit, number).text(own, value)?.finish()?;
    let config = Config::new(number, transport).dealer(dealer);
    Session::connect(config, &circuit)?.evaluate(&inputs)?.text("ciphertext")
}

fn report(event: Event) {
    if let Event::Served(dealt) = event {
        let bytes: u64 = dealt.bytes.iter().sum();
        println!("dealt material for {} AND gates in {bytes} bytes", dealt.and_gates);
    }
}

#[allow(missing_docs)]
pub fn main() -> Result<()> {
    let (alice, bob) = (Identity::generate()?, Identity::generate()?);
    let (alices, bobs) = (alice.fingerprint(), bob.fingerprint());

    // The dealer deals to these two keys only. It belongs on a machine that no party controls.
    let dealer = Identity::generate()?;
    let (dealers, door) = (dealer.fingerprint(), Listener::bind("127.0.0.1:0")?);
    let dealers_address = door.local_addr().to_string();
    let admit = AdmissionPolicy::Keys(vec![alices, bobs]);
    let dealing = Dealing { identity: Some(dealer), admit, limits: ServerLimits::default() };
    let the_dealer = || Dealer::tls(dealers_address.as_str(), dealers);

    let listening = Endpoint::listen("127.0.0.1:0")?;
    let address = listening.local_address().ok_or("no address")?.to_string();
    let for_alice = Transport::tls(listening, alice, bobs);
    let for_bob = Transport::tls(Endpoint::dial(address), bob, alices);
    let stop = AtomicBool::new(false);
    let (alice, bob, served) = thread::scope(|scope| {
        let served = scope.spawn(|| serve(door, &dealing, &stop, report));
        let alice = scope.spawn(|| party(0, for_alice, the_dealer()));
        let bob = party(1, for_bob, the_dealer());
        let alice = alice.join();
        stop.store(true, Ordering::SeqCst);
        (alice.expect("alice"), bob, served.join().expect("the dealer"))
    });
    served?;
    let (alice, bob) = (alice?, bob?);
    println!("both learned {alice}");
    assert_eq!(alice, "hex:69c4e0d86a7b0430d8cdb78070b4c55a");
    assert_eq!(alice, bob);
    Ok(())
}
