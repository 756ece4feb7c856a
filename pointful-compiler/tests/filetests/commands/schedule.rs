//! `schedule`: the kernels that a program of Bulk is contracted to.

use pointful_compiler::passes::schedule::schedule;

use crate::file::{File, Section};
use crate::stages::{read, write};

pub(crate) fn run(file: &File) -> Result<Vec<Section>, String> {
    let program = schedule(&read(file.input())?);
    Ok(vec![write(&program)?])
}
