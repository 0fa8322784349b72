//! The formatter, which lays a program out as rustfmt does: on one line what fits on one of 100
//! characters. Blocks, and the fields of declarations, stay on one line or on several as they are
//! written. A text with errors keeps its lines.
//!
//! It works on tokens, so comments stay, and the tokens are the same before and after but for
//! commas at the ends of lists.

mod build;
mod doc;
mod plain;
mod tree;

use crate::compile::with_stack;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::lex::{Lexed, Token, lex};
use crate::parse::{MAX_NESTING, Mark, marks};

use tree::Tree;

/// Formats a source text.
///
/// # Errors
/// Reports text that is not a token, and what no program may be: too deep, or too long.
pub fn format(text: &str) -> Result<String, Diagnostics> {
    let mut errors = Diagnostics::default();
    let tokens = lex(0, text, &mut errors);
    if errors.errors() > 0 {
        return Err(errors);
    }
    if let Some(token) = too_deep(text, &tokens) {
        let message = format!("this nests more than {MAX_NESTING} deep");
        errors.push(Diagnostic::new(Code::Limit, token.span, message));
        return Err(errors);
    }
    // Brackets are walked over as the parser does it, on a stack for deep recursion.
    let laid_out = with_stack(|| laid_out(text, &tokens)).unwrap_or(None);
    let formatted = laid_out.unwrap_or_else(|| plain::put_all(text, &tokens));
    if formatted.len() > crate::MAX_SOURCE {
        let message = "formatted, the file would be longer than 16 MiB";
        errors.push(Diagnostic::new(Code::Limit, Default::default(), message));
        return Err(errors);
    }
    // Adjacent tokens could read as another token, but only in texts that mean nothing anyway.
    let again = lex(0, &formatted, &mut errors);
    let same = errors.errors() == 0 && words(text, &tokens).eq(words(&formatted, &again));
    Ok(if same { formatted } else { text.to_string() })
}

/// Returns the texts of all tokens but commas.
fn words<'t>(text: &'t str, tokens: &'t [Lexed]) -> impl Iterator<Item = &'t str> {
    let own = |token: &Lexed| text[token.span.start as usize..token.span.end as usize].trim_end();
    tokens.iter().map(own).filter(|own| *own != ",")
}

/// A block that breaks is one of several lines in the next pass, and what it is in may break, too.
/// Programs that people write settle in two passes.
const MOST_PASSES: usize = 10;

/// Lays out a program without errors, until another pass changes nothing.
fn laid_out(text: &str, tokens: &[Lexed]) -> Option<String> {
    let own = meaning(text)?;
    let mut formatted = pass(text, tokens)?;
    for _ in 1..MOST_PASSES {
        let tokens = lex(0, &formatted, &mut Diagnostics::default());
        let again = pass(&formatted, &tokens)?;
        if again == formatted {
            break;
        }
        formatted = again;
    }
    (own == meaning(&formatted)?).then_some(formatted)
}

fn pass(text: &str, tokens: &[Lexed]) -> Option<String> {
    let tree = Tree::new(text, tokens, &marks(text)?)?;
    let mut formatted = doc::lay_out(&tree.file());
    if !formatted.is_empty() {
        formatted.push('\n');
    }
    Some(formatted)
}

/// Returns what the parser takes all tokens for, but commas.
fn meaning(text: &str) -> Option<Vec<(Mark, bool)>> {
    let mut tokens = lex(0, text, &mut Diagnostics::default());
    tokens.retain(|t| !matches!(t.token, Token::LineComment | Token::BlockComment));
    let marks = marks(text)?;
    let is_comma = |token: &Lexed| &text[token.span.start as usize..token.span.end as usize] == ",";
    let others = tokens.iter().enumerate().filter(|(_, token)| !is_comma(token));
    Some(others.map(|(place, _)| marks.of(place)).collect())
}

/// Returns the first bracket that nests deeper than any program: it would be indented as deep.
fn too_deep<'t>(text: &str, tokens: &'t [Lexed]) -> Option<&'t Lexed> {
    let mut depth = 0u32;
    tokens.iter().filter(|token| token.token == Token::Punct).find(|token| {
        match &text[token.span.start as usize..token.span.end as usize] {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > 2 * MAX_NESTING
    })
}
