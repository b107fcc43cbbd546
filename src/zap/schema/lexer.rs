//! Tokens of a schema's text. Owns what a name, a number and a comment are; keeps comments for those that want them.

use super::error::{Problem, shown};

/// A piece of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A letter or `_`, then letters, digits and `_`; all ASCII.
    Name(&'t str),
    /// Decimal digits.
    Number(&'t str),
    /// One of `{ } [ ] < > = @`.
    Mark(char),
    /// Behind the last.
    End,
}

impl Token<'_> {
    /// The token as an error shows it.
    pub(super) fn shown(self) -> String {
        match self {
            Self::Name(text) | Self::Number(text) => format!("`{}`", shown(text)),
            Self::Mark(mark) => format!("`{mark}`"),
            Self::End => "the end of the file".to_owned(),
        }
    }
}

/// A comment's text, and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comment<'t> {
    pub(super) line: u32,
    /// Whether nothing stands in front of it.
    pub(super) alone: bool,
    pub(super) text: &'t str,
}

/// The tokens of a text, one by one.
#[derive(Debug)]
pub(super) struct Lexer<'t> {
    rest: &'t str,
    line: u32,
    /// The line of the last token.
    last: u32,
    /// The comments since they were last taken.
    comments: Vec<Comment<'t>>,
}

impl<'t> Lexer<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self { rest: text, line: 1, last: 0, comments: Vec::new() }
    }

    /// The next token and its line.
    pub(super) fn next(&mut self) -> Result<(Token<'t>, u32), (u32, Problem)> {
        self.skip();
        let Some(first) = self.rest.chars().next() else {
            return Ok((Token::End, self.line));
        };
        let token = match first {
            'a'..='z' | 'A'..='Z' | '_' => Token::Name(self.take(|c| c.is_ascii_alphanumeric() || c == '_')),
            '0'..='9' => Token::Number(self.take(|c| c.is_ascii_digit())),
            '{' | '}' | '[' | ']' | '<' | '>' | '=' | '@' => {
                self.rest = &self.rest[1..];
                Token::Mark(first)
            }
            _ => {
                let expected = "a name, a number, or one of { } [ ] < > = @";
                return Err((self.line, Problem::Expected { expected, found: format!("{first:?}") }));
            }
        };
        self.last = self.line;
        Ok((token, self.line))
    }

    /// The comments that were passed since this was last called.
    pub(super) fn take_comments(&mut self) -> Vec<Comment<'t>> {
        std::mem::take(&mut self.comments)
    }

    /// Passes white space and comments.
    fn skip(&mut self) {
        loop {
            let blank = self.take(|c| c.is_ascii_whitespace());
            let lines = blank.bytes().filter(|byte| *byte == b'\n').count();
            self.line = self.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
            let Some(comment) = self.rest.strip_prefix('#') else {
                return;
            };
            self.rest = comment;
            let text = self.take(|c| c != '\n').trim();
            self.comments.push(Comment { line: self.line, alone: self.last != self.line, text });
        }
    }

    /// Passes the characters that belong.
    fn take(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        let (taken, rest) = self.rest.split_at(self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len()));
        self.rest = rest;
        taken
    }
}
