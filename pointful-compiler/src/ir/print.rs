//! Printing: a program as text that [`parse`](mod@super::parse) reads back.
//!
//! The layout is the same at every stage:
//!
//! ```text
//! sizes I, K                                  only where their order is not that of the text below
//! axes i: I, k: K                             Bulk
//! fn mv(a: f32[I, K], own x: f32[K]) -> f32[I] {
//!   %0, %1 = operation operands if %guard     one statement a line
//!   return %0
//! }
//! ```
//!
//! Values are numbered as they are bound in the text, whatever their [`ValueId`]s are; parameters
//! go by their names. A value that is used but bound nowhere is printed as `%?` and its id: a
//! broken program can be looked at, too.

mod bulk;
mod cpu;
mod gpu;
mod imperative;
mod literal;
mod point;

pub use imperative::PrintOwn;

use super::{
    Block, Checkpoint, Elem, Extent, Lit, Message, Program, Size, SizeId, Stage, Stmt, Type,
    ValueId,
};
use crate::ops::Prim;

/// A stage whose programs can be printed: what is particular to it.
pub trait Print: Stage {
    /// One dimension of a table.
    fn dim(p: &mut Printer<'_, Self>, dim: Self::Dim);

    /// What follows a value where it is bound: its axes, in Bulk.
    fn binding(p: &mut Printer<'_, Self>, value: ValueId);

    /// The lines of the declarations.
    fn decls(p: &mut Printer<'_, Self>);

    /// The type of the function's result number `index`.
    fn result_type(program: &Program<Self>, index: usize) -> Type<Self::Dim>;

    /// What follows the function's result number `index` in `return`.
    fn returned(p: &mut Printer<'_, Self>, index: usize);

    /// An operation with its operands and blocks.
    fn op(p: &mut Printer<'_, Self>, op: &Self::Op);
}

/// The text of a program.
pub fn print<S: Print>(program: &Program<S>) -> String {
    print_with_lines(program).0
}

/// The text of a program, and the line of each statement in the order of the text, counted from 0.
pub fn print_with_lines<S: Print>(program: &Program<S>) -> (String, Vec<usize>) {
    Printer::new(program).program()
}

/// What values and types are called in a program's text, for messages about it.
pub struct Names<'p, S: Stage>(Printer<'p, S>);

impl<'p, S: Print> Names<'p, S> {
    /// The names in this program.
    pub fn new(program: &'p Program<S>) -> Self {
        let mut printer = Printer::new(program);
        printer.stmts(&program.body.stmts);
        Self(printer)
    }

    /// A value: `%3`, or a parameter's name.
    pub fn value(&mut self, value: ValueId) -> String {
        self.0.text.clear();
        self.0.value(value);
        self.0.text.clone()
    }

    /// A type: `f64[I, 3]`.
    pub fn ty(&mut self, ty: &Type<S::Dim>) -> String {
        self.0.text.clear();
        self.0.ty(ty);
        self.0.text.clone()
    }
}

/// A program being printed.
pub struct Printer<'p, S: Stage> {
    program: &'p Program<S>,
    /// What each value is called, once it was bound.
    names: Vec<Option<String>>,
    bound: usize,
    /// The sizes named so far, each once.
    sizes: Vec<SizeId>,
    indent: usize,
    text: String,
    /// The first result of the statement being printed.
    result: Option<ValueId>,
    /// The byte at which each statement begins within the body.
    starts: Vec<usize>,
}

impl<'p, S: Print> Printer<'p, S> {
    fn new(program: &'p Program<S>) -> Self {
        let mut names = vec![None; program.values.len()];
        for param in &program.params {
            if let Some(name) = names.get_mut(param.value.index()) {
                *name = Some(param.name.clone());
            }
        }
        Self {
            program,
            names,
            bound: 0,
            sizes: Vec::new(),
            indent: 1,
            text: String::new(),
            result: None,
            starts: Vec::new(),
        }
    }

    fn program(mut self) -> (String, Vec<usize>) {
        // The signature may mention values of the body, so these are numbered first.
        let program = self.program;
        self.stmts(&program.body.stmts);
        self.returns();
        let body = std::mem::take(&mut self.text);
        self.sizes.clear();
        self.signature();
        let signature = std::mem::take(&mut self.text);
        let in_order = self.sizes.len() == program.sizes.len() && self.sizes.is_sorted();
        if !in_order && !program.sizes.is_empty() {
            self.word("sizes ");
            self.list(&program.sizes, |p, size| p.word(&size.name));
            self.word("\n");
        }
        let head = self.text + &signature + " {\n";
        let above = head.matches('\n').count();
        let mut line = above;
        let mut from = 0;
        let mut lines = Vec::new();
        for start in self.starts {
            line += body[from..start].matches('\n').count();
            from = start;
            lines.push(line);
        }
        (head + &body + "}\n", lines)
    }

    fn signature(&mut self) {
        let program = self.program;
        S::decls(self);
        self.word("fn ");
        self.word(&program.name);
        self.word("(");
        self.list(&program.params, |p, param| {
            p.word(if param.owned { "own " } else { "" });
            p.word(&param.name);
            p.word(": ");
            p.ty(program.ty(param.value));
        });
        self.word(")");
        let results = program.body.results.len();
        if results > 0 {
            self.word(if results == 1 { " -> " } else { " -> (" });
            let indices: Vec<usize> = (0..results).collect();
            self.list(&indices, |p, &i| p.ty(&S::result_type(program, i)));
            self.word(if results == 1 { "" } else { ")" });
        }
    }

    fn returns(&mut self) {
        let results = &self.program.body.results;
        if !results.is_empty() {
            self.line();
            self.word("return ");
            let numbered: Vec<(usize, ValueId)> = results.iter().copied().enumerate().collect();
            self.list(&numbered, |p, &(i, value)| {
                p.value(value);
                S::returned(p, i);
            });
            self.word("\n");
        }
    }

    fn stmts(&mut self, stmts: &[Stmt<S>]) {
        for stmt in stmts {
            self.starts.push(self.text.len());
            self.line();
            self.list(&stmt.results, |p, &value| p.bind(value));
            self.word(if stmt.results.is_empty() { "" } else { " = " });
            self.result = stmt.results.first().copied();
            S::op(self, &stmt.op);
            if let Some(guard) = stmt.guard {
                self.word(" if ");
                self.value(guard);
            }
            self.word("\n");
        }
    }

    /// Text as it is.
    pub fn word(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// The indentation of a new line.
    fn line(&mut self) {
        self.text.extend(std::iter::repeat_n("  ", self.indent));
    }

    /// Items with commas between them.
    pub fn list<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        for (i, x) in items.iter().enumerate() {
            if i > 0 {
                self.word(", ");
            }
            item(self, x);
        }
    }

    /// Whether anything in the program binds a value.
    pub(super) fn is_bound(&self, value: ValueId) -> bool {
        self.names.get(value.index()).is_some_and(Option::is_some)
    }

    /// A value where it is used.
    pub fn value(&mut self, value: ValueId) {
        match self.names.get(value.index()).and_then(Option::as_deref) {
            Some(name) => self.text.push_str(name),
            None => self.text.push_str(&format!("%?{}", value.0)),
        }
    }

    /// Values where they are used: `%0, %1`.
    pub fn values(&mut self, values: &[ValueId]) {
        self.list(values, |p, &value| p.value(value));
    }

    /// A place in a table: `%0[%1, %2]`.
    pub fn place(&mut self, table: ValueId, indices: &[ValueId]) {
        self.value(table);
        self.word("[");
        self.values(indices);
        self.word("]");
    }

    /// A value where it is bound, which gives it its number.
    pub fn bind(&mut self, value: ValueId) {
        self.name(value);
        self.value(value);
        S::binding(self, value);
    }

    /// An index where it is bound, with its extent: `%1: I`.
    pub fn bind_index(&mut self, index: ValueId, extent: Extent) {
        self.name(index);
        self.value(index);
        self.word(": ");
        self.extent(extent);
    }

    fn name(&mut self, value: ValueId) {
        if let Some(name) = self.names.get_mut(value.index())
            && name.is_none()
        {
            *name = Some(format!("%{}", self.bound));
            self.bound += 1;
        }
    }

    /// Indices where they are bound, with their extents: `%1: I, %2: J`.
    pub fn bind_indices(&mut self, indices: &[ValueId], extents: &[Extent]) {
        let pairs: Vec<(ValueId, Extent)> = indices
            .iter()
            .copied()
            .zip(extents.iter().copied())
            .collect();
        self.list(&pairs, |p, &(index, extent)| p.bind_index(index, extent));
    }

    /// `if %c { … } else { … }`, without the second block if there is nothing in it.
    pub fn if_else(&mut self, cond: ValueId, then: &Block<S>, otherwise: &Block<S>) {
        self.word("if ");
        self.value(cond);
        self.word(" ");
        self.block(then);
        if !otherwise.stmts.is_empty() || !otherwise.results.is_empty() {
            self.word(" else ");
            self.block(otherwise);
        }
    }

    /// `checkpoint 8 `, or nothing.
    pub fn checkpoint(&mut self, checkpoint: Option<Checkpoint>) {
        match checkpoint {
            None => {}
            Some(Checkpoint::Every(k)) => self.word(&format!("checkpoint {k} ")),
            Some(Checkpoint::Levels(n)) => self.word(&format!("checkpoint levels {n} ")),
            Some(Checkpoint::Log) => self.word("checkpoint log "),
        }
    }

    /// `bound %n `, or nothing.
    pub fn while_bound(&mut self, bound: Option<ValueId>) {
        if let Some(bound) = bound {
            self.word("bound ");
            self.value(bound);
            self.word(" ");
        }
    }

    /// Loop states and what they begin as: `(%2 = %0, %3 = %1)`.
    pub fn states(&mut self, states: &[ValueId], init: &[ValueId]) {
        self.word("(");
        let pairs: Vec<(ValueId, ValueId)> =
            states.iter().copied().zip(init.iter().copied()).collect();
        self.list(&pairs, |p, &(state, init)| {
            p.bind(state);
            p.word(" = ");
            p.value(init);
        });
        self.word(")");
    }

    /// A block whose parameters the operation has printed in front of it.
    pub fn block(&mut self, block: &Block<S>) {
        self.braces(block, &[], None);
    }

    /// A block that begins with its parameters: `{ |%1, %2|`.
    pub fn block_with_params(&mut self, block: &Block<S>) {
        self.braces(block, &block.params, None);
    }

    /// The same, where the operation has printed so many of its parameters in front of it.
    pub fn block_of_elements(&mut self, block: &Block<S>, printed: usize) {
        self.braces(block, &block.params[printed..], None);
    }

    /// The body of a loop: what it yields beyond its next `states` is collected, and stands behind
    /// a semicolon.
    pub fn loop_body(&mut self, block: &Block<S>, states: usize) {
        self.braces(block, &[], Some(states));
    }

    fn braces(&mut self, block: &Block<S>, params: &[ValueId], states: Option<usize>) {
        self.word("{");
        if !params.is_empty() {
            self.word(" |");
            self.list(params, |p, &value| p.bind(value));
            self.word("|");
        }
        self.word("\n");
        self.indent += 1;
        self.stmts(&block.stmts);
        if !block.results.is_empty() {
            let (next, collected) = states
                .and_then(|states| block.results.split_at_checked(states))
                .unwrap_or((&block.results, &[]));
            self.line();
            self.word(if next.is_empty() { "yield" } else { "yield " });
            self.values(next);
            if !collected.is_empty() {
                self.word("; ");
                self.values(collected);
            }
            self.word("\n");
        }
        self.indent -= 1;
        self.line();
        self.word("}");
    }

    /// An extent.
    pub fn extent(&mut self, extent: Extent) {
        match extent {
            Extent::Const(n) => self.text.push_str(&n.to_string()),
            Extent::Value(value) => self.value(value),
            Extent::Size(size) => {
                if !self.sizes.contains(&size) {
                    self.sizes.push(size);
                }
                match self.program.sizes.get(size.0 as usize) {
                    Some(Size { name }) => self.text.push_str(name),
                    None => self.text.push_str(&format!("?{}", size.0)),
                }
            }
        }
    }

    /// An element type.
    pub fn elem(&mut self, elem: Elem) {
        match elem {
            Elem::Scalar(scalar) => self.word(scalar.name()),
            Elem::Index(extent) | Elem::Bound(extent) => {
                let is_index = matches!(elem, Elem::Index(_));
                self.word(if is_index { "idx<" } else { "bound<" });
                self.extent(extent);
                self.word(">");
            }
        }
    }

    /// A type.
    pub fn ty(&mut self, ty: &Type<S::Dim>) {
        self.elem(ty.elem);
        if !ty.dims.is_empty() {
            self.word("[");
            self.list(&ty.dims, |p, &dim| S::dim(p, dim));
            self.word("]");
        }
    }

    /// A literal.
    pub fn lit(&mut self, lit: Lit) {
        self.text.push_str(&literal::print(lit));
    }

    /// A primitive with what it carries, and its operands.
    pub fn prim(&mut self, prim: Prim, operands: &[ValueId]) {
        self.word(prim.name());
        self.word(" ");
        match prim {
            Prim::Cast(scalar) => {
                self.word(scalar.name());
                self.word(" ");
            }
            Prim::Check(extent)
            | Prim::Wrap(extent)
            | Prim::ClampTo(extent)
            | Prim::Mirror(extent)
            | Prim::InRange(extent)
            | Prim::Trust(extent) => {
                self.extent(extent);
                self.word(" ");
            }
            Prim::Call(function) => {
                if function.anywhere {
                    self.word("anywhere ");
                }
                self.word(&function.function.to_string());
                self.word(" ");
                self.word(function.result.name());
                self.word(" ");
            }
            // The plain primitives carry nothing.
            _ => {}
        }
        self.values(operands);
    }

    /// `assert %c, "message"`
    pub fn assert(&mut self, cond: ValueId, message: &Message, shown: &[ValueId]) {
        self.word("assert ");
        self.value(cond);
        self.word(", ");
        self.text.push_str(&literal::quote(&message.to_string()));
        for &value in shown {
            self.word(", ");
            self.value(value);
        }
    }
}
