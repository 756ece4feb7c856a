//! Tokens of textual IR.

use crate::ir::{Lit, Scalar};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token {
    /// `for`, `I`, `f64`
    Word(String),
    /// `%3`
    Value(String),
    /// `3`, `1.0f64`, `0x7f`
    Number(String),
    /// `"…"`
    Text(String),
    /// One character, or `:=`
    Punct(String),
}

/// A token and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Lexeme {
    pub(super) token: Token,
    /// The byte it begins at.
    pub(super) at: usize,
    /// The byte after its last.
    pub(super) end: usize,
    /// Its line, counted from 1.
    pub(super) line: u32,
}

/// The tokens of a text.
pub(super) fn lex(text: &str) -> Vec<Lexeme> {
    let mut tokens: Vec<Lexeme> = Vec::new();
    let mut at = 0;
    let mut line = 1;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        line += u32::from(c == '\n');
        let (token, length) = if c.is_whitespace() {
            (None, c.len_utf8())
        } else if rest.starts_with("; error:") {
            (None, rest.find('\n').unwrap_or(rest.len()))
        } else if c == '%' {
            let length = 1 + rest[1..]
                .find(|c: char| !word(c) && c != '?')
                .unwrap_or(rest.len() - 1);
            (Some(Token::Value(rest[..length].to_string())), length)
        } else if c.is_ascii_digit() {
            let length = number(rest);
            (Some(Token::Number(rest[..length].to_string())), length)
        } else if word(c) {
            let length = name(rest);
            (Some(Token::Word(rest[..length].to_string())), length)
        } else if c == '"' {
            let (text, length) = quoted(rest);
            (Some(Token::Text(text)), length)
        } else if rest.starts_with(":=") {
            (Some(Token::Punct(":=".into())), 2)
        } else {
            (Some(Token::Punct(c.to_string())), c.len_utf8())
        };
        if let Some(token) = token {
            let end = at + length;
            tokens.push(Lexeme {
                token,
                at,
                end,
                line,
            });
        }
        at += length;
    }
    tokens
}

fn word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of a name: words with `.` or `::` between them, and `#` as in `r#type`.
fn name(text: &str) -> usize {
    let mut length = 0;
    loop {
        let rest = &text[length..];
        length += rest.find(|c| !word(c)).unwrap_or(rest.len());
        let rest = &text[length..];
        let joint = ["::", ".", "#"]
            .into_iter()
            .find(|joint| rest.starts_with(joint));
        match joint {
            Some(joint) if rest[joint.len()..].starts_with(word) => length += joint.len(),
            _ => return length,
        }
    }
}

/// The length of a number: digits, a fraction, an exponent with its sign, a type.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut n = 0;
    while n < bytes.len() {
        let c = bytes[n];
        let sign = (c == b'-' || c == b'+') && bytes[n - 1] == b'e';
        if !(c.is_ascii_alphanumeric() || c == b'.' || c == b'_' || sign) {
            break;
        }
        n += 1;
    }
    n
}

/// The text between quotes, and how long it is with them.
fn quoted(text: &str) -> (String, usize) {
    let mut out = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (out, at + 1),
            '\\' => match chars.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, c)) => out.push(c),
                None => {}
            },
            c => out.push(c),
        }
    }
    (out, text.len())
}

/// A literal: `1.0f64`, `inf_f32`, `nan_f64` (with bits), `3usize`, `true`.
pub(super) fn literal(negative: bool, text: &str, bits: Option<&str>) -> Option<Lit> {
    match text {
        "true" => return Some(Lit::Bool(true)),
        "false" => return Some(Lit::Bool(false)),
        _ => {}
    }
    let scalar = Scalar::ALL.into_iter().find(|s| text.ends_with(s.name()))?;
    let digits = text.strip_suffix(scalar.name())?;
    if let Some(bits) = bits {
        let bits = u64::from_str_radix(bits.strip_prefix("0x")?, 16).ok()?;
        return match scalar {
            Scalar::F32 => Some(Lit::F32(u32::try_from(bits).ok()?)),
            Scalar::F64 => Some(Lit::F64(bits)),
            _ => None,
        };
    }
    if scalar.is_float() {
        let sign = if negative { -1.0 } else { 1.0 };
        return match (digits, scalar) {
            ("nan_", Scalar::F32) => Some(Lit::F32(f32::NAN.to_bits())),
            ("nan_", _) => Some(Lit::F64(f64::NAN.to_bits())),
            ("inf_", _) => Some(Lit::of(scalar, sign * f64::INFINITY)),
            (digits, Scalar::F32) => Some(Lit::F32(
                (digits.parse::<f32>().ok()? * sign as f32).to_bits(),
            )),
            (digits, _) => Some(Lit::F64((digits.parse::<f64>().ok()? * sign).to_bits())),
        };
    }
    let value = digits.parse::<i128>().ok()?;
    Some(Lit::Int(scalar, if negative { -value } else { value }))
}
