//! `cat`: a program of any stage as it is printed, if that is not what stands there already.

use crate::file::{File, Section};
use crate::stages::Any;

pub(crate) fn run(file: &File) -> Result<Vec<Section>, String> {
    let input = file.input();
    let program = Any::read(input)?
        .ok_or_else(|| format!("line {}: `{}` is no stage", input.above, input.tag))?;
    let printed = program.write()?;
    let canonical = printed.text == input.text;
    Ok(if canonical { Vec::new() } else { vec![printed] })
}
