//! `schedule`: the kernels that a program of Bulk is contracted to; `join`: these with one kernel and one copy for what is added to one table; `registers`: these with small buffers in variables;
//! `tiles`: these with products of matrices inside of kernels; `invariants`: these with what does not change in front of loops;
//! `fission`: these with products that loops add up after them; `factors`: these with what loops multiply by as products want it;
//! `in_place`: these with what is made of arrays in their places; `owned`: these without private copies of what points have elements of their own of;
//! `online`: these with maxima and exponentials below them in one pass;
//! `ahead`: these with what steps do not wait for computed for many of them together.

use pointful_compiler::ir::Program;
use pointful_compiler::ir::stages::kernels::Kernels;
use pointful_compiler::passes::ahead as together;
use pointful_compiler::passes::factors as turned;
use pointful_compiler::passes::fission as split;
use pointful_compiler::passes::in_place as placed;
use pointful_compiler::passes::invariants as moved;
use pointful_compiler::passes::join as joined;
use pointful_compiler::passes::online as below_maxima;
use pointful_compiler::passes::owned as alone;
use pointful_compiler::passes::registers as in_registers;
use pointful_compiler::passes::schedule::schedule;
use pointful_compiler::passes::tiles as in_tiles;

use super::structure;
use crate::file::{File, Section};
use crate::stages::{read, write};

pub(crate) fn run(file: &File) -> Result<Vec<Section>, String> {
    sections(file, &schedule(read(file.input())?))
}

pub(crate) fn join(file: &File) -> Result<Vec<Section>, String> {
    sections(file, &joined(read(file.input())?))
}

pub(crate) fn registers(file: &File) -> Result<Vec<Section>, String> {
    sections(file, &in_registers(read(file.input())?))
}

pub(crate) fn invariants(file: &File) -> Result<Vec<Section>, String> {
    sections(file, &moved(read(file.input())?))
}

pub(crate) fn fission(file: &File) -> Result<Vec<Section>, String> {
    sections(file, &split(read(file.input())?))
}

pub(crate) fn factors(file: &File) -> Result<Vec<Section>, String> {
    sections(file, &turned(read(file.input())?))
}

pub(crate) fn in_place(file: &File) -> Result<Vec<Section>, String> {
    sections(file, &placed(read(file.input())?))
}

pub(crate) fn owned(file: &File) -> Result<Vec<Section>, String> {
    sections(file, &alone(read(file.input())?))
}

pub(crate) fn online(file: &File) -> Result<Vec<Section>, String> {
    sections(file, &below_maxima(read(file.input())?))
}

pub(crate) fn ahead(file: &File) -> Result<Vec<Section>, String> {
    sections(file, &together(read(file.input())?))
}

pub(crate) fn tiles(file: &File) -> Result<Vec<Section>, String> {
    sections(file, &in_tiles(read(file.input())?))
}

fn sections(file: &File, program: &Program<Kernels>) -> Result<Vec<Section>, String> {
    let structure = structure::kernels(file, program);
    Ok([write(program)?].into_iter().chain(structure).collect())
}
