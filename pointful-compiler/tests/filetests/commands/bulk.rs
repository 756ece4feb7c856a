//! `bulk`: the definitions of whole arrays that a program of Point is lifted to.

use pointful_compiler::passes;

use crate::file::{File, Section};
use crate::stages::{read, write};

pub(crate) fn run(file: &File) -> Result<Vec<Section>, String> {
    let program = passes::bulk(&read(file.input())?);
    Ok(vec![write(&program)?])
}
