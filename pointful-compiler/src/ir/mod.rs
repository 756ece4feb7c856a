//! The intermediate representation: one shape of program, four stages.
//!
//! A [`Program`] is a list of statements in A-normal form. Every statement applies one operation to
//! *values* and binds new ones; a value is a scalar or a table of scalars and is bound once.
//! Tuples, structs, functions and index values with parts exist only in the source: lowering has
//! flattened them into several values. The stages differ in which operations may occur
//! ([`Stage::Op`]) and in what a dimension of a table is ([`Stage::Dim`]):
//!
//! | stage | a program is | a dimension is |
//! |---|---|---|
//! | [`Point`](stages::point) | nested `for` loops over scalars: what the user wrote | an [`Extent`] |
//! | [`Bulk`](stages::bulk) | definitions of whole arrays over named axes; no `for` | an [`AxisId`] |
//! | [`Kernels`](stages::kernels) | loop nests that read and write buffers | an [`Extent`] |
//!
//! # Evaluation
//!
//! Statements are evaluated in order, once each (a Bulk definition: once at each point of its
//! axes). Operations are pure but for accumulation
//! ([`point::PointOp::Accumulate`](stages::point::PointOp)), which only adds, the panics of `check`
//! and integer division, and the buffers of Kernels.
//!
//! # Scope
//!
//! A block sees what was bound before it in the blocks around it. Values bound in a block are
//! visible in that block only; what leaves is named by its `results`. Operands therefore always
//! point backwards.
//!
//! # Extents
//!
//! An [`Extent`] is a constant, a *size* (a number bound when the function is entered, once for
//! every index set whose size is not static), or a value of type `usize` computed by the program.
//! An index of type [`Elem::Index`] is known to be smaller than its extent: `check`, `wrap` and
//! `clamp` make one from an integer, loops bind one, and tables of indices hold them. Reading a
//! table takes such an index for each axis, of that axis' own extent; this is why no operation but
//! `check` can read out of range.
//!
//! A product index set never reaches the IR as one axis: lowering turns it into an axis for each
//! factor.

mod message;
mod operation;
pub mod parse;
pub mod print;
mod program;
pub mod stages;
mod types;
pub mod typing;
mod value_map;
mod value_set;
pub mod verify;

pub use message::{Align, Format, Message, Piece, Shown, Style};
pub use operation::{Args, Operation, Values};
pub use parse::{Parse, ParseError, parse};
pub use print::{Print, print};
pub use program::{Block, Param, Program, Size, SpanId, Stage, Stmt, Value, ValueId};
pub use types::{AxisId, Checkpoint, Elem, Extent, Lit, Mode, Monoid, Scalar, SizeId, Type};
pub(crate) use value_map::ValueMap;
pub(crate) use value_set::ValueSet;
pub use verify::{Verify, VerifyError, verify, verify_after};
