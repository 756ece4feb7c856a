//! NumPy's file format: a header that is a Python dictionary, then the elements.
//!
//! Format versions 1 to 3, both byte orders and both element orders are read; written is what NumPy
//! itself writes: version 1, little-endian, row-major. See "NEP 1 — A Simple File Format for NumPy
//! Arrays".

use std::fmt;
use std::io::{self, Read, Write};

use ndarray::{Array, IxDyn, ShapeBuilder};

use super::ndarray::extent_of_axes;
use crate::buffer::Buf;
use crate::element::Plain;
use crate::error::Error;
use crate::index_set::IndexSet;
use crate::table::{Table, View, check_length};

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// What the length of everything before the elements is a multiple of.
const HEADER_MULTIPLE: usize = 64;

/// Why a file is no table.
#[derive(Debug)]
#[non_exhaustive]
pub enum NpyError {
    /// Reading failed, or the file ended early.
    Io(io::Error),
    /// The file is not in this format, or holds something that is no array of numbers or booleans.
    Format(String),
    /// The elements are of another type; a table is never converted silently.
    ElementType {
        /// The type of the table's elements, as NumPy writes it.
        expected: String,
        /// The file's.
        found: String,
    },
    /// The array does not fit the index set.
    Table(Error),
}

impl fmt::Display for NpyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NpyError::Io(error) => write!(f, "cannot read the array: {error}"),
            NpyError::Format(what) => write!(f, "not an array file: {what}"),
            NpyError::ElementType { expected, found } => {
                write!(
                    f,
                    "the file's elements are `{found}`, but the table's are `{expected}`"
                )
            }
            NpyError::Table(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NpyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            NpyError::Io(error) => Some(error),
            NpyError::Table(error) => Some(error),
            NpyError::Format(_) | NpyError::ElementType { .. } => None,
        }
    }
}

impl From<io::Error> for NpyError {
    fn from(error: io::Error) -> Self {
        NpyError::Io(error)
    }
}

impl From<Error> for NpyError {
    fn from(error: Error) -> Self {
        NpyError::Table(error)
    }
}

/// An element type that NumPy has: numbers and `bool`; `isize` and `usize` are written in eight
/// bytes.
pub trait NpyElement: Plain {
    /// NumPy's letter for the kind of number.
    #[doc(hidden)]
    const KIND: char;
    /// How many bytes an element has in a file.
    #[doc(hidden)]
    const BYTES: usize;
    /// Appends an element, little-endian.
    #[doc(hidden)]
    fn put(self, bytes: &mut Vec<u8>);
    /// An element of `BYTES` bytes, little-endian; `None` if it does not fit the type.
    #[doc(hidden)]
    fn take(bytes: &[u8]) -> Option<Self>;
}

macro_rules! npy_number {
    ($($T:ty, $kind:literal;)*) => {$(
        impl NpyElement for $T {
            const KIND: char = $kind;
            const BYTES: usize = size_of::<$T>();

            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }

            fn take(bytes: &[u8]) -> Option<$T> {
                bytes.try_into().ok().map(<$T>::from_le_bytes)
            }
        }
    )*};
}

npy_number! {
    f32, 'f'; f64, 'f';
    i8, 'i'; i16, 'i'; i32, 'i'; i64, 'i';
    u8, 'u'; u16, 'u'; u32, 'u'; u64, 'u';
}

macro_rules! npy_word {
    ($($T:ty, $Wide:ty, $kind:literal;)*) => {$(
        impl NpyElement for $T {
            const KIND: char = $kind;
            const BYTES: usize = size_of::<$Wide>();

            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend((self as $Wide).to_le_bytes());
            }

            fn take(bytes: &[u8]) -> Option<$T> {
                let bytes = bytes.try_into().ok()?;
                <$T>::try_from(<$Wide>::from_le_bytes(bytes)).ok()
            }
        }
    )*};
}

npy_word! { isize, i64, 'i'; usize, u64, 'u'; }

impl NpyElement for bool {
    const KIND: char = 'b';
    const BYTES: usize = 1;

    fn put(self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self));
    }

    fn take(bytes: &[u8]) -> Option<bool> {
        bytes.first().map(|&byte| byte != 0)
    }
}

/// The element type as a header writes it; one byte has no order.
fn descr<T: NpyElement>() -> String {
    let order = if T::BYTES == 1 { '|' } else { '<' };
    format!("{order}{}{}", T::KIND, T::BYTES)
}

impl<I: IndexSet, T: NpyElement> View<'_, I, T> {
    /// Writes the table in NumPy's format, row-major and little-endian.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_npy(self, mut writer: impl Write) -> io::Result<()> {
        let axes: String = self
            .extent()
            .axes()
            .iter()
            .map(|axis| format!("{axis}, "))
            .collect();
        // Python writes `()`, `(3,)` and `(3, 4)`.
        let shape = if self.extent().axes().len() == 1 {
            axes.trim_end()
        } else {
            axes.trim_end_matches(", ")
        };
        let mut header = format!(
            "{{'descr': '{}', 'fortran_order': False, 'shape': ({shape}), }}",
            descr::<T>()
        );
        let before = MAGIC.len() + 2 + 2;
        let total = (before + header.len() + 1).next_multiple_of(HEADER_MULTIPLE);
        header.extend(std::iter::repeat_n(' ', total - before - header.len() - 1));
        header.push('\n');
        // The deepest nesting of tuples a type can have in practice is far from filling the sixteen bits.
        let length = u16::try_from(header.len())
            .map_err(|_| io::Error::other("the array has too many axes"))?;
        writer.write_all(MAGIC)?;
        writer.write_all(&[1, 0])?;
        writer.write_all(&length.to_le_bytes())?;
        writer.write_all(header.as_bytes())?;
        let mut bytes = Vec::with_capacity(T::BYTES * self.len().min(CHUNK));
        for chunk in self.as_slice().chunks(CHUNK) {
            bytes.clear();
            chunk.iter().for_each(|&element| element.put(&mut bytes));
            writer.write_all(&bytes)?;
        }
        writer.flush()
    }
}

/// How many elements are turned into bytes at a time.
const CHUNK: usize = 1 << 13;

impl<I: IndexSet, T: NpyElement> Table<I, T> {
    /// Writes the table in NumPy's format, row-major and little-endian.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_npy(&self, writer: impl Write) -> io::Result<()> {
        self.view().write_npy(writer)
    }

    /// Reads a table in NumPy's format. The lengths of its axes are the sizes of the table's
    /// dynamic sets.
    ///
    /// # Errors
    /// If the file is not in this format, ends early, has elements of another type, or axes that do
    /// not fit the index set as [`Table::from_ndarray`] says.
    pub fn read_npy(mut reader: impl Read) -> Result<Self, NpyError> {
        let header = Header::read(&mut reader)?;
        let big_endian = header.element_type::<T>()?;
        let fits = |len: usize| (len <= isize::MAX as usize).then_some(len);
        let nonempty = header.shape.iter().filter(|&&axis| axis != 0);
        let too_large = || NpyError::Format("the array is larger than memory".to_owned());
        let fitting = nonempty.clone().try_fold(T::BYTES, |product, &axis| {
            product.checked_mul(axis).and_then(fits)
        });
        let fitting = fitting.ok_or_else(too_large)?;
        let length = if nonempty.count() == header.shape.len() {
            fitting
        } else {
            0
        };
        // Grows with what is there, so that a header that lies costs nothing.
        let mut bytes = Vec::new();
        reader.take(length as u64).read_to_end(&mut bytes)?;
        if bytes.len() < length {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        if big_endian {
            bytes.chunks_exact_mut(T::BYTES).for_each(<[u8]>::reverse);
        }
        let chunks = bytes.chunks_exact(T::BYTES);
        let elements = chunks.map(T::take);
        if elements.clone().any(|element| element.is_none()) {
            let why = "an element does not fit its type".to_owned();
            return Err(NpyError::Format(why));
        }
        let mut elements = elements.flatten();
        if !header.fortran_order {
            // Straight into memory that is aligned, and in large pages.
            let extent = extent_of_axes::<I>(&header.shape)?;
            let count = bytes.len() / T::BYTES;
            check_length(extent, count)?;
            let next = |_| elements.next().expect("as many as there are bytes for");
            return Ok(Table::from_buf(extent, Buf::from_fn(count, next)));
        }
        let shape = IxDyn(&header.shape).f();
        let array = Array::from_shape_vec(shape, elements.collect())
            .map_err(|error| NpyError::Format(error.to_string()))?;
        Ok(Table::from_ndarray(array)?)
    }
}

/// What stands before the elements.
struct Header {
    descr: String,
    fortran_order: bool,
    shape: Vec<usize>,
}

impl Header {
    fn read(reader: &mut impl Read) -> Result<Header, NpyError> {
        let mut start = [0; 8];
        reader.read_exact(&mut start)?;
        if !start.starts_with(MAGIC) {
            return Err(NpyError::Format("it does not begin as one".to_owned()));
        }
        let length = match start[6] {
            1 => {
                let mut length = [0; 2];
                reader.read_exact(&mut length)?;
                u64::from(u16::from_le_bytes(length))
            }
            2 | 3 => {
                let mut length = [0; 4];
                reader.read_exact(&mut length)?;
                u64::from(u32::from_le_bytes(length))
            }
            version => return Err(NpyError::Format(format!("its version is {version}"))),
        };
        let mut text = Vec::new();
        reader.take(length).read_to_end(&mut text)?;
        if (text.len() as u64) < length {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        let text = String::from_utf8_lossy(&text);
        Header::parse(&text)
            .ok_or_else(|| NpyError::Format(format!("its header is `{}`", text.trim_end())))
    }

    /// Reads the dictionary of exactly three entries, in any order.
    fn parse(text: &str) -> Option<Header> {
        let mut rest = Cursor(text);
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        rest.expect('{')?;
        while rest.expect('}').is_none() {
            let key = rest.string()?;
            rest.expect(':')?;
            match key {
                "descr" => descr = Some(rest.string()?.to_owned()),
                "fortran_order" => fortran_order = Some(truth(rest.word()?)?),
                "shape" => shape = Some(rest.tuple()?),
                _ => return None,
            }
            if rest.expect(',').is_none() && !rest.0.trim_start().starts_with('}') {
                return None;
            }
        }
        rest.0.trim().is_empty().then_some(())?;
        Some(Header {
            descr: descr?,
            fortran_order: fortran_order?,
            shape: shape?,
        })
    }

    /// Whether the elements, which are of type `T`, are big-endian.
    fn element_type<T: NpyElement>(&self) -> Result<bool, NpyError> {
        let (order, kind) = self.descr.split_at_checked(1).unwrap_or(("", &self.descr));
        let native = if cfg!(target_endian = "big") {
            ">"
        } else {
            "<"
        };
        let order = if order == "=" { native } else { order };
        let known = matches!(order, "<" | ">") || order == "|" && T::BYTES == 1;
        if known && kind == format!("{}{}", T::KIND, T::BYTES) {
            Ok(order == ">")
        } else {
            Err(NpyError::ElementType {
                expected: descr::<T>(),
                found: self.descr.clone(),
            })
        }
    }
}

/// Python's `True` and `False`.
fn truth(word: &str) -> Option<bool> {
    match word {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    }
}

/// What is left of a header.
struct Cursor<'a>(&'a str);

impl<'a> Cursor<'a> {
    fn expect(&mut self, c: char) -> Option<()> {
        self.0 = self.0.trim_start().strip_prefix(c)?;
        Some(())
    }

    /// A string in either kind of quotes; none in a header has an escape.
    fn string(&mut self) -> Option<&'a str> {
        let text = self.0.trim_start();
        let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let (string, rest) = text[1..].split_once(quote)?;
        self.0 = rest;
        Some(string)
    }

    /// Letters and digits.
    fn word(&mut self) -> Option<&'a str> {
        let text = self.0.trim_start();
        let end = text
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }

    /// `()`, `(3,)`, `(3, 4)`.
    fn tuple(&mut self) -> Option<Vec<usize>> {
        let mut lengths = Vec::new();
        self.expect('(')?;
        while self.expect(')').is_none() {
            lengths.push(self.word()?.parse().ok()?);
            if self.expect(',').is_none() && !self.0.trim_start().starts_with(')') {
                return None;
            }
        }
        Some(lengths)
    }
}
