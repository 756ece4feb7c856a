//! Names for everything emitted code binds: those of the source where there are some, unique in the
//! whole function.
//!
//! A name of the source gets a number, `most_1`. Neither a word of Rust nor a name that emitted
//! code uses itself ends in one, so whatever the author calls things, they meet nothing; and what
//! emitted code makes of a name, `most_1_lanes`, ends in none either.

use proc_macro2::{Ident, Span};
use rustc_hash::FxHashMap;

use crate::ir::stages::imperative::{Imperative, ImperativeOp, Par};
use crate::ir::{Block, Elem, Operation, Program, SizeId, Value, ValueId, ValueSet};

/// The identifier of every value that a program binds, and of every size.
pub(crate) struct Names {
    values: Vec<Option<Ident>>,
    sizes: Vec<Ident>,
    functions: Vec<Ident>,
}

impl Names {
    /// Names for all values and sizes, and for as many functions of the caller's. What is constant
    /// is called as constants are, and as nothing of the user's is.
    ///
    /// Every value has a name of its own, so that emitted blocks never shadow anything;
    /// the spans are those of the expansion, so that nothing meets a name of the user's.
    pub(crate) fn of<S: Imperative>(
        program: &Program<S>,
        functions: usize,
        constants: &ValueSet,
    ) -> Self {
        let mut taken = Taken(FxHashMap::default());
        let sizes = program
            .sizes
            .iter()
            .map(|size| taken.fresh(snake(&size.name)))
            .collect();
        let mut unnamed = 0_u32;
        let mut name_of = |value: ValueId| {
            let Value { name, ty, .. } = &program.values[value.index()];
            match name.as_deref().map(snake) {
                Some(name) if constants.contains(&value) => {
                    taken.fresh(format!("__{}", name.to_uppercase()))
                }
                Some(name) => taken.fresh(name),
                None => {
                    let kind = match (ty.dims.as_slice(), ty.elem) {
                        ([], Elem::Index(_) | Elem::Bound(_)) => 'i',
                        ([], Elem::Scalar(_)) => 't',
                        ([_, ..], _) => 'b',
                    };
                    unnamed += 1;
                    ident(&format!("{kind}{unnamed}"))
                }
            }
        };
        // In the order in which values came into being: what the user has named keeps its name rather than its copies.
        let bound = bound(program);
        let all = (0..program.values.len() as u32).map(ValueId);
        let values = all.map(|value| bound.contains(&value).then(|| name_of(value)));
        let values = values.collect();
        let functions = (0..functions)
            .map(|at| taken.fresh(format!("function{at}")))
            .collect();
        Self {
            values,
            sizes,
            functions,
        }
    }

    /// The name of a value.
    pub(crate) fn value(&self, value: ValueId) -> &Ident {
        let name = self.values[value.index()].as_ref();
        name.expect("only what is bound is named")
    }

    /// The name of a function of the caller's.
    pub(super) fn function(&self, function: u8) -> &Ident {
        &self.functions[usize::from(function)]
    }

    /// The name of the variable that holds a size.
    pub(crate) fn size(&self, size: SizeId) -> &Ident {
        &self.sizes[size.0 as usize]
    }
}

/// What a program binds: its parameters, and what statements and blocks do.
fn bound<S: Imperative>(program: &Program<S>) -> ValueSet {
    fn walk<S: Imperative>(block: &Block<S>, bound: &mut ValueSet) {
        bound.extend(&block.params);
        for stmt in &block.stmts {
            bound.extend(&stmt.results);
            if let ImperativeOp::Own(own) = &stmt.op {
                bound.extend(S::par(own).into_iter().flat_map(Par::privates));
            }
            for inner in stmt.op.blocks() {
                walk(inner, bound);
            }
        }
    }
    let mut bound = program.params.iter().map(|param| param.value).collect();
    walk(&program.body, &mut bound);
    bound
}

/// An identifier of the expansion's own.
pub(crate) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// The last number of each name: copies of a loop's body all ask for the same ones.
struct Taken(FxHashMap<String, u32>);

impl Taken {
    /// `name_1`, then `name_2` and so on.
    fn fresh(&mut self, name: String) -> Ident {
        let count = self.0.entry(name.clone()).or_default();
        *count += 1;
        ident(&format!("{name}_{count}"))
    }
}

/// A name as Rust writes variables: `model.weights` is `model_weights`, `K` is `k`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    let mut after_lower = false;
    for c in name.chars() {
        if c.is_alphanumeric() {
            if c.is_uppercase() && after_lower {
                snake.push('_');
            }
            after_lower = !c.is_uppercase();
            snake.extend(c.to_lowercase());
        } else {
            after_lower = false;
            if !snake.is_empty() && !snake.ends_with('_') {
                snake.push('_');
            }
        }
    }
    let snake = snake.trim_end_matches('_');
    match snake.chars().next() {
        None => "unnamed".to_owned(),
        // Letters that Rust does not accept in identifiers are rare enough to be left out altogether.
        Some(first) if first.is_ascii_digit() => format!("t{snake}"),
        Some(_) if snake.is_ascii() || syn::parse_str::<Ident>(snake).is_ok() => snake.to_owned(),
        Some(_) => "unnamed".to_owned(),
    }
}

/// Emitted code as text in which what has a name of the source is called so, without the number.
#[cfg(test)]
pub(super) fn as_in_source(tokens: &proc_macro2::TokenStream) -> String {
    let text = tokens.to_string();
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("_1") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        let named = before.ends_with(|c: char| c.is_alphanumeric());
        let ends = !after.starts_with(|c: char| c.is_alphanumeric());
        plain.push_str(before);
        if !(named && ends) {
            plain.push_str("_1");
        }
        rest = after;
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::stages::cpu::{Cpu, CpuOp};
    use crate::ir::{Lit, Scalar, SpanId, Stmt, Type};

    #[test]
    fn names_are_readable_and_unique() {
        let mut program = Program::<Cpu>::new("f");
        let size = program.size("N");
        let names = [
            "n",
            "model.weights",
            "for",
            "min",
            "PixelRow",
            "x y",
            "3",
            "…",
            "t1",
        ];
        let values: Vec<ValueId> = names
            .iter()
            .map(|name| program.param(*name, Type::scalar(Elem::F64), false, SpanId::NONE))
            .collect();
        let unnamed = program.value(Type::scalar(Elem::F64), SpanId::NONE);
        let op = CpuOp::Const(Lit::of(Scalar::F64, 0.0));
        let stmt = Stmt::new(vec![unnamed], op, SpanId::NONE);
        program.body.stmts.push(stmt);
        let given = Names::of(&program, 0, &ValueSet::new());
        let text: Vec<String> = values.iter().map(|&v| given.value(v).to_string()).collect();
        assert_eq!(
            text,
            [
                "n_2",
                "model_weights_1",
                "for_1",
                "min_1",
                "pixel_row_1",
                "x_y_1",
                "t3_1",
                "unnamed_1",
                "t1_1"
            ]
        );
        assert_eq!(given.size(size).to_string(), "n_1");
        assert_eq!(given.value(unnamed).to_string(), "t1");
    }
}
