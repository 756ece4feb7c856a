//! What all of one function's emission shares.

use proc_macro2::{Ident, Span};

use crate::ir::stages::gpu::{Gpu, GpuOp};
use crate::ir::{
    Block, Extent, Lit, Message, Operation, Program, Scalar, SizeId, SpanId, ValueId, ValueSet,
};
use crate::ops::Prim;
use crate::places::Places;
use crate::targets::cpu::rust::names::Names;

/// Values that are written out wherever they are used instead of being bound.
#[derive(Clone, Copy)]
pub(super) enum Inline {
    /// A literal.
    Lit(Lit),
    /// The number of an extent.
    Extent(Extent),
}

/// A check that may fail on the device.
pub(super) struct Site {
    pub(super) span: SpanId,
    pub(super) check: Check,
}

/// What the host does to panic in its words; the values that a kernel tells are its operands.
pub(super) enum Check {
    /// A primitive on numbers of this type, which panics; of an index, with the set's length.
    Prim(Prim, Scalar),
    /// An assertion that shows values of these types.
    Assert(Message, Vec<Scalar>),
}

impl Check {
    /// How many values a kernel tells.
    pub(super) fn values(&self) -> usize {
        match self {
            Self::Prim(Prim::Wrap(_) | Prim::ClampTo(_) | Prim::Mirror(_), _) => 0,
            Self::Prim(..) => 2,
            Self::Assert(_, shown) => shown.len(),
        }
    }
}

/// One function under emission.
pub(super) struct Context<'p> {
    pub(super) program: &'p Program<Gpu>,
    pub(super) places: &'p Places,
    pub(super) user: Span,
    pub(super) names: Names,
    inline: Vec<Option<Inline>>,
    /// The kernels so far: their text, and name and block of each.
    pub(super) text: String,
    pub(super) kernels: Vec<(String, u32)>,
    pub(super) sites: Vec<Site>,
    /// Whether kernels ask if a check has failed in one before.
    pub(super) asks: bool,
}

impl<'p> Context<'p> {
    pub(super) fn new(
        program: &'p Program<Gpu>,
        places: &'p Places,
        user: Span,
        asks: bool,
    ) -> Self {
        Self {
            program,
            places,
            user,
            names: Names::of(program, 0, &ValueSet::new()),
            inline: inlined(program),
            text: String::new(),
            kernels: Vec::new(),
            sites: Vec::new(),
            asks,
        }
    }

    /// What is written out in place of a value.
    pub(super) fn inline(&self, value: ValueId) -> Option<Inline> {
        self.inline[value.index()]
    }

    /// An extent that does not name another one.
    pub(super) fn resolve(&self, extent: Extent) -> Extent {
        resolve(&self.inline, extent)
    }

    /// The machine type of a value or of a place's elements.
    pub(super) fn scalar(&self, value: ValueId) -> Scalar {
        self.program.elem(value).repr()
    }

    /// The extents of a buffer's axes.
    pub(super) fn dims(&self, buffer: ValueId) -> &'p [Extent] {
        &self.program.ty(buffer).dims
    }

    pub(super) fn is_buffer(&self, value: ValueId) -> bool {
        self.program.ty(value).rank() > 0
    }

    /// What a value is called in Rust,
    pub(super) fn ident(&self, value: ValueId) -> &Ident {
        self.names.value(value)
    }

    /// and in C, whose names are of fewer letters.
    pub(super) fn name(&self, value: ValueId) -> String {
        in_c(self.names.value(value), 'v', value.0)
    }

    /// The same of a size.
    pub(super) fn size(&self, size: SizeId) -> String {
        in_c(self.names.size(size), 'n', size.0)
    }
}

/// What is written out in place of each value of a program, if anything is.
pub(super) fn inlined(program: &Program<Gpu>) -> Vec<Option<Inline>> {
    fn look_at(block: &Block<Gpu>, inline: &mut [Option<Inline>]) {
        for stmt in &block.stmts {
            match stmt.op {
                GpuOp::Const(lit) => inline[stmt.results[0].index()] = Some(Inline::Lit(lit)),
                GpuOp::Size(extent) => {
                    inline[stmt.results[0].index()] = Some(Inline::Extent(extent));
                }
                _ => {}
            }
            for inner in stmt.op.blocks() {
                look_at(inner, inline);
            }
        }
    }
    let mut inline = vec![None; program.values.len()];
    look_at(&program.body, &mut inline);
    inline
}

/// See [`Context::resolve`].
pub(super) fn resolve(inline: &[Option<Inline>], extent: Extent) -> Extent {
    let Extent::Value(value) = extent else {
        return extent;
    };
    match inline[value.index()] {
        Some(Inline::Extent(inner)) => resolve(inline, inner),
        Some(Inline::Lit(Lit::Int(_, number))) => Extent::Const(number as u64),
        Some(Inline::Lit(_)) | None => extent,
    }
}

/// A name with letters of C's only, which no type has there, as `i64` has; of another one, its
/// number, which no name is that stays.
fn in_c(name: &Ident, kind: char, number: u32) -> String {
    let name = name.to_string();
    let is_of_c = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_type = Scalar::ALL.iter().any(|scalar| scalar.name() == name);
    match name.chars().all(is_of_c) && !is_type {
        true => name,
        false => format!("{kind}{number}"),
    }
}
