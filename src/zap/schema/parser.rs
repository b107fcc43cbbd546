//! Syntax of a schema: recursive descent without the recursion, since a type has at most one type inside of it. Owns the
//! grammar and which comment belongs to what; whether names mean anything is [`check`](super::check)'s.

use super::error::Problem;
use super::lexer::{Comment, Lexer, Token};
use super::{MAX_LIST_DEPTH, MAX_SECTION_BYTES, Scalar, Type};

/// A schema as it is written.
#[derive(Debug)]
pub(super) struct Syntax<'t> {
    pub(super) package: &'t str,
    pub(super) comment: Vec<String>,
    pub(super) aliases: Vec<Alias<'t>>,
    pub(super) structs: Vec<StructSyntax<'t>>,
}

/// `type NAME = KIND`.
#[derive(Debug)]
pub(super) struct Alias<'t> {
    pub(super) name: &'t str,
    pub(super) line: u32,
    pub(super) kind: Kind<'t>,
}

/// `struct NAME { FIELDS }`.
#[derive(Debug)]
pub(super) struct StructSyntax<'t> {
    pub(super) name: &'t str,
    pub(super) line: u32,
    pub(super) comment: Vec<String>,
    pub(super) fields: Vec<FieldSyntax<'t>>,
}

/// `NAME KIND @ OFFSET`.
#[derive(Debug)]
pub(super) struct FieldSyntax<'t> {
    pub(super) name: &'t str,
    pub(super) line: u32,
    pub(super) comment: Vec<String>,
    pub(super) kind: Kind<'t>,
    pub(super) offset: u32,
}

/// A type: something in so many lists.
#[derive(Clone, Debug)]
pub(super) struct Kind<'t> {
    pub(super) lists: u32,
    pub(super) inner: Inner<'t>,
}

/// What is in the innermost list.
#[derive(Clone, Debug)]
pub(super) enum Inner<'t> {
    BuiltIn(Type),
    Named(&'t str, u32),
}

/// The types that are one name.
pub(super) fn built_in(name: &str) -> Option<Type> {
    match name {
        "bytes" => Some(Type::Bytes),
        "text" => Some(Type::Text),
        _ => Scalar::ALL.into_iter().find(|scalar| scalar.name() == name).map(Type::Scalar),
    }
}

type Parsed<T> = Result<T, (u32, Problem)>;

/// Reads the syntax of a schema.
pub(super) fn parse(text: &str) -> Parsed<Syntax<'_>> {
    let mut parser = Parser { lexer: Lexer::new(text), token: Token::End, line: 1, end: 1, comments: Vec::new() };
    parser.advance()?;
    parser.file()
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    /// The token to be looked at, and its line.
    token: Token<'t>,
    line: u32,
    /// The line of the token before it.
    end: u32,
    /// The comments that belong to nothing yet.
    comments: Vec<Comment<'t>>,
}

impl<'t> Parser<'t> {
    fn file(&mut self) -> Parsed<Syntax<'t>> {
        let comment = self.comment_above();
        self.word("package", "`package`, with which a schema starts")?;
        let package = self.name("the package's name")?.0;
        let (mut aliases, mut structs) = (Vec::new(), Vec::new());
        loop {
            match self.token {
                Token::Name("type") => aliases.push(self.alias()?),
                Token::Name("struct") => structs.push(self.structure()?),
                Token::End => return Ok(Syntax { package, comment, aliases, structs }),
                _ => return self.expected("`type`, `struct` or the end of the file"),
            }
        }
    }

    fn alias(&mut self) -> Parsed<Alias<'t>> {
        self.comments.clear();
        self.advance()?;
        let (name, line) = self.name("the alias's name")?;
        self.mark('=', "`=` behind the alias's name")?;
        let kind = self.kind("the type that the alias stands for")?;
        Ok(Alias { name, line, kind })
    }

    fn structure(&mut self) -> Parsed<StructSyntax<'t>> {
        let comment = self.comment_above();
        self.advance()?;
        let (name, line) = self.name("the struct's name")?;
        self.mark('{', "`{` behind the struct's name")?;
        self.comments.retain(|comment| comment.alone);
        let mut fields = Vec::new();
        while self.token != Token::Mark('}') {
            fields.push(self.field()?);
        }
        self.advance()?;
        Ok(StructSyntax { name, line, comment, fields })
    }

    fn field(&mut self) -> Parsed<FieldSyntax<'t>> {
        let mut comment = self.comment_above();
        let (name, line) = self.name("a field's name or `}`")?;
        let kind = self.kind("the field's type")?;
        self.mark('@', "`@` and the field's offset")?;
        let offset = self.number("the field's offset")?;
        comment.extend(self.comment_behind());
        Ok(FieldSyntax { name, line, comment, kind, offset })
    }

    fn kind(&mut self, expected: &'static str) -> Parsed<Kind<'t>> {
        let mut lists = 0;
        while self.token == Token::Name("list") {
            if lists == MAX_LIST_DEPTH {
                return Err((self.line, Problem::ListTooDeep));
            }
            self.advance()?;
            self.mark('<', "`<` and the type of the list's elements")?;
            lists += 1;
        }
        let (name, line) = self.name(if lists == 0 { expected } else { "the type of the list's elements" })?;
        let inner = match built_in(name) {
            Some(kind) => Inner::BuiltIn(kind),
            None if name == "bytes_fixed" => {
                self.mark('[', "`[` and the number of bytes")?;
                let width = self.number("the number of bytes")?;
                self.mark(']', "`]` behind the number of bytes")?;
                Inner::BuiltIn(Type::BytesFixed(width))
            }
            None => Inner::Named(name, line),
        };
        for _ in 0..lists {
            self.mark('>', "`>` behind the type of the list's elements")?;
        }
        Ok(Kind { lists, inner })
    }

    fn name(&mut self, expected: &'static str) -> Parsed<(&'t str, u32)> {
        let Token::Name(name) = self.token else {
            return self.expected(expected);
        };
        let line = self.line;
        self.advance()?;
        Ok((name, line))
    }

    /// A number that can be an offset or a width.
    fn number(&mut self, expected: &'static str) -> Parsed<u32> {
        let Token::Number(digits) = self.token else {
            return self.expected(expected);
        };
        match digits.parse() {
            Ok(number) if number <= MAX_SECTION_BYTES => {
                self.advance()?;
                Ok(number)
            }
            _ => Err((self.line, Problem::SectionTooLarge)),
        }
    }

    fn word(&mut self, word: &str, expected: &'static str) -> Parsed<()> {
        if self.token == Token::Name(word) { self.advance() } else { self.expected(expected) }
    }

    fn mark(&mut self, mark: char, expected: &'static str) -> Parsed<()> {
        if self.token == Token::Mark(mark) { self.advance() } else { self.expected(expected) }
    }

    #[cold]
    fn expected<T>(&self, expected: &'static str) -> Parsed<T> {
        Err((self.line, Problem::Expected { expected, found: self.token.shown() }))
    }

    fn advance(&mut self) -> Parsed<()> {
        self.end = self.line;
        (self.token, self.line) = self.lexer.next()?;
        self.comments.extend(self.lexer.take_comments());
        Ok(())
    }

    /// The comment that ends in the line above the token, or in the token's own.
    fn comment_above(&mut self) -> Vec<String> {
        let comments = std::mem::take(&mut self.comments);
        let mut below = self.line;
        let mut lines: Vec<String> = comments
            .iter()
            .rev()
            .take_while(|comment| {
                let next = comment.alone && comment.line + 1 == below;
                below = comment.line;
                next
            })
            .map(|comment| comment.text.to_owned())
            .collect();
        lines.reverse();
        lines
    }

    /// The comment in the line of the last token, behind it.
    fn comment_behind(&mut self) -> Option<String> {
        let behind =
            self.comments.first().filter(|comment| !comment.alone && comment.line == self.end)?.text.to_owned();
        self.comments.remove(0);
        Some(behind)
    }
}
