//! `lower`: the Point program that functions in Rust become; the last one is compiled, those before
//! it are what it calls.

use pointful_compiler::lower::source::lower_source;

use crate::file::{File, Section};
use crate::stages::write;

pub(crate) fn run(file: &File) -> Result<Vec<Section>, String> {
    let input = file.input();
    if input.tag != "source" {
        return Err(format!("line {}: expected a section `source`", input.above));
    }
    match lower_source(&input.text) {
        Ok(lowered) => Ok(vec![write(&lowered.program)?]),
        Err(errors) => {
            let lines: Vec<String> = errors
                .iter()
                .map(|error| format!("{:?}: {}", error.span.start(), error.message))
                .collect();
            Err(lines.join("\n"))
        }
    }
}
