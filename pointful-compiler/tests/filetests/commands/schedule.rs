//! `schedule`: the kernels that a program of Bulk is contracted to.

use pointful_compiler::passes::schedule::schedule;

use super::structure;
use crate::file::{File, Section};
use crate::stages::{read, write};

pub(crate) fn run(file: &File) -> Result<Vec<Section>, String> {
    let program = schedule(&read(file.input())?);
    let structure = structure::kernels(file, &program);
    Ok([write(&program)?].into_iter().chain(structure).collect())
}
