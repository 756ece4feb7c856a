//! Words, literals and lists: the parser next to its tokens.

use super::lexer::{self, Token};
use super::{Parse, Parsed, Parser};
use crate::ir::{Checkpoint, Lit, Message, Mode, Monoid, Scalar, ValueId};
use crate::ops::{Prim, Unknown};

impl<S: Parse> Parser<S> {
    pub(crate) fn lit(&mut self) -> Parsed<Lit> {
        let negative = self.accept("-");
        let text = match self.advance()? {
            Token::Number(text) | Token::Word(text) => text,
            Token::Value(_) | Token::Text(_) | Token::Punct(_) => {
                return Err("expected a literal".into());
            }
        };
        let bits = if text.starts_with("nan_") && self.accept("(") {
            let digits = self.number()?;
            self.expect(")")?;
            Some(digits)
        } else {
            None
        };
        lexer::literal(negative, &text, bits.as_deref())
            .ok_or_else(|| format!("`{text}` is no literal"))
    }

    pub(crate) fn number(&mut self) -> Parsed<String> {
        match self.advance()? {
            Token::Number(text) => Ok(text),
            _ => Err("expected a number".into()),
        }
    }

    pub(crate) fn text(&mut self) -> Parsed<String> {
        match self.advance()? {
            Token::Text(text) => Ok(text),
            _ => Err("expected a text in quotes".into()),
        }
    }

    pub(crate) fn peek_text(&self) -> bool {
        matches!(self.token(), Some(Token::Text(_)))
    }

    pub(crate) fn peek_number(&self) -> bool {
        matches!(self.token(), Some(Token::Number(_)))
    }

    pub(crate) fn monoid(&mut self) -> Parsed<Monoid> {
        let word = self.word()?;
        Monoid::from_name(&word).ok_or_else(|| format!("`{word}` is no monoid"))
    }

    /// A primitive that begins with this word, and its operands; `None` if it is not one.
    pub(crate) fn prim(&mut self, word: &str) -> Parsed<Option<(Prim, Vec<ValueId>)>> {
        let prim = match word {
            "cast" => {
                let to = self.word()?;
                Prim::Cast(
                    Scalar::from_name(&to).ok_or_else(|| format!("`{to}` is no scalar type"))?,
                )
            }
            "check" => Prim::Check(self.extent()?),
            "wrap" => Prim::Wrap(self.extent()?),
            "clamp_to" => Prim::ClampTo(self.extent()?),
            "mirror" => Prim::Mirror(self.extent()?),
            "in_range" => Prim::InRange(self.extent()?),
            "trust" => Prim::Trust(self.extent()?),
            "call" => {
                let anywhere = self.accept("anywhere");
                let function = self.number()?;
                let function = function
                    .parse()
                    .map_err(|_| format!("`{function}` is too large"))?;
                let to = self.word()?;
                let result =
                    Scalar::from_name(&to).ok_or_else(|| format!("`{to}` is no scalar type"))?;
                let operands = self.values()?;
                let arity = u8::try_from(operands.len()).map_err(|_| "too many operands")?;
                let call = Prim::Call(Unknown {
                    function,
                    arity,
                    result,
                    anywhere,
                });
                return Ok(Some((call, operands)));
            }
            word => match Prim::from_name(word) {
                Some(prim) => prim,
                None => return Ok(None),
            },
        };
        Ok(Some((prim, self.values()?)))
    }

    /// `%c, "message"`
    pub(crate) fn assertion(&mut self) -> Parsed<(ValueId, Message, Vec<ValueId>)> {
        let cond = self.value()?;
        self.expect(",")?;
        let text = self.text()?;
        let (message, _) = Message::parse(&text).ok_or("expected a format string")?;
        let mut shown = Vec::new();
        while self.accept(",") {
            shown.push(self.value()?);
        }
        Ok((cond, message, shown))
    }

    /// `checkpoint 8`, `checkpoint levels 3`, `checkpoint log`, or nothing.
    pub(crate) fn checkpoint(&mut self) -> Parsed<Option<Checkpoint>> {
        if !self.accept("checkpoint") {
            return Ok(None);
        }
        if self.accept("log") {
            return Ok(Some(Checkpoint::Log));
        }
        let levels = self.accept("levels");
        let count = self.number()?.parse().map_err(|_| "expected a number")?;
        Ok(Some(if levels {
            Checkpoint::Levels(count)
        } else {
            Checkpoint::Every(count)
        }))
    }

    /// `vjp` or `jvp`.
    pub(crate) fn mode(&self, word: &str) -> Parsed<Mode> {
        let modes = [Mode::Tangent, Mode::Cotangent];
        let mode = modes.into_iter().find(|mode| mode.name() == word);
        mode.ok_or_else(|| format!("`{word}` is neither `vjp` nor `jvp`"))
    }

    pub(crate) fn unknown<T>(&self, word: &str) -> Parsed<T> {
        Err(format!("`{word}` is no operation of {}", S::NAME))
    }

    pub(crate) fn word(&mut self) -> Parsed<String> {
        match self.advance()? {
            Token::Word(word) => Ok(word),
            _ => Err("expected a name".into()),
        }
    }

    /// The next token if it is a word or punctuation.
    pub(crate) fn peek(&self) -> Option<&str> {
        match self.token() {
            Some(Token::Word(word)) => Some(word),
            Some(Token::Punct(punct)) => Some(punct),
            _ => None,
        }
    }

    pub(crate) fn accept(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        self.next += usize::from(found);
        found
    }

    pub(crate) fn expect(&mut self, word: &str) -> Parsed<()> {
        if self.accept(word) {
            return Ok(());
        }
        self.next += 1;
        Err(format!("expected `{word}`"))
    }

    pub(super) fn advance(&mut self) -> Parsed<Token> {
        let token = self.token().cloned();
        self.next += 1;
        token.ok_or_else(|| "unexpected end".into())
    }

    pub(crate) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.accept(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Items with commas between them, possibly none, up to `end`.
    pub(crate) fn list_until(
        &mut self,
        end: Option<&str>,
        mut item: impl FnMut(&mut Self) -> Parsed<()>,
    ) -> Parsed<()> {
        if end.is_some_and(|end| self.accept(end)) {
            return Ok(());
        }
        self.list(&mut item)?;
        end.map_or(Ok(()), |end| self.expect(end))
    }
}
