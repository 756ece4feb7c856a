//! `expand`: the definitions of whole arrays that a program of Point is lifted to.

use pointful_compiler::expand;

use super::structure;
use crate::file::{File, Section};
use crate::stages::{read, write};

pub(crate) fn run(file: &File) -> Result<Vec<Section>, String> {
    let program = expand::expand(read(file.input())?);
    let structure = structure::bulk(file, &program);
    Ok([write(&program)?].into_iter().chain(structure).collect())
}
