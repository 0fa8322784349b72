//! Tokens by brackets, and the spaces between them.

use crate::lex::{Lexed, Token};
use crate::parse::{KEYWORDS, Mark, Marks};

/// A token, or brackets with what they enclose. Tokens are places in the list of all.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Token(usize),
    Bracket(Bracket),
}

#[derive(Clone, Debug)]
pub(super) struct Bracket {
    pub(super) open: usize,
    pub(super) close: usize,
    pub(super) mark: Mark,
    pub(super) nodes: Vec<Node>,
}

/// A file whose brackets match.
pub(super) struct Tree<'t> {
    text: &'t str,
    /// All tokens, comments too.
    tokens: Vec<Lexed>,
    marks: Vec<Mark>,
    starts: Vec<bool>,
    pub(super) nodes: Vec<Node>,
}

impl<'t> Tree<'t> {
    /// Returns the tree of a file without errors.
    pub(super) fn new(text: &'t str, tokens: &[Lexed], marks: &Marks) -> Option<Self> {
        let comment =
            |token: &Lexed| matches!(token.token, Token::LineComment | Token::BlockComment);
        let tokens: Vec<Lexed> =
            tokens.iter().filter(|token| token.token != Token::End).copied().collect();
        // The parser has seen all tokens but comments.
        let mut seen = 0;
        let places: Vec<Option<usize>> = tokens
            .iter()
            .map(|token| {
                let place = (!comment(token)).then_some(seen);
                seen += usize::from(!comment(token));
                place
            })
            .collect();
        let of =
            |place: &Option<usize>| place.map_or((Mark::Plain, false), |place| marks.of(place));
        let (marks, starts) = places.iter().map(of).unzip();
        let mut tree = Tree { text, tokens, marks, starts, nodes: Vec::new() };
        let mut place = 0;
        tree.nodes = tree.nodes_from(&mut place)?;
        (place == tree.tokens.len()).then_some(tree)
    }

    /// Returns the nodes up to a closing bracket or the end.
    fn nodes_from(&self, place: &mut usize) -> Option<Vec<Node>> {
        let mut nodes = Vec::new();
        while *place < self.tokens.len() {
            let open = *place;
            let angle = self.marks[open] == Mark::Angle;
            let text = if self.kind(open) == Token::Punct { self.text(open) } else { "" };
            match text {
                ")" | "]" | "}" => return Some(nodes),
                ">" if angle => return Some(nodes),
                "(" | "[" | "{" | "<" if text != "<" || angle => {
                    *place += 1;
                    let within = self.nodes_from(place)?;
                    let close = *place;
                    if close == self.tokens.len() {
                        return None;
                    }
                    *place += 1;
                    let mark = self.marks[open];
                    nodes.push(Node::Bracket(Bracket { open, close, mark, nodes: within }));
                }
                _ => {
                    *place += 1;
                    nodes.push(Node::Token(open));
                }
            }
        }
        Some(nodes)
    }

    /// Returns the text of a token; comments end without spaces.
    pub(super) fn text(&self, token: usize) -> &'t str {
        let span = self.tokens[token].span;
        self.text[span.start as usize..span.end as usize].trim_end()
    }

    pub(super) fn kind(&self, token: usize) -> Token {
        self.tokens[token].token
    }

    pub(super) fn mark(&self, token: usize) -> Mark {
        self.marks[token]
    }

    /// Returns the first token of a node.
    pub(super) fn first(&self, node: &Node) -> usize {
        match node {
            Node::Token(token) => *token,
            Node::Bracket(bracket) => bracket.open,
        }
    }

    fn last(&self, node: &Node) -> usize {
        match node {
            Node::Token(token) => *token,
            Node::Bracket(bracket) => bracket.close,
        }
    }

    /// Returns whether a node is this keyword or sign.
    pub(super) fn is(&self, node: &Node, text: &str) -> bool {
        matches!(node, Node::Token(token)
            if matches!(self.kind(*token), Token::Name | Token::Punct) && self.text(*token) == text)
    }

    pub(super) fn starts(&self, node: &Node) -> bool {
        self.starts[self.first(node)]
    }

    /// Returns the token of a comment.
    pub(super) fn comment(&self, node: &Node) -> Option<usize> {
        match node {
            Node::Token(token) => {
                let kind = self.kind(*token);
                matches!(kind, Token::LineComment | Token::BlockComment).then_some(*token)
            }
            Node::Bracket(_) => None,
        }
    }

    /// Returns how many lines end between a token and the one before.
    pub(super) fn breaks_before(&self, token: usize) -> usize {
        let Some(before) = token.checked_sub(1) else { return 0 };
        let (from, to) = (self.tokens[before].span.end, self.tokens[token].span.start);
        let gap = &self.text[from as usize..to as usize];
        gap.bytes().filter(|&byte| byte == b'\n').count()
    }

    /// Returns whether brackets are on several lines.
    pub(super) fn has_lines(&self, bracket: &Bracket) -> bool {
        let (from, to) =
            (self.tokens[bracket.open].span.end, self.tokens[bracket.close].span.start);
        self.text[from as usize..to as usize].contains('\n')
    }

    /// Returns whether a space is between two nodes of a line.
    pub(super) fn gap(&self, before: &Node, node: &Node) -> bool {
        let (last, next) = (self.last(before), self.first(node));
        let (left, right) = (self.text(last), self.text(next));
        let angle = |place: usize| self.marks[place] == Mark::Angle;
        let word = |place: usize| self.kind(place) != Token::Punct;
        let keyword = |place: usize| {
            self.kind(place) == Token::Name
                && (KEYWORDS.contains(&self.text(place)) || self.text(place) == "to")
                && !matches!(self.text(place), "true" | "false")
        };
        if self.marks[last] == Mark::Prefix || self.marks[next] == Mark::Glued {
            return false;
        }
        if matches!(self.marks[last], Mark::Binary(_) | Mark::Glued)
            || matches!(self.marks[next], Mark::Binary(_))
        {
            return true;
        }
        if word(last) && word(next) {
            return true;
        }
        if !word(next) && matches!(right, "," | ";" | ":" | "." | "::" | ".." | "..=") {
            // `.., ` in a pattern.
            return left == "," && right == "..";
        }
        if !word(last) && matches!(left, "." | "::" | "#" | ".." | "..=") {
            return false;
        }
        if !word(next) && right == "!" && self.marks[next] == Mark::Plain {
            // `assert!`, which is a name, and `#!`.
            return false;
        }
        if !word(last) && left == "!" {
            return false;
        }
        if angle(next) {
            return keyword(last) && left != "impl";
        }
        if !word(next) && matches!(right, "(" | "[") {
            // The arguments of an `impl` do not belong to the type after them.
            let of_impl = matches!(before, Node::Bracket(bracket)
                if bracket.open > 0 && self.text(bracket.open - 1) == "impl");
            let ends = (word(last) && !keyword(last))
                || matches!(left, ")" | "]")
                || (angle(last) && !of_impl);
            return !ends;
        }
        true
    }
}
