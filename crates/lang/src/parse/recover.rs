//! Where the parser goes on after an error.

use super::{KEYWORDS, Parser};
use crate::lex::Token;

/// What begins an item, also of Rust.
const ITEMS: [&str; 12] =
    ["use", "const", "type", "struct", "enum", "impl", "fn", "parties", "pub", "mod", "trait", "#"];

impl Parser<'_> {
    /// Skips to after the next `;` or to a `}` or keyword of an item on this level.
    pub(super) fn recover(&mut self) {
        let mut depth = 0u32;
        while self.peek().token != Token::End {
            match self.text_at(0) {
                "{" | "(" | "[" => depth += 1,
                "}" if depth == 0 => return,
                ";" if depth == 0 => {
                    self.next();
                    return;
                }
                "}" | ")" | "]" => depth = depth.saturating_sub(1),
                "fn" | "struct" | "enum" | "impl" | "use" | "pub" => return,
                _ => {}
            }
            self.next();
        }
    }

    /// Skips the item that began with this token, and in which an error was found: to after its
    /// last bracket or `;`, or to a line that begins with another item.
    pub(super) fn leave_item(&mut self, start: usize) {
        match self.end_of_item(start) {
            Some(end) if end > start && end >= self.place => self.place = end,
            Some(_) | None => {
                let before = self.place;
                self.recover();
                self.eat("}");
                if self.place == before {
                    self.next();
                }
            }
        }
    }

    fn end_of_item(&mut self, start: usize) -> Option<usize> {
        // Otherwise, a file of items without an end would be read again for each of them.
        if self.unclosed {
            return None;
        }
        let (mut depth, mut own) = (0u32, None);
        for place in start..self.tokens.len() - 1 {
            let word = self.word(place);
            // Attributes stand before the item's own first word.
            if depth == 0 && own.is_none() && !matches!(word, "#" | "[" | "]") {
                own = Some(place);
            }
            if place >= self.place && own.is_some_and(|own| own < place) && self.begins_item(place)
            {
                return Some(place);
            }
            match word {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 && word == "}" {
                        return Some(place + 1);
                    }
                }
                ";" if depth == 0 => return Some(place + 1),
                _ => {}
            }
        }
        self.unclosed = true;
        None
    }

    /// Returns whether a line begins with a token that begins an item.
    fn begins_item(&self, place: usize) -> bool {
        let start = self.tokens[place].span.start as usize;
        let is_first = start == 0 || self.text.as_bytes()[start - 1] == b'\n';
        is_first && ITEMS.contains(&self.word(place))
    }

    fn word(&self, place: usize) -> &str {
        let span = self.tokens[place].span;
        &self.text[span.start as usize..span.end as usize]
    }

    /// Notes the names in what has been skipped since this token: that they are unknown elsewhere
    /// is no further error.
    pub(super) fn lose(&mut self, start: usize) {
        for place in start..self.place {
            let word = self.word(place);
            if self.tokens[place].token == Token::Name && !KEYWORDS.contains(&word) {
                let word = word.to_string();
                self.errors.lose(word);
            }
        }
    }
}
