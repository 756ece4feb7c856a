//! The places of a program in the source, by [`SpanId`].

use proc_macro2::Span;

use crate::ir::SpanId;

/// All places; the first stands for what the compiler made up.
pub(super) struct Spans {
    list: Vec<Span>,
}

impl Spans {
    /// No places yet.
    pub(super) fn new() -> Self {
        Self {
            list: vec![Span::call_site()],
        }
    }

    /// A new place.
    pub(super) fn add(&mut self, span: Span) -> SpanId {
        self.list.push(span);
        SpanId(self.list.len() as u32 - 1)
    }

    /// The place.
    pub(super) fn get(&self, id: SpanId) -> Span {
        self.list[id.0 as usize]
    }

    /// All of them, by number.
    pub(super) fn into_vec(self) -> Vec<Span> {
        self.list
    }
}
