//! What tokens are beyond their texts, for the formatter.

/// What a token is. Of brackets the first one is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// What its text says, or brackets around one expression.
    #[default]
    Plain,
    /// `<` or `>` around arguments.
    Angle,
    /// Brackets around a list.
    List,
    /// Brackets around a tuple of one.
    One,
    /// Braces around the fields or variants of a declaration.
    Fields,
    /// Braces around names of `use`.
    Use,
    /// Braces around statements.
    Block,
    /// Braces around the arms of a `match`.
    Arms,
    /// Braces around functions.
    Items,
    /// An operator before its operand.
    Prefix,
    /// An operator between operands, and how tightly it binds.
    Binary(u8),
    /// It is one operator with the token before.
    Glued,
}

/// The marks of all tokens but comments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    marks: Vec<Mark>,
    /// The first tokens of items, statements and arms, in order.
    starts: Vec<usize>,
}

impl Marks {
    /// Returns what a token is, and whether an item, a statement or an arm begins with it.
    pub fn of(&self, token: usize) -> (Mark, bool) {
        let mark = self.marks.get(token).copied().unwrap_or_default();
        (mark, self.starts.binary_search(&token).is_ok())
    }

    pub(super) fn set(&mut self, token: usize, mark: Mark) {
        if self.marks.len() <= token {
            self.marks.resize(token + 1, Mark::Plain);
        }
        self.marks[token] = mark;
    }

    pub(super) fn start(&mut self, token: usize) {
        if self.starts.last().is_none_or(|&last| last < token) {
            self.starts.push(token);
        }
    }
}
