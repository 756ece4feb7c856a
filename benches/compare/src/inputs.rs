//! Named arrays: files that `run.py` wrote, or made for a test.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::PathBuf;

use pointful::NpyElement;
use pointful::prelude::*;

use crate::Failure;

/// How a file says that its elements are `f32`.
const HEADER_SINGLE: &[u8] = b"'<f4'";

/// The arrays a workload computes with.
#[derive(Clone, Debug)]
pub enum Inputs {
    /// `NAME.npy` in this directory.
    Directory(PathBuf),
    /// Such files' contents.
    Made(BTreeMap<&'static str, Vec<u8>>),
}

impl Inputs {
    /// No arrays yet.
    pub fn made() -> Self {
        Inputs::Made(BTreeMap::new())
    }

    /// These and one more, in place of one of the same name.
    ///
    /// # Panics
    /// If these are files.
    #[must_use]
    pub fn with<I: IndexSet, T: NpyElement>(
        mut self,
        name: &'static str,
        table: &Table<I, T>,
    ) -> Self {
        let Inputs::Made(arrays) = &mut self else {
            panic!("files are not added to")
        };
        let mut bytes = Vec::new();
        table
            .write_npy(&mut bytes)
            .expect("memory can be written to");
        arrays.insert(name, bytes);
        self
    }

    /// These and one more of numbers in `[-scale, scale)`, of which each `seed` has its own.
    #[must_use]
    pub fn noise<I: IndexSet, T: NpyElement + Default>(
        self,
        name: &'static str,
        extent: Extent<I>,
        seed: u64,
        convert: impl Fn(f64) -> T,
    ) -> Self {
        let noise = pointful_adbench::noise::Noise::new(seed).vec(extent.len());
        let elements = noise.into_iter().map(convert).collect();
        let table = Table::from_vec(extent, elements).expect("as many as there are");
        self.with(name, &table)
    }

    /// These and how many steps are to be made.
    #[must_use]
    pub fn steps(self, steps: i32) -> Self {
        self.with("steps", &Table::<Dyn, i32>::from(vec![steps]))
    }

    /// Whether the table of that name holds `f32`.
    pub fn is_single(&self, name: &str) -> bool {
        let mut header = [0; 128];
        let read = match self {
            Inputs::Directory(directory) => File::open(directory.join(format!("{name}.npy")))
                .and_then(|mut file| file.read(&mut header)),
            Inputs::Made(arrays) => match arrays.get(name) {
                Some(bytes) => (&bytes[..]).read(&mut header),
                None => return false,
            },
        };
        let header = &header[..read.unwrap_or(0)];
        header
            .windows(HEADER_SINGLE.len())
            .any(|window| window == HEADER_SINGLE)
    }

    /// The largest magnitude among the `count` floats of that name.
    ///
    /// # Panics
    /// If these are files, or there are none of that name, or fewer.
    pub fn largest(&self, name: &str, count: usize) -> f64 {
        let Inputs::Made(arrays) = self else {
            panic!("files are not looked at")
        };
        let bytes = &arrays[name];
        let single = self.is_single(name);
        let width = if single { 4 } else { 8 };
        // The elements are what the file ends with.
        let elements = bytes[bytes.len() - width * count..].chunks_exact(width);
        let numbers = elements.map(|bytes| {
            if single {
                f64::from(f32::from_le_bytes(bytes.try_into().expect("four bytes")))
            } else {
                f64::from_le_bytes(bytes.try_into().expect("eight bytes"))
            }
        });
        numbers.fold(0.0, |top, x| x.abs().max(top))
    }

    /// These, with `step` times the direction added to the table of that name.
    ///
    /// # Panics
    /// If these are files, or there is none of that name, or it has another number of elements.
    #[must_use]
    pub fn moved(&self, name: &'static str, direction: &[f64], step: f64) -> Self {
        let Inputs::Made(arrays) = self else {
            panic!("files are not changed")
        };
        let mut arrays = arrays.clone();
        let bytes = arrays.get_mut(name).expect("there is such an array");
        let single = self.is_single(name);
        let width = if single { 4 } else { 8 };
        // The elements are what the file ends with.
        let start = bytes.len() - width * direction.len();
        for (bytes, direction) in bytes[start..].chunks_exact_mut(width).zip(direction) {
            let by = step * direction;
            if single {
                let x = f32::from_le_bytes(bytes.try_into().expect("four bytes"));
                bytes.copy_from_slice(&(x + by as f32).to_le_bytes());
            } else {
                let x = f64::from_le_bytes(bytes.try_into().expect("eight bytes"));
                bytes.copy_from_slice(&(x + by).to_le_bytes());
            }
        }
        Inputs::Made(arrays)
    }

    /// The table of that name.
    ///
    /// # Errors
    /// If there is none, or it has other elements or axes.
    pub fn table<I: IndexSet, T: NpyElement>(&self, name: &str) -> Result<Table<I, T>, Failure> {
        let table = match self {
            Inputs::Directory(directory) => {
                let file = File::open(directory.join(format!("{name}.npy")));
                let file = file.map_err(|error| format!("{name}: {error}"))?;
                Table::read_npy(BufReader::new(file))
            }
            Inputs::Made(arrays) => {
                let bytes = arrays.get(name).ok_or(format!("{name} is missing"))?;
                Table::read_npy(&bytes[..])
            }
        };
        Ok(table.map_err(|error| format!("{name}: {error}"))?)
    }

    /// The whole numbers of that name, in a file of `i32`.
    ///
    /// # Errors
    /// If there are none, or one is negative.
    pub fn numbers<I: IndexSet>(&self, name: &str) -> Result<Table<I, usize>, Failure> {
        let numbers: Table<I, i32> = self.table(name)?;
        let converted = numbers.iter().map(|&n| usize::try_from(n));
        Ok(Table::from_vec(
            numbers.extent(),
            converted.collect::<Result<_, _>>()?,
        )?)
    }

    /// The first whole number of that name.
    ///
    /// # Errors
    /// If there is none, or it is negative.
    pub fn number(&self, name: &str) -> Result<usize, Failure> {
        let numbers: Table<Dyn, usize> = self.numbers(name)?;
        Ok(*numbers.as_slice().first().ok_or("no number")?)
    }

    /// The table of members of `target` of that name: a file of their numbers as `i32`.
    ///
    /// # Errors
    /// If there is none, or it has other elements or axes, or a number that no member has.
    pub fn indices<I: IndexSet, K: IndexSet>(
        &self,
        name: &str,
        target: Extent<K>,
    ) -> Result<Table<I, K>, Failure> {
        let numbers: Table<I, usize> = self.numbers(name)?;
        let extent = numbers.extent();
        Ok(Table::from_indices(extent, target, numbers.into_vec())?)
    }
}
