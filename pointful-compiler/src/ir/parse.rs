//! Parsing: the inverse of [`print`](mod@super::print).
//!
//! Values are numbered as the text numbers them. Types are not written but for parameters and
//! buffers; they follow from the operations, by the same [typing](super::typing) that the verifier
//! compares with. Sizes are those in the list that the text begins with; without one, those that it
//! mentions, in that order. A statement's span is the number of its line. Text after `; error:` on
//! a line is a remark for filetests and is skipped.

mod bulk;
mod cpu;
mod gpu;
mod imperative;
mod lexer;
mod point;
#[cfg(test)]
mod tests;
mod words;

pub use imperative::ParseOwn;

use std::collections::BTreeMap;
use std::fmt;

use lexer::{Lexeme, Token, lex};

use super::print::Print;
use super::typing::Typing;
use super::verify::{Verify, VerifyError, verify};
use super::{
    AxisId, Block, Elem, Extent, Operation, Program, Scalar, SizeId, SpanId, Stage, Stmt, Type,
    ValueId,
};

/// Why a text is not a program, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// The line itself.
    pub source: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let margin = self.line.to_string();
        let blank = " ".repeat(margin.len());
        writeln!(f, "{blank} | {}:{}", self.line, self.column)?;
        writeln!(f, "{margin} | {}", self.source)?;
        write!(
            f,
            "{blank} | {}^ {}",
            " ".repeat(self.column - 1),
            self.message
        )
    }
}

impl std::error::Error for ParseError {}

/// What is wrong, before it is known where.
pub(crate) type Parsed<T> = Result<T, String>;

/// A stage whose programs can be parsed: what is particular to it.
pub trait Parse: Print + Typing {
    /// A dimension of a type.
    fn parse_dim(p: &mut Parser<Self>) -> Parsed<Self::Dim>;

    /// What follows a value where it is bound.
    fn parse_binding(p: &mut Parser<Self>) -> Parsed<Vec<Self::Dim>>;

    /// The lines before the function.
    fn parse_decls(p: &mut Parser<Self>) -> Parsed<()>;

    /// What follows a result of the function.
    fn parse_returned(p: &mut Parser<Self>) -> Parsed<()>;

    /// An operation that begins with this word.
    fn parse_op(p: &mut Parser<Self>, word: &str) -> Parsed<Self::Op>;
}

/// Parses a program and verifies it.
pub fn parse<S: Parse + Verify>(text: &str) -> Result<Program<S>, ParseError> {
    let mut parser = Parser::<S>::read(text)?;
    verify(&parser.program).map_err(|error| {
        let line = line_of(&parser.program, text, &error);
        let source = text.lines().nth(line - 1).unwrap_or_default().to_string();
        let indent = source.len() - source.trim_start().len();
        ParseError {
            line,
            column: indent + 1,
            message: error.to_string(),
            source,
        }
    })?;
    parser
        .check_result_types()
        .map_err(|message| parser.locate(text, message))?;
    Ok(parser.program)
}

/// Parses a program that may be invalid.
///
/// Where an operation cannot be typed its results are given some type, and what is bound twice
/// keeps the type it got first. The types that the function states for its results are not looked
/// at.
pub fn parse_unverified<S: Parse>(text: &str) -> Result<Program<S>, ParseError> {
    Ok(Parser::read(text)?.program)
}

/// The line of the text, counted from 1, that an error found in the parsed program is about.
pub fn line_of<S: Stage>(program: &Program<S>, text: &str, error: &VerifyError) -> usize {
    fn lines<S: Stage>(block: &Block<S>, found: &mut Vec<usize>) {
        for stmt in &block.stmts {
            found.push(stmt.span.0 as usize);
            for inner in stmt.op.blocks() {
                lines(inner, found);
            }
        }
    }
    let mut found = Vec::new();
    lines(&program.body, &mut found);
    let head = || text.lines().position(|line| line.starts_with("fn "));
    match error.stmt.and_then(|stmt| found.get(stmt)) {
        Some(&line) => line,
        None => 1 + head().unwrap_or(0),
    }
}

/// A program being parsed.
pub struct Parser<S: Stage> {
    tokens: Vec<Lexeme>,
    next: usize,
    pub(crate) program: Program<S>,
    values: BTreeMap<String, ValueId>,
    /// By value: whether it is bound.
    bound: Vec<bool>,
    sizes: BTreeMap<String, SizeId>,
    pub(crate) axes: BTreeMap<String, AxisId>,
    /// The type that the operation states for its result.
    pub(crate) declared: Option<Type<S::Dim>>,
    /// The types that the function states for its results, each with the token that it begins at.
    stated: Vec<(usize, Type<S::Dim>)>,
    /// Whether the text began with a list of its sizes, which is complete then.
    sizes_listed: bool,
}

impl<S: Parse> Parser<S> {
    fn read(text: &str) -> Result<Self, ParseError> {
        let mut parser = Parser {
            tokens: lex(text),
            next: 0,
            program: Program::new(""),
            values: BTreeMap::new(),
            bound: Vec::new(),
            sizes: BTreeMap::new(),
            axes: BTreeMap::new(),
            declared: None,
            stated: Vec::new(),
            sizes_listed: false,
        };
        match parser.program() {
            Ok(()) => Ok(parser),
            Err(message) => Err(parser.locate(text, message)),
        }
    }

    /// An error at the token read last; what is missing at the end of a line is missing there.
    fn locate(&self, text: &str, message: String) -> ParseError {
        let last = self.next.saturating_sub(1);
        let before = last.checked_sub(1).and_then(|k| self.tokens.get(k));
        let at = match (before, self.tokens.get(last)) {
            (Some(before), Some(found)) if before.line == found.line => found.at,
            (Some(before), _) if message.starts_with("expected") => before.end,
            (_, Some(found)) => found.at,
            (_, None) => text.trim_end().len(),
        };
        let before = &text[..at];
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |n| n + 1);
        let source = text.lines().nth(line - 1).unwrap_or_default().to_string();
        ParseError {
            line,
            column: text[start..at].chars().count() + 1,
            message,
            source,
        }
    }

    /// Makes values of the parameters' names: the words before a colon between `fn` and the first
    /// `)`. Extents above the function may mention them, and are not sizes then.
    fn name_params(&mut self) {
        let words = self.tokens.iter().map(|lexeme| &lexeme.token);
        let head = words.skip_while(|&token| *token != Token::Word("fn".into()));
        let head: Vec<Token> = head
            .take_while(|&token| *token != Token::Punct(")".into()))
            .cloned()
            .collect();
        for pair in head.windows(2) {
            if let [Token::Word(name), Token::Punct(colon)] = pair
                && colon == ":"
            {
                self.named(name);
            }
        }
    }

    fn program(&mut self) -> Parsed<()> {
        self.name_params();
        if self.accept("sizes") {
            self.list_until(None, |p| {
                let name = p.word()?;
                p.size(&name)?;
                Ok(())
            })?;
            self.sizes_listed = true;
        }
        S::parse_decls(self)?;
        self.expect("fn")?;
        self.program.name = self.word()?;
        self.expect("(")?;
        self.list_until(Some(")"), |p| {
            let owned = p.accept("own");
            let name = p.word()?;
            p.expect(":")?;
            let ty = p.ty()?;
            let value = p.named(&name);
            p.bind_as(value, ty);
            p.program.values[value.index()].name = Some(name.clone());
            p.program.params.push(super::Param { name, value, owned });
            Ok(())
        })?;
        self.stated = self.result_types()?;
        self.expect("{")?;
        self.program.body = self.statements("return")?;
        match self.tokens.get(self.next) {
            None => Ok(()),
            Some(_) => {
                self.next += 1;
                Err("expected the end".into())
            }
        }
    }

    /// `-> f64`, `-> (f64, f64[I])` or nothing: each type and the token that it begins at.
    fn result_types(&mut self) -> Parsed<Vec<(usize, Type<S::Dim>)>> {
        let mut types = Vec::new();
        if self.accept("-") {
            self.expect(">")?;
            if self.accept("(") {
                self.list_until(Some(")"), |p| {
                    types.push((p.next, p.ty()?));
                    Ok(())
                })?;
            } else {
                types.push((self.next, self.ty()?));
            }
        }
        Ok(types)
    }

    /// The types of the results follow from the body, and those stated must be these.
    fn check_result_types(&mut self) -> Parsed<()> {
        let count = self.program.body.results.len();
        if self.stated.len() != count {
            self.next = self.stated.first().map_or(self.next, |&(token, _)| token);
            return Err(format!("{count} results are returned"));
        }
        for (k, (token, ty)) in self.stated.iter().enumerate() {
            if S::result_type(&self.program, k) != *ty {
                self.next = token + 1;
                return Err("the result that is returned has another type".into());
            }
        }
        Ok(())
    }

    /// Statements up to `}`, the last of which may give results.
    fn statements(&mut self, give: &str) -> Parsed<Block<S>> {
        let mut block = Block::default();
        loop {
            if self.accept("}") {
                return Ok(block);
            }
            if self.accept(give) {
                if self.peek() != Some("}") && self.peek() != Some(";") {
                    block.results = self.list(|p| {
                        let value = p.value()?;
                        if give == "return" {
                            S::parse_returned(p)?;
                        }
                        Ok(value)
                    })?;
                }
                if self.accept(";") {
                    block.results.extend(self.list(Self::value)?);
                }
                self.expect("}")?;
                return Ok(block);
            }
            block.stmts.push(self.statement()?);
        }
    }

    fn statement(&mut self) -> Parsed<Stmt<S>> {
        let span = SpanId(self.line());
        let mut results = Vec::new();
        if self.peek_value() {
            results = self.list(|p| {
                let value = p.value()?;
                Ok((value, S::parse_binding(p)?))
            })?;
            self.expect("=")?;
        }
        let word = self.word()?;
        let op = S::parse_op(self, &word)?;
        // A guard stands on the line of its operation; an `if` on the next line is a statement.
        let guard = if self.line() == self.last_line() && self.accept("if") {
            Some(self.value()?)
        } else {
            None
        };
        // What is wrong with the operation is the verifier's to say.
        let declared = self.declared.take();
        let types = S::types(&self.program, &op, declared.clone())
            .unwrap_or_else(|_| declared.into_iter().collect());
        let mut types = types.into_iter();
        let mut values = Vec::new();
        for (value, dims) in results {
            let ty = types.next().unwrap_or(Type::scalar(Elem::BOOL));
            let dims = if S::WRITES_DIMS { dims } else { ty.dims };
            self.bind_as(value, Type::table(ty.elem, dims));
            values.push(value);
        }
        Ok(Stmt {
            results: values,
            op,
            guard,
            span,
        })
    }

    // Values.

    fn named(&mut self, name: &str) -> ValueId {
        if let Some(&value) = self.values.get(name) {
            return value;
        }
        let value = self.program.value(Type::scalar(Elem::BOOL), SpanId::NONE);
        self.values.insert(name.to_string(), value);
        self.bound.push(false);
        value
    }

    /// Binds a value. A second time is the verifier's to complain about.
    pub(crate) fn bind_as(&mut self, value: ValueId, ty: Type<S::Dim>) {
        if !std::mem::replace(&mut self.bound[value.index()], true) {
            self.program.values[value.index()].ty = ty;
        }
    }

    fn token(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|lexeme| &lexeme.token)
    }

    /// The line of the next token, or of the last.
    fn line(&self) -> u32 {
        let next = self.tokens.get(self.next).or(self.tokens.last());
        next.map_or(1, |lexeme| lexeme.line)
    }

    /// The line of the token before.
    fn last_line(&self) -> u32 {
        let last = self.next.checked_sub(1);
        last.and_then(|last| self.tokens.get(last))
            .map_or(1, |lexeme| lexeme.line)
    }

    fn peek_value(&self) -> bool {
        matches!(self.token(), Some(Token::Value(_)))
    }

    /// A value where it is used: `%3`, or a parameter's name.
    pub(crate) fn value(&mut self) -> Parsed<ValueId> {
        match self.advance()? {
            Token::Value(name) => Ok(self.named(&name)),
            Token::Word(name) => match self.values.get(&name) {
                Some(&value) => Ok(value),
                None => Err(format!("no parameter is called `{name}`")),
            },
            Token::Number(_) | Token::Text(_) | Token::Punct(_) => Err("expected a value".into()),
        }
    }

    pub(crate) fn values(&mut self) -> Parsed<Vec<ValueId>> {
        self.list(Self::value)
    }

    /// `%1: I`: an index being bound.
    pub(crate) fn index(&mut self) -> Parsed<(ValueId, Extent)> {
        let value = self.value()?;
        self.expect(":")?;
        let extent = self.extent()?;
        self.bind_as(value, Type::scalar(Elem::Index(extent)));
        Ok((value, extent))
    }

    /// `(%2 = %0, …)`: states being bound, with what they begin as.
    pub(crate) fn states(&mut self) -> Parsed<(Vec<ValueId>, Vec<ValueId>)> {
        self.expect("(")?;
        let mut states = Vec::new();
        let mut init = Vec::new();
        self.list_until(Some(")"), |p| {
            let state = p.value()?;
            let dims = S::parse_binding(p)?;
            p.expect("=")?;
            let first = p.value()?;
            let ty = p.program.ty(first).clone();
            let dims = if S::WRITES_DIMS { dims } else { ty.dims };
            p.bind_as(state, Type::table(ty.elem, dims));
            states.push(state);
            init.push(first);
            Ok(())
        })?;
        Ok((states, init))
    }

    /// `{ |%1, %2| … }`: a block whose parameters have the types of `like`, over and over.
    pub(crate) fn block_like(&mut self, like: &[ValueId]) -> Parsed<Block<S>> {
        self.expect("{")?;
        let mut params = Vec::new();
        if self.accept("|") {
            params = self.list(|p| {
                let value = p.value()?;
                Ok((value, S::parse_binding(p)?))
            })?;
            self.expect("|")?;
        }
        let mut bound = Vec::new();
        for (k, (value, dims)) in params.into_iter().enumerate() {
            let Some(&first) = like.get(k % like.len().max(1)) else {
                return Err("too many parameters".into());
            };
            let ty = self.program.ty(first).clone();
            let dims = if S::WRITES_DIMS { dims } else { ty.dims };
            self.bind_as(value, Type::table(ty.elem, dims));
            bound.push(value);
        }
        let mut block = self.statements("yield")?;
        block.params = bound;
        Ok(block)
    }

    /// `{ … }`: a block whose parameters are bound already.
    pub(crate) fn block(&mut self, params: Vec<ValueId>) -> Parsed<Block<S>> {
        self.expect("{")?;
        let mut block = self.statements("yield")?;
        block.params = params;
        Ok(block)
    }

    /// The results of a block that have derivatives.
    pub(crate) fn floats(&self, block: &Block<S>) -> Vec<ValueId> {
        self.program.floats(&block.results)
    }

    /// `%t[%i, %j]`
    pub(crate) fn place(&mut self) -> Parsed<(ValueId, Vec<ValueId>)> {
        let table = self.value()?;
        Ok((table, self.bracketed("[", "]")?))
    }

    /// Values between brackets, possibly none.
    pub(crate) fn bracketed(&mut self, open: &str, close: &str) -> Parsed<Vec<ValueId>> {
        self.expect(open)?;
        let mut values = Vec::new();
        self.list_until(Some(close), |p| {
            values.push(p.value()?);
            Ok(())
        })?;
        Ok(values)
    }

    // Types.

    /// A size by its name.
    fn size(&mut self, name: &str) -> Parsed<SizeId> {
        if let Some(&size) = self.sizes.get(name) {
            return Ok(size);
        }
        if self.sizes_listed {
            return Err(format!("`{name}` is none of the sizes listed"));
        }
        let size = self.program.size(name);
        self.sizes.insert(name.to_string(), size);
        Ok(size)
    }

    pub(crate) fn extent(&mut self) -> Parsed<Extent> {
        match self.advance()? {
            Token::Number(n) => n
                .parse()
                .map(Extent::Const)
                .map_err(|_| "expected an extent".into()),
            Token::Value(name) => Ok(Extent::Value(self.named(&name))),
            Token::Word(name) => match self.values.get(&name) {
                Some(&value) => Ok(Extent::Value(value)),
                None => self.size(&name).map(Extent::Size),
            },
            Token::Text(_) | Token::Punct(_) => Err("expected an extent".into()),
        }
    }

    pub(crate) fn ty(&mut self) -> Parsed<Type<S::Dim>> {
        let word = self.word()?;
        let elem = if matches!(word.as_str(), "idx" | "bound") {
            self.expect("<")?;
            let extent = self.extent()?;
            self.expect(">")?;
            if word == "idx" {
                Elem::Index(extent)
            } else {
                Elem::Bound(extent)
            }
        } else {
            Elem::Scalar(
                Scalar::from_name(&word).ok_or_else(|| format!("`{word}` is no element type"))?,
            )
        };
        let mut dims = Vec::new();
        if self.accept("[") {
            self.list_until(Some("]"), |p| {
                dims.push(S::parse_dim(p)?);
                Ok(())
            })?;
        }
        Ok(Type { elem, dims })
    }
}
