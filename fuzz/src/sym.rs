//! Programs: any text ends in errors or in a circuit; what can be formatted stays the same when it
//! is formatted again, and has the same tokens but for commas.

use symbolon_lang::diag::Diagnostics;
use symbolon_lang::fmt::format;
use symbolon_lang::lex::{Token, lex};
use symbolon_lang::source::NoModules;
use symbolon_lang::{Options, compile_here, with_stack};

/// Returns all tokens but commas, which the formatter adds and removes at the ends of lists.
fn tokens(text: &str) -> Vec<(Token, String)> {
    let lexed = lex(0, text, &mut Diagnostics::default());
    let of = |span: symbolon_lang::source::Span| {
        text[span.start as usize..span.end as usize].trim_end().to_string()
    };
    let all = lexed.into_iter().map(|token| (token.token, of(token.span)));
    all.filter(|(_, text)| text != ",").collect()
}

/// Checks what is made of these bytes.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(formatted) = format(text) {
        assert_eq!(tokens(&formatted), tokens(text));
        assert_eq!(format(&formatted).expect("tokens again"), formatted);
    }
    // A small circuit is enough to find a panic in.
    if text.len() > 4096 {
        return;
    }
    with_stack(|| match compile_here("main.sym", text, &NoModules, &Options::default(), false) {
        Ok((circuit, ..)) => drop(circuit.digest()),
        Err(errors) => drop(errors.to_string()),
    })
    .expect("a thread");
}
