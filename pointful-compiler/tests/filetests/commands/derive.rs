//! `tangent`, `transpose` and `dual`: the derivative of a function with respect to all its float
//! parameters, tidied.
//!
//! The section `function` holds a program of Point. Parameters of the derivative: its own, then
//! `seed0`, …: a tangent for each float parameter, or (`transpose`) a cotangent for each float
//! result. Results: its own, then the tangents or cotangents.

use pointful_compiler::differentiate;
use pointful_compiler::ir::stages::{bulk::Bulk, point::Point};
use pointful_compiler::ir::{Mode, Program};
use pointful_compiler::testing::{derivative, differentiated};

use super::structure;
use crate::file::{File, Section};
use crate::stages::write;

pub(crate) fn tangent(file: &File) -> Result<Vec<Section>, String> {
    derived(file, Mode::Tangent, differentiate::derive)
}

pub(crate) fn transpose(file: &File) -> Result<Vec<Section>, String> {
    derived(file, Mode::Cotangent, differentiate::derive)
}

pub(crate) fn dual(file: &File) -> Result<Vec<Section>, String> {
    derived(file, Mode::Tangent, differentiate::dual)
}

fn derived(
    file: &File,
    mode: Mode,
    derive: fn(Program<Bulk>) -> Program<Bulk>,
) -> Result<Vec<Section>, String> {
    let input = file.input();
    if input.tag != "function" {
        return Err(format!(
            "line {}: expected a section `function`",
            input.above
        ));
    }
    let program = pointful_compiler::ir::parse::<Point>(&input.text)
        .map_err(|error| format!("section at line {}:\n{error}", input.above))?;
    let program = differentiated(&derivative(&program, mode), derive);
    let structure = structure::bulk(file, &program);
    Ok([write(&program)?].into_iter().chain(structure).collect())
}
