//! What a failed assertion says: text with values in it.

use std::fmt;

/// The message of an assertion, written as Rust's format strings are: each placeholder shows the
/// next of the values that stand beside it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Message {
    /// In order.
    pub pieces: Vec<Piece>,
}

/// A piece of a message.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Piece {
    /// As it is.
    Text(String),
    /// A value.
    Value(Format),
}

/// How a value is shown: what stands behind the colon of a placeholder.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Format {
    /// What fills it up to its width, and where the value stands.
    pub align: Option<(char, Align)>,
    /// With a sign even where it is positive.
    pub plus: bool,
    /// Filled up with zeros behind the sign.
    pub zeros: bool,
    /// The least number of characters.
    pub width: Option<usize>,
    /// The number of digits behind the point.
    pub precision: Option<usize>,
    /// How the value itself is written.
    pub style: Style,
}

/// Where a value stands in a width that is larger than it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Align {
    /// `<`
    Left,
    /// `^`
    Centre,
    /// `>`
    Right,
}

/// How a value is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Style {
    /// `{}`
    #[default]
    Display,
    /// `{:?}`
    Debug,
    /// `{:e}`
    Exponent,
}

/// The value that a placeholder names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shown {
    /// `{}`: the next one.
    Next,
    /// `{0}`
    At(usize),
    /// `{x}`
    Named(String),
}

impl Message {
    /// A message without values.
    pub fn plain(text: impl Into<String>) -> Self {
        Self {
            pieces: vec![Piece::Text(text.into())],
        }
    }

    /// Reads a format string; beside it what each placeholder names. `None` if it is not one, or
    /// asks for what scalars do not have.
    pub fn parse(text: &str) -> Option<(Self, Vec<Shown>)> {
        let mut message = Self::default();
        let mut shown = Vec::new();
        let mut plain = String::new();
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '{' | '}' if rest.peek() == Some(&c) => {
                    rest.next();
                    plain.push(c);
                }
                '{' => {
                    let inside: String = rest.by_ref().take_while(|&c| c != '}').collect();
                    // A text that ends in the middle of a placeholder has no brace behind it.
                    let closed = text.len() - rest.clone().map(char::len_utf8).sum::<usize>();
                    if !text[..closed].ends_with('}') {
                        return None;
                    }
                    let (name, format) = inside.split_once(':').unwrap_or((&inside, ""));
                    shown.push(Shown::parse(name.trim_end())?);
                    if !plain.is_empty() {
                        message.pieces.push(Piece::Text(std::mem::take(&mut plain)));
                    }
                    message
                        .pieces
                        .push(Piece::Value(Format::parse(format.trim_end())?));
                }
                '}' => return None,
                c => plain.push(c),
            }
        }
        if !plain.is_empty() {
            message.pieces.push(Piece::Text(plain));
        }
        Some((message, shown))
    }

    /// How each of its values is shown.
    pub fn formats(&self) -> impl Iterator<Item = Format> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Value(format) => Some(*format),
        })
    }

    /// The text with values in it, as `show` shows them.
    pub fn fill<T>(
        &self,
        values: impl IntoIterator<Item = T>,
        show: impl Fn(T, Format) -> String,
    ) -> String {
        let mut values = values.into_iter();
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Value(format) => values
                .next()
                .map_or_else(String::new, |value| show(value, *format)),
        });
        pieces.collect()
    }
}

impl Shown {
    fn parse(name: &str) -> Option<Self> {
        if name.is_empty() {
            return Some(Self::Next);
        }
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return name.parse().ok().map(Self::At);
        }
        is_name(name).then(|| Self::Named(name.to_owned()))
    }
}

/// Whether a text is a name.
fn is_name(text: &str) -> bool {
    let is_start = |c: char| c.is_alphabetic() || c == '_';
    text.starts_with(is_start) && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

impl Format {
    fn parse(text: &str) -> Option<Self> {
        let mut format = Self::default();
        let mut rest = text;
        let mut chars = text.chars();
        if let (Some(first), second) = (chars.next(), chars.next()) {
            if let Some(align) = second.and_then(Align::of) {
                format.align = Some((first, align));
                rest = &rest[first.len_utf8() + 1..];
            } else if let Some(align) = Align::of(first) {
                format.align = Some((' ', align));
                rest = &rest[1..];
            }
        }
        if let Some(behind) = rest.strip_prefix('+') {
            (format.plus, rest) = (true, behind);
        }
        if let Some(behind) = rest.strip_prefix('0') {
            (format.zeros, rest) = (true, behind);
        }
        (format.width, rest) = digits(rest)?;
        if let Some(behind) = rest.strip_prefix('.') {
            (format.precision, rest) = digits(behind)?;
            format.precision?;
        }
        format.style = match rest {
            "" => Style::Display,
            "?" => Style::Debug,
            "e" => Style::Exponent,
            _ => return None,
        };
        Some(format)
    }

    /// The text of a value of that precision and style, signed and filled up.
    pub fn padded(self, text: &str) -> String {
        let negative = text.starts_with('-');
        let is_number = text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let signed = if self.plus && is_number && !negative {
            format!("+{text}")
        } else {
            text.to_owned()
        };
        let missing = self
            .width
            .unwrap_or(0)
            .saturating_sub(signed.chars().count());
        if self.zeros && is_number {
            let at = usize::from(negative || self.plus);
            return format!("{}{}{}", &signed[..at], "0".repeat(missing), &signed[at..]);
        }
        let usual = if is_number { Align::Right } else { Align::Left };
        let (fill, align) = self.align.unwrap_or((' ', usual));
        let before = match align {
            Align::Left => 0,
            Align::Centre => missing / 2,
            Align::Right => missing,
        };
        let fill = |count: usize| fill.to_string().repeat(count);
        format!("{}{signed}{}", fill(before), fill(missing - before))
    }
}

impl Align {
    fn of(c: char) -> Option<Self> {
        match c {
            '<' => Some(Self::Left),
            '^' => Some(Self::Centre),
            '>' => Some(Self::Right),
            _ => None,
        }
    }
}

/// The number that a text begins with, and the rest; `None` if it is too large to be meant.
fn digits(text: &str) -> Option<(Option<usize>, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    match &text[..end] {
        "" => Some((None, text)),
        number => {
            let number = number
                .parse()
                .ok()
                .filter(|&number: &usize| number < 1000)?;
            Some((Some(number), &text[end..]))
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces.iter().try_for_each(|piece| match piece {
            Piece::Text(text) => f.write_str(&text.replace('{', "{{").replace('}', "}}")),
            Piece::Value(format) if *format == Format::default() => f.write_str("{}"),
            Piece::Value(format) => write!(f, "{{:{format}}}"),
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((fill, align)) = self.align {
            let align = match align {
                Align::Left => '<',
                Align::Centre => '^',
                Align::Right => '>',
            };
            if fill != ' ' {
                write!(f, "{fill}")?;
            }
            write!(f, "{align}")?;
        }
        f.write_str(if self.plus { "+" } else { "" })?;
        f.write_str(if self.zeros { "0" } else { "" })?;
        if let Some(width) = self.width {
            write!(f, "{width}")?;
        }
        if let Some(precision) = self.precision {
            write!(f, ".{precision}")?;
        }
        f.write_str(match self.style {
            Style::Display => "",
            Style::Debug => "?",
            Style::Exponent => "e",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<Shown> {
        Message::parse(text).unwrap().1
    }

    #[test]
    fn texts_are_read_as_format_strings() {
        assert_eq!(
            shown("a {} b {0} {{}} {x_1:?}"),
            [Shown::Next, Shown::At(0), Shown::Named("x_1".into())]
        );
        for text in ["", "{{x}}", "{}", "a {:*^+09.3e} b", "{:?}{:<5}é{:é>4.0}"] {
            assert_eq!(Message::parse(text).unwrap().0.to_string(), text);
        }
        assert_eq!(
            Message::parse("{x} { :.2 }").unwrap().0.to_string(),
            "{} {:.2}"
        );
        assert_eq!(Message::plain("{a}").to_string(), "{{a}}");
        for text in [
            "{",
            "}",
            "{x",
            "{x}}",
            "{{x}",
            "{:x}",
            "{:#?}",
            "{:w$}",
            "{:.*}",
            "{:.}",
            "{x.y}",
            "{ x + 1 }",
            "{:99999999999}",
        ] {
            assert_eq!(Message::parse(text), None, "{text}");
        }
    }

    #[test]
    fn values_are_shown_as_rust_shows_them() {
        let shown = |text: &str, value: f64| {
            let (message, _) = Message::parse(text).unwrap();
            message.fill([value], |value, format| {
                format.padded(&match format.precision {
                    Some(precision) => format!("{value:.precision$}"),
                    None => value.to_string(),
                })
            })
        };
        assert_eq!(shown("a {} b", 0.5), format!("a {} b", 0.5));
        assert_eq!(shown("{:+}", 0.5), format!("{:+}", 0.5));
        assert_eq!(shown("{:+08.3}", 0.5), format!("{:+08.3}", 0.5));
        assert_eq!(shown("{:08.3}", -0.5), format!("{:08.3}", -0.5));
        assert_eq!(shown("{:8}|", -0.5), format!("{:8}|", -0.5));
        assert_eq!(shown("{:*^7}|", 0.5), format!("{:*^7}|", 0.5));
        assert_eq!(shown("{:<7}|", 0.5), format!("{:<7}|", 0.5));
    }
}
