//! The formatter: formatting its output changes nothing, and the output is the same program.

use std::path::Path;

use symbolon_lang::fmt::format;
use symbolon_lang::source::read_source;
use symbolon_lang::{Options, compile_text};

#[test]
fn a_result_on_its_own_line_belongs_to_the_header() {
    let text = "fn main(a:u8 from 0)\n->(r:u8 to all){\nlet b=a\n+1;\nb\n}\n";
    let formatted =
        "fn main(a: u8 from 0)\n    -> (r: u8 to all) {\n    let b = a\n        + 1;\n    b\n}\n";
    assert_eq!(format(text).expect("tokens"), formatted);
    assert_eq!(format(formatted).expect("tokens"), formatted);
}

#[test]
fn examples_are_formatted() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sym");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a file").path();
        let text = read_source(&path).expect("text");
        assert_eq!(format(&text).expect("tokens"), text, "{}", path.display());
        seen += 1;
    }
    assert_eq!(seen, 10);
}

#[test]
fn a_formatted_program_is_the_same_program() {
    let text = "use std::sort::{sort};fn main(a:[u8;3]from 0,b:i5 from 1)->(r:[u8;3]to all,s:i5 to(0,1)){\
        let mut c=sort(a);/* why */for i in 0..3{if c[i]<9&&b!=-1{c[i]+=1;}}// end\n(c,-b)}";
    let formatted = format(text).expect("tokens");
    assert_ne!(formatted, text);
    assert_eq!(format(&formatted).expect("tokens"), formatted);
    let digest = |text: &str| {
        let circuit = compile_text(text, &Options::default());
        circuit.unwrap_or_else(|errors| panic!("{errors}")).digest()
    };
    assert_eq!(digest(&formatted), digest(text));
}
