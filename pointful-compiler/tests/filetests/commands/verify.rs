//! `verify`: programs of any stage; the line on which a program is wrong ends in `; error: …`.
//!
//! A file may hold several programs. An error of the whole function stands on the line of `fn`.

use pointful_compiler::ir::parse::{line_of, parse_unverified};
use pointful_compiler::ir::stages::{
    bulk::Bulk, cpu::Cpu, gpu::Gpu, kernels::Kernels, point::Point,
};
use pointful_compiler::ir::verify::verify;

use crate::file::{File, Section};
use crate::stages::Text;

const REMARK: &str = "; error: ";

pub(crate) fn run(file: &File) -> Result<Vec<Section>, String> {
    for section in &file.sections {
        let found = match section.tag.as_str() {
            "point" => error::<Point>(section),
            "bulk" => error::<Bulk>(section),
            "kernels" => error::<Kernels>(section),
            "cpu" => error::<Cpu>(section),
            "gpu" => error::<Gpu>(section),
            tag => return Err(format!("line {}: `{tag}` is no stage", section.above)),
        };
        let expected: Vec<(usize, String)> = (1..)
            .zip(section.text.lines())
            .filter_map(|(line, text)| {
                let (_, message) = text.split_once(REMARK)?;
                Some((line, message.trim_end().to_string()))
            })
            .collect();
        let found: Vec<(usize, String)> = found.into_iter().collect();
        if found != expected {
            let show = |errors: &[(usize, String)]| match errors {
                [] => "no error".to_string(),
                errors => errors
                    .iter()
                    .map(|(line, message)| {
                        format!("on line {}{REMARK}{message}", section.above + line)
                    })
                    .collect::<Vec<_>>()
                    .join(", "),
            };
            return Err(format!(
                "found {}, expected {}",
                show(&found),
                show(&expected)
            ));
        }
    }
    Ok(file.sections[1..].to_vec())
}

/// The first error and its line in the section.
fn error<S: Text>(section: &Section) -> Option<(usize, String)> {
    let program = match parse_unverified::<S>(&section.text) {
        Ok(program) => program,
        Err(error) => return Some((error.line, error.message)),
    };
    let error = verify(&program).err()?;
    let line = line_of(&program, &section.text, &error);
    Some((line, error.to_string()))
}
