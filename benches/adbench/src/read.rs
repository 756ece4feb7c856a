//! Reading the suite's files: words one after the other, with errors that say where.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use pointful::prelude::*;

/// Why a file could not be read.
#[derive(Debug)]
pub enum ReadError {
    /// It could not be opened.
    Io(PathBuf, std::io::Error),
    /// It does not hold what it should; the message says what and where.
    Content(String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Io(path, error) => write!(f, "{}: {error}", path.display()),
            ReadError::Content(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<pointful::Error> for ReadError {
    fn from(error: pointful::Error) -> Self {
        ReadError::Content(error.to_string())
    }
}

/// The text of a file.
///
/// # Errors
/// If there is none.
pub fn text(path: &Path) -> Result<String, ReadError> {
    std::fs::read_to_string(path).map_err(|error| ReadError::Io(path.to_owned(), error))
}

/// The words of a text, between any of the given separators.
pub struct Words<'t> {
    words: Box<dyn Iterator<Item = &'t str> + 't>,
    read: usize,
}

impl<'t> Words<'t> {
    /// The words between blanks and ends of lines.
    pub fn new(text: &'t str) -> Self {
        Words {
            words: Box::new(text.split_whitespace()),
            read: 0,
        }
    }

    /// The words of one line, between colons.
    pub fn of_line(line: &'t str) -> Self {
        Words {
            words: Box::new(line.trim().split(':')),
            read: 0,
        }
    }

    /// The next word.
    ///
    /// # Errors
    /// If there is none, or it is not what is asked for; `what` names it.
    pub fn next<T: FromStr>(&mut self, what: &str) -> Result<T, ReadError> {
        self.read += 1;
        let at = self.read;
        let Some(word) = self.words.next() else {
            let message = format!("word {at} should be {what}, and there is none");
            return Err(ReadError::Content(message));
        };
        word.parse()
            .map_err(|_| ReadError::Content(format!("word {at} should be {what}, and is `{word}`")))
    }

    /// The next `n` words.
    ///
    /// # Errors
    /// As of [`Words::next`].
    pub fn take<T: FromStr>(&mut self, n: usize, what: &str) -> Result<Vec<T>, ReadError> {
        (0..n).map(|_| self.next(what)).collect()
    }

    /// As many of the next words as a table over `extent` has elements.
    ///
    /// # Errors
    /// As of [`Words::next`].
    pub fn table<I: IndexSet>(
        &mut self,
        extent: Extent<I>,
        what: &str,
    ) -> Result<Table<I, f64>, ReadError> {
        Ok(Table::from_vec(extent, self.take(extent.len(), what)?)?)
    }

    /// That nothing is left.
    ///
    /// # Errors
    /// If something is.
    pub fn end(mut self) -> Result<(), ReadError> {
        match self.words.next() {
            None => Ok(()),
            Some(word) => Err(ReadError::Content(format!(
                "after {} words there should be no more, and there is `{word}`",
                self.read
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_numbered_and_named() {
        let mut words = Words::new(" 1 2.5\n x ");
        assert_eq!(words.next::<usize>("a count").expect("there"), 1);
        assert_eq!(words.take::<f64>(1, "a mean").expect("there"), [2.5]);
        let error = words.next::<f64>("a mean").expect_err("a letter");
        assert_eq!(error.to_string(), "word 3 should be a mean, and is `x`");
        let error = words.next::<f64>("a mean").expect_err("the end");
        assert_eq!(
            error.to_string(),
            "word 4 should be a mean, and there is none"
        );
        words.end().expect("nothing is left");
        let error = Words::of_line("1:2").end().expect_err("two are left");
        assert_eq!(
            error.to_string(),
            "after 0 words there should be no more, and there is `1`"
        );
    }
}
