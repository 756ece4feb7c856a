//! Sections `structure`: how many of what a program does, which a lost fusion changes and a
//! renaming does not.
//!
//! They are given where a file has one already.

use pointful_compiler::explain::Structure;
use pointful_compiler::ir::stages::bulk::{Bulk, BulkOp};
use pointful_compiler::ir::stages::kernels::Kernels;
use pointful_compiler::ir::{Block, Operation, Program};

use crate::file::{File, Section};

/// The section for a program of Kernels, if the file has one.
pub(crate) fn kernels(file: &File, program: &Program<Kernels>) -> Option<Section> {
    asked(file, || Structure::of(program).to_string())
}

/// The section for a program of Bulk, if the file has one.
pub(crate) fn bulk(file: &File, program: &Program<Bulk>) -> Option<Section> {
    asked(file, || {
        let mut counts = [0; KINDS.len()];
        count(&program.body, &mut counts);
        let kinds = KINDS.iter().zip(counts).filter(|&(_, count)| count > 0);
        let texts: Vec<String> = kinds.map(|(kind, n)| format!("{kind} {n}")).collect();
        texts.join(", ")
    })
}

fn asked(file: &File, text: impl FnOnce() -> String) -> Option<Section> {
    let mut tags = file.sections.iter().map(|section| section.tag.as_str());
    tags.any(|tag| tag == "structure")
        .then(|| Section::new("structure", &text()))
}

/// What is counted; constants, sizes and assertions are not.
const KINDS: [&str; 12] = [
    "map",
    "select",
    "gather",
    "iota",
    "pack",
    "reduce",
    "scan",
    "scatter",
    "update",
    "loop",
    "while",
    "derivative",
];

fn count(block: &Block<Bulk>, counts: &mut [usize; KINDS.len()]) {
    for stmt in &block.stmts {
        let kind = match &stmt.op {
            BulkOp::Const(_) | BulkOp::Size(_) | BulkOp::Assert { .. } => None,
            BulkOp::Map(..) => Some(0),
            BulkOp::Select(..) => Some(1),
            BulkOp::Gather { .. } => Some(2),
            BulkOp::Iota(_) => Some(3),
            BulkOp::Pack { .. } => Some(4),
            BulkOp::Reduce { .. } => Some(5),
            BulkOp::Scan { .. } => Some(6),
            BulkOp::Scatter { .. } => Some(7),
            BulkOp::Update { .. } => Some(8),
            BulkOp::Loop { .. } => Some(9),
            BulkOp::While { .. } => Some(10),
            BulkOp::Derive { .. } | BulkOp::Rule { .. } => Some(11),
        };
        if let Some(kind) = kind {
            counts[kind] += 1;
        }
        for inner in stmt.op.blocks() {
            count(inner, counts);
        }
    }
}
