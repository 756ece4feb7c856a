//! Futhark's values, text or binary, as far as the data here needs them: arrays of `f32` and
//! integers.

use std::fmt;

/// One value: its dimensions (none: a scalar) and its elements in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Outermost first.
    pub dims: Vec<usize>,
    /// The elements. `f32` and integers below 2^53 are exact in `f64`.
    pub data: Vec<f64>,
}

impl Value {
    /// The elements as `f32`.
    pub fn to_f32(&self) -> Vec<f32> {
        self.data.iter().map(|&x| x as f32).collect()
    }
}

/// What is wrong with a file, and at which byte.
#[derive(Debug)]
pub struct ParseError {
    at: usize,
    expected: &'static str,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} at byte {}", self.expected, self.at)
    }
}

impl std::error::Error for ParseError {}

/// All values of a file, in order.
///
/// # Errors
/// If the bytes are not Futhark values.
pub fn parse(bytes: &[u8]) -> Result<Vec<Value>, ParseError> {
    let mut reader = Reader { bytes, at: 0 };
    let mut values = Vec::new();
    while reader.skip_blanks() {
        let value = if reader.peek() == Some(b'b') {
            reader.binary()?
        } else {
            reader.text()?
        };
        values.push(value);
    }
    Ok(values)
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Reader<'_> {
    fn error<T>(&self, expected: &'static str) -> Result<T, ParseError> {
        Err(ParseError {
            at: self.at,
            expected,
        })
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Skips blanks, commas and comments; whether anything is left.
    fn skip_blanks(&mut self) -> bool {
        while let Some(byte) = self.peek() {
            if self.bytes[self.at..].starts_with(b"--") {
                while self.peek().is_some_and(|b| b != b'\n') {
                    self.at += 1;
                }
            } else if byte.is_ascii_whitespace() || byte == b',' {
                self.at += 1;
            } else {
                return true;
            }
        }
        false
    }

    fn take(&mut self, n: usize) -> Result<&[u8], ParseError> {
        match self.bytes.get(self.at..self.at + n) {
            Some(taken) => {
                self.at += n;
                Ok(taken)
            }
            None => self.error("more bytes"),
        }
    }

    fn binary(&mut self) -> Result<Value, ParseError> {
        let rank = usize::from(self.take(3)?[2]);
        let kind: [u8; 4] = self.take(4)?.try_into().expect("four bytes");
        let mut dims = Vec::new();
        for _ in 0..rank {
            let bytes = self.take(8)?.try_into().expect("eight bytes");
            dims.push(u64::from_le_bytes(bytes) as usize);
        }
        let n = dims.iter().product();
        let mut data = Vec::with_capacity(n);
        for _ in 0..n {
            data.push(match &kind {
                b" f32" => f64::from(f32::from_le_bytes(
                    self.take(4)?.try_into().expect("four bytes"),
                )),
                b" i32" => f64::from(i32::from_le_bytes(
                    self.take(4)?.try_into().expect("four bytes"),
                )),
                b" f64" => f64::from_le_bytes(self.take(8)?.try_into().expect("eight bytes")),
                b" i64" => {
                    i64::from_le_bytes(self.take(8)?.try_into().expect("eight bytes")) as f64
                }
                _ => return self.error("a known element type"),
            });
        }
        Ok(Value { dims, data })
    }

    fn text(&mut self) -> Result<Value, ParseError> {
        if self.peek() != Some(b'[') {
            return Ok(Value {
                dims: Vec::new(),
                data: vec![self.number()?],
            });
        }
        self.at += 1;
        let mut rows: Vec<Value> = Vec::new();
        while self.skip_blanks() && self.peek() != Some(b']') {
            rows.push(self.text()?);
        }
        if self.peek() != Some(b']') {
            return self.error("`]`");
        }
        self.at += 1;
        let inner = rows.first().map_or(Vec::new(), |row| row.dims.clone());
        if rows.iter().any(|row| row.dims != inner) {
            return self.error("rows of equal shape");
        }
        let dims = [vec![rows.len()], inner].concat();
        Ok(Value {
            dims,
            data: rows.into_iter().flat_map(|row| row.data).collect(),
        })
    }

    fn number(&mut self) -> Result<f64, ParseError> {
        let start = self.at;
        while self
            .peek()
            .is_some_and(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
        {
            self.at += 1;
        }
        let word = std::str::from_utf8(&self.bytes[start..self.at]).unwrap_or_default();
        let digits = ["f32", "f64", "i32", "i64"]
            .iter()
            .find_map(|suffix| word.strip_suffix(suffix))
            .unwrap_or(word);
        digits.parse().or_else(|_| {
            self.at = start;
            self.error("a number")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_binary_are_the_same_values() {
        let text = parse(b"3i64 -- rows\n[[1, 2.5f32], [-3, 4e1]]").unwrap();
        assert_eq!(
            text[0],
            Value {
                dims: vec![],
                data: vec![3.0]
            }
        );
        assert_eq!(
            text[1],
            Value {
                dims: vec![2, 2],
                data: vec![1.0, 2.5, -3.0, 40.0]
            }
        );
        let mut bytes = b"b\x02\x01 f32".to_vec();
        bytes.extend(2u64.to_le_bytes());
        bytes.extend(1.5f32.to_le_bytes());
        bytes.extend((-2.0f32).to_le_bytes());
        assert_eq!(
            parse(&bytes).unwrap(),
            [Value {
                dims: vec![2],
                data: vec![1.5, -2.0]
            }]
        );
    }

    #[test]
    fn a_broken_file_says_where() {
        assert_eq!(
            parse(b"[1, 2").unwrap_err().to_string(),
            "expected `]` at byte 5"
        );
        assert_eq!(
            parse(b"[[1], [1, 2]]").unwrap_err().to_string(),
            "expected rows of equal shape at byte 13"
        );
        assert_eq!(
            parse(b"b\x02\x01 f32\x01").unwrap_err().to_string(),
            "expected more bytes at byte 7"
        );
    }
}
