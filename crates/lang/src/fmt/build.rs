//! From brackets to a text that can be laid out, as rustfmt does it.

use super::doc::Doc;
use super::tree::{Bracket, Node, Tree};
use crate::lex::Token;
use crate::parse::Mark;

/// Numbers and names of at most this many characters share lines.
const SHORT: usize = 20;

/// A part of a list, a statement or an item.
struct Entry<'n> {
    nodes: &'n [Node],
    /// A comment after it, on its line.
    trailing: Option<usize>,
    /// Whether an empty line is before it.
    blank: bool,
    is_comment: bool,
}

impl<'t> Tree<'t> {
    /// Returns a whole file.
    pub(super) fn file(&self) -> Doc<'t> {
        self.lines(&self.by_starts(&self.nodes), |entry| self.statement(entry))
    }

    /// Puts each entry on lines of its own.
    fn lines(&self, entries: &[Entry<'_>], one: impl Fn(&Entry<'_>) -> Doc<'t>) -> Doc<'t> {
        let mut all = Vec::new();
        for (place, entry) in entries.iter().enumerate() {
            if place > 0 {
                all.push(Doc::Hard(entry.blank));
            }
            all.push(one(entry));
            all.extend(self.trailing(entry));
        }
        Doc::All(all)
    }

    fn trailing(&self, entry: &Entry<'_>) -> Option<Doc<'t>> {
        let comment = entry.trailing?;
        Some(Doc::All(vec![Doc::Text(" "), Doc::Text(self.text(comment))]))
    }

    fn statement(&self, entry: &Entry<'_>) -> Doc<'t> {
        self.run(entry.nodes)
    }

    /// Splits at the first tokens of items, statements or arms.
    fn by_starts<'n>(&self, nodes: &'n [Node]) -> Vec<Entry<'n>> {
        self.split(nodes, |place| self.starts(&nodes[place]), |_| false)
    }

    /// Splits at commas, which are left out.
    fn by_commas<'n>(&self, nodes: &'n [Node]) -> Vec<Entry<'n>> {
        let comma = |place: usize| self.is(&nodes[place], ",");
        self.split(nodes, |place| place > 0 && comma(place - 1), comma)
    }

    /// Splits where an entry starts. Comments between entries are entries, or trail the one before.
    fn split<'n>(
        &self,
        nodes: &'n [Node],
        starts: impl Fn(usize) -> bool,
        left_out: impl Fn(usize) -> bool,
    ) -> Vec<Entry<'n>> {
        let mut entries: Vec<Entry<'n>> = Vec::new();
        // What is not a comment, from each node on.
        let mut following = vec![nodes.len(); nodes.len() + 1];
        for place in (0..nodes.len()).rev() {
            let comment = self.comment(&nodes[place]).is_some();
            following[place] = if comment { following[place + 1] } else { place };
        }
        let mut from = 0;
        let mut ended = true;
        for place in 0..nodes.len() {
            let comment = self.comment(&nodes[place]);
            let next = following[place];
            let between = ended
                || next == nodes.len()
                || starts(next)
                || left_out(next)
                || entries.is_empty();
            if let Some(comment) = comment.filter(|_| between) {
                let breaks = self.breaks_before(self.first(&nodes[place]));
                let documents = self.text(comment).starts_with("///");
                let free = entries.last().is_some_and(|last| last.trailing.is_none());
                match entries.last_mut() {
                    Some(last) if breaks == 0 && free && !documents && !last.is_comment => {
                        last.trailing = Some(comment);
                    }
                    _ => entries.push(Entry {
                        nodes: &nodes[place..=place],
                        trailing: None,
                        blank: breaks > 1,
                        is_comment: true,
                    }),
                }
                ended = true;
            } else if left_out(place) {
                ended = true;
            } else if ended || starts(place) {
                from = place;
                let blank = self.breaks_before(self.first(&nodes[place])) > 1;
                entries.push(Entry {
                    nodes: &nodes[place..=place],
                    trailing: None,
                    blank,
                    is_comment: false,
                });
                ended = false;
            } else if let Some(last) = entries.last_mut() {
                last.nodes = &nodes[from..=place];
            }
        }
        entries
    }

    /// Lays out a statement, an item or an expression. Its blocks break together.
    fn run(&self, nodes: &[Node]) -> Doc<'t> {
        if let [hash, rest @ ..] = nodes
            && self.is(hash, "#")
        {
            let length = 1 + rest
                .iter()
                .position(|node| matches!(node, Node::Bracket(_)))
                .map_or(0, |n| n + 1);
            let own = self.plain(&nodes[..length]);
            return match &nodes[length..] {
                [] => own,
                rest => Doc::All(vec![own, Doc::Hard(false), self.run(rest)]),
            };
        }
        let Some((last, before)) = nodes.split_last() else { return Doc::All(Vec::new()) };
        if self.is(last, ";") && !before.is_empty() {
            return Doc::All(vec![self.run(before), Doc::Text(";")]);
        }
        if let Some(at) = self.assignment(nodes) {
            return self.assigned(nodes, at);
        }
        if nodes.iter().any(|node| self.is_block(node)) {
            return self.with_blocks(nodes).group_first();
        }
        self.expr(nodes)
    }

    /// Returns where `=`, `+=` or `=>` is that binds the rest.
    fn assignment(&self, nodes: &[Node]) -> Option<usize> {
        let first = nodes.first()?;
        if ["if", "for", "match", "else", "fn", "impl"].iter().any(|word| self.is(first, word)) {
            return None;
        }
        let sign = |text: &str| {
            matches!(
                text,
                "=" | "=>" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<="
            )
        };
        let found = nodes.iter().position(|node| match node {
            Node::Token(token) => {
                !matches!(self.mark(*token), Mark::Binary(_) | Mark::Glued)
                    && sign(self.text(*token))
            }
            Node::Bracket(_) => false,
        })?;
        let blocks = nodes[..found].iter().any(|node| self.is_block(node));
        (found > 0 && found + 1 < nodes.len() && !blocks).then_some(found)
    }

    fn assigned(&self, nodes: &[Node], at: usize) -> Doc<'t> {
        let (left, value) = (self.run(&nodes[..at]).group_last(), &nodes[at + 1..]);
        let sign = self.token(&nodes[at]);
        let value = if self.comment(&value[0]).is_some() {
            Doc::All(vec![Doc::Text(" "), self.run(value)])
        } else {
            self.run(value).value()
        };
        Doc::All(vec![left, Doc::Text(" "), sign, value])
    }

    /// Lays out what has blocks, with what is between them.
    fn with_blocks(&self, nodes: &[Node]) -> Doc<'t> {
        let mut all = Vec::new();
        let mut from = 0;
        for (place, node) in nodes.iter().enumerate() {
            let Node::Bracket(bracket) = node else { continue };
            if !self.is_block(node) {
                continue;
            }
            if from < place {
                if from > 0 && self.gap(&nodes[from - 1], &nodes[from]) {
                    all.push(Doc::Text(" "));
                }
                let before = &nodes[from..place];
                let header =
                    ["if", "else", "for", "match"].iter().any(|word| self.is(&before[0], word));
                if header && before.iter().any(|node| self.is_operator(node)) {
                    // After lines of a condition, the brace gets a line of its own.
                    all.push(self.operands(before, Doc::Line));
                } else {
                    all.push(self.expr(before));
                    all.extend(self.gap(&nodes[place - 1], node).then_some(Doc::Text(" ")));
                }
            } else if place > 0 && self.gap(&nodes[place - 1], node) {
                all.push(Doc::Text(" "));
            }
            all.push(match bracket.mark {
                Mark::Fields => self.list(bracket, self.has_lines(bracket)),
                _ => self.block(bracket),
            });
            from = place + 1;
        }
        if from < nodes.len() {
            if from > 0 && self.gap(&nodes[from - 1], &nodes[from]) {
                all.push(Doc::Text(" "));
            }
            all.push(self.expr(&nodes[from..]));
        }
        Doc::All(all)
    }

    /// Lays out operators and their operands.
    fn expr(&self, nodes: &[Node]) -> Doc<'t> {
        match nodes.iter().any(|node| self.is_operator(node)) {
            true => self.operands(nodes, Doc::All(Vec::new())),
            false => self.chain(nodes),
        }
    }

    /// Lays out operands; lines break before the operators that bind least, and at the end.
    fn operands(&self, nodes: &[Node], end: Doc<'t>) -> Doc<'t> {
        let power = |node: &Node| match node {
            Node::Token(token) => match self.mark(*token) {
                Mark::Binary(power) => Some(power),
                _ => None,
            },
            Node::Bracket(_) => None,
        };
        let least = nodes.iter().filter_map(power).min();
        let places: Vec<usize> =
            (0..nodes.len()).filter(|&place| power(&nodes[place]) == least).collect();
        let first = places.first().copied().unwrap_or(nodes.len());
        let mut more = Vec::new();
        for (number, &at) in places.iter().enumerate() {
            let end = places.get(number + 1).copied().unwrap_or(nodes.len());
            let glued = (at + 1..end).take_while(|&next| self.is_glued(&nodes[next])).count();
            more.push(Doc::Line);
            more.extend((at..=at + glued).map(|place| self.token(&nodes[place])));
            more.extend([Doc::Text(" "), self.expr(&nodes[at + 1 + glued..end])]);
        }
        Doc::All(vec![self.expr(&nodes[..first]), Doc::All(more).nest(), end]).group()
    }

    /// Returns where methods are called.
    fn dots(&self, nodes: &[Node]) -> Vec<usize> {
        let dot = |place: usize| {
            self.is(&nodes[place], ".")
                && nodes.get(place + 2..).is_some_and(|after| {
                    let called =
                        |node: &Node| matches!(node, Node::Bracket(b) if self.text(b.open) == "(");
                    let types = |node: &Node| {
                        self.is(node, "::")
                            || matches!(node, Node::Bracket(b) if b.mark == Mark::Angle)
                    };
                    after.iter().find(|node| !types(node)).is_some_and(called)
                })
        };
        (1..nodes.len()).filter(|&place| dot(place)).collect()
    }

    fn calls(&self, nodes: &[Node]) -> usize {
        if nodes.iter().any(|node| self.is_operator(node)) { 0 } else { self.dots(nodes).len() }
    }

    /// Lays out a chain of calls of methods: on one line, or each on its own.
    fn chain(&self, nodes: &[Node]) -> Doc<'t> {
        let dots = self.dots(nodes);
        if dots.len() < 2 {
            return self.plain(nodes);
        }
        let mut calls = Vec::new();
        for (number, &at) in dots.iter().enumerate() {
            let end = dots.get(number + 1).copied().unwrap_or(nodes.len());
            calls.push(self.plain(&nodes[at..end]));
        }
        let first = self.plain(&nodes[..dots[0]]);
        // Only the last call may go on on other lines.
        let last_only = calls.split_last().is_some_and(|(last, before)| {
            last.forced() && !first.forced() && !before.iter().any(Doc::forced)
        });
        if last_only {
            let last = calls.pop().unwrap_or(Doc::All(Vec::new()));
            let before = std::iter::once(first).chain(calls).collect();
            return Doc::Calls(before, Box::new(last));
        }
        let more = calls.into_iter().flat_map(|call| [Doc::Soft, call]).collect();
        Doc::All(vec![first, Doc::All(more).nest()]).group()
    }

    /// Lays out tokens and brackets side by side.
    fn plain(&self, nodes: &[Node]) -> Doc<'t> {
        let mut all = Vec::new();
        for (place, node) in nodes.iter().enumerate() {
            if let Some(comment) = self.comment(node) {
                let own_line = self.breaks_before(comment) > 0;
                if place > 0 && !self.is_line_comment(&nodes[place - 1]) {
                    all.push(if own_line { Doc::Hard(false) } else { Doc::Text(" ") });
                }
                all.push(Doc::Text(self.text(comment)));
                let more = place + 1 < nodes.len();
                if more && (self.is_line_comment(node) || own_line) {
                    all.push(Doc::Hard(false));
                } else if more {
                    all.push(Doc::Text(" "));
                }
                continue;
            }
            let after_comment = place > 0 && self.comment(&nodes[place - 1]).is_some();
            if place > 0 && !after_comment && self.gap(&nodes[place - 1], node) {
                all.push(Doc::Text(" "));
            }
            all.push(match node {
                Node::Token(_) => self.token(node),
                Node::Bracket(bracket) => self.bracket(bracket),
            });
        }
        Doc::All(all)
    }

    fn bracket(&self, bracket: &Bracket) -> Doc<'t> {
        match bracket.mark {
            Mark::Block | Mark::Arms | Mark::Items => self.block(bracket).group_first(),
            Mark::Fields => self.list(bracket, self.has_lines(bracket)).group(),
            Mark::Angle => self.list(bracket, false).group_last(),
            Mark::List | Mark::One | Mark::Use => self.list(bracket, false).group(),
            _ => self.enclosed(bracket),
        }
    }

    /// Lays out brackets around one expression.
    fn enclosed(&self, bracket: &Bracket) -> Doc<'t> {
        let (open, close) = (self.text(bracket.open), self.text(bracket.close));
        let nodes = &bracket.nodes[..];
        let within = match nodes.iter().position(|node| self.is(node, "for")) {
            // `[body for pattern in over]`
            Some(at) if at > 0 && open == "[" => {
                let (body, over) = (self.run(&nodes[..at]), self.run(&nodes[at..]));
                if self.is_block(&nodes[at - 1]) {
                    Doc::All(vec![body, Doc::Text(" "), over])
                } else {
                    let within = Doc::All(vec![Doc::Soft, body, Doc::Line, over]).nest();
                    return Doc::All(vec![Doc::Text(open), within, Doc::Soft, Doc::Text(close)])
                        .group();
                }
            }
            _ => self.run(nodes),
        };
        // A comment at the end needs the next line.
        let ends = nodes.last().is_some_and(|last| self.is_line_comment(last));
        let end = if ends { Doc::Hard(false) } else { Doc::All(Vec::new()) };
        Doc::All(vec![Doc::Text(open), within, end, Doc::Text(close)])
    }

    /// Lays out a list between brackets, to be broken with the group around.
    fn list(&self, bracket: &Bracket, vertical: bool) -> Doc<'t> {
        let (open, close) = (self.text(bracket.open), self.text(bracket.close));
        let entries = self.by_commas(&bracket.nodes);
        let one = bracket.mark == Mark::One;
        let brace = open == "{" && bracket.mark != Mark::Use;
        if entries.is_empty() {
            return Doc::All(vec![Doc::Text(open), Doc::Text(close)]);
        }
        if let [entry] = &entries[..]
            && !vertical
            && !brace
            && entry.trailing.is_none()
            && self.hugs(entry.nodes)
        {
            let comma = Doc::Text(if one { "," } else { "" });
            return Doc::All(vec![Doc::Text(open), self.run(entry.nodes), comma, Doc::Text(close)]);
        }
        let edge = || match (vertical, brace) {
            (true, _) => Doc::Hard(false),
            (false, true) => Doc::Line,
            (false, false) => Doc::Soft,
        };
        let last = entries.iter().rposition(|entry| !entry.is_comment);
        let commented = entries.iter().any(|entry| entry.is_comment || entry.trailing.is_some());
        let short = |entry: &Entry<'_>| {
            let all = entry.nodes;
            all.iter().all(|node| matches!(node, Node::Token(_)))
                && all.iter().map(|node| self.text(self.first(node)).len()).sum::<usize>() <= SHORT
        };
        let fills =
            !commented && (bracket.mark == Mark::Use || open == "[" && entries.iter().all(short));
        let (mut items, mut end) = (Vec::new(), Doc::All(Vec::new()));
        for (place, entry) in entries.iter().enumerate() {
            if place > 0 {
                let own_line = entry.is_comment || entries[place - 1].is_comment || vertical;
                let blank = entry.blank && vertical;
                items.push(if own_line { Doc::Hard(blank) } else { Doc::Line });
            }
            items.push(self.run(entry.nodes));
            let rest = self.is(&entry.nodes[0], "..");
            if last == Some(place) {
                end = match (one, rest, vertical) {
                    (true, ..) | (_, false, true) => Doc::Text(","),
                    (_, true, _) => Doc::All(Vec::new()),
                    _ => Doc::Broken(","),
                };
                if !fills {
                    items.push(std::mem::replace(&mut end, Doc::All(Vec::new())));
                }
            } else if !entry.is_comment {
                items.push(Doc::Text(","));
            }
            items.extend(self.trailing(entry));
        }
        let items = if fills { Doc::Fill(items) } else { Doc::All(items) };
        let within = Doc::All(vec![edge(), items, end]).nest();
        Doc::All(vec![Doc::Text(open), within, edge(), Doc::Text(close)])
    }

    /// Lays out statements, arms or items between braces, to be broken with the group around.
    fn block(&self, bracket: &Bracket) -> Doc<'t> {
        let arms = bracket.mark == Mark::Arms;
        let split = |nodes| if arms { self.arms(nodes) } else { self.by_starts(nodes) };
        let mut nodes = &bracket.nodes[..];
        if nodes.is_empty() {
            return Doc::Text("{}");
        }
        let mut open = vec![Doc::Text("{")];
        if let Some(comment) = self.comment(&nodes[0])
            && self.breaks_before(comment) == 0
            && self.has_lines(bracket)
        {
            open.extend([Doc::Text(" "), Doc::Text(self.text(comment))]);
            nodes = &nodes[1..];
        }
        let entries = split(nodes);
        let last = entries.iter().rposition(|entry| !entry.is_comment);
        let hard = self.has_lines(bracket) || bracket.mark == Mark::Items;
        let mut items = Vec::new();
        for (place, entry) in entries.iter().enumerate() {
            if hard {
                items.push(Doc::Hard(place > 0 && entry.blank));
            } else {
                items.push(Doc::Line);
            }
            items.push(self.run(entry.nodes));
            if arms && !entry.is_comment && !self.is_block_arm(entry.nodes) {
                let flat = last == Some(place) && !hard;
                items.push(if flat { Doc::Broken(",") } else { Doc::Text(",") });
            }
            items.extend(self.trailing(entry));
        }
        let end = if hard { Doc::Hard(false) } else { Doc::Line };
        open.extend([Doc::All(items).nest(), end, Doc::Text("}")]);
        Doc::All(open)
    }

    /// Splits the arms of a `match`, and leaves out their commas.
    fn arms<'n>(&self, nodes: &'n [Node]) -> Vec<Entry<'n>> {
        self.split(nodes, |place| self.starts(&nodes[place]), |place| self.is(&nodes[place], ","))
    }

    /// Returns whether an arm is `pattern => { … }`.
    fn is_block_arm(&self, nodes: &[Node]) -> bool {
        let [.., arrow, Node::Bracket(last)] = nodes else { return false };
        last.mark == Mark::Block && self.is(arrow, "=>")
    }

    /// Returns whether an expression ends with a bracket that can be broken instead of what is
    /// around.
    fn hugs(&self, nodes: &[Node]) -> bool {
        let Some(Node::Bracket(last)) = nodes.last() else { return false };
        let breaks = matches!(last.mark, Mark::List | Mark::Block | Mark::Arms)
            || last.nodes.iter().any(|node| self.is(node, "for"));
        breaks && !nodes.iter().any(|node| self.is_operator(node)) && self.calls(nodes) < 2
    }

    fn is_operator(&self, node: &Node) -> bool {
        matches!(node, Node::Token(token) if matches!(self.mark(*token), Mark::Binary(_)))
    }

    fn is_glued(&self, node: &Node) -> bool {
        matches!(node, Node::Token(token) if self.mark(*token) == Mark::Glued)
    }

    fn is_block(&self, node: &Node) -> bool {
        matches!(node, Node::Bracket(bracket)
            if matches!(bracket.mark, Mark::Block | Mark::Arms | Mark::Items | Mark::Fields))
    }

    fn is_line_comment(&self, node: &Node) -> bool {
        self.comment(node).is_some_and(|token| self.kind(token) == Token::LineComment)
    }

    fn token(&self, node: &Node) -> Doc<'t> {
        Doc::Text(self.text(self.first(node)))
    }
}
