//! Names for everything emitted code binds: those of the source where there are some, unique in the whole function.

use std::borrow::Cow;

use proc_macro2::{Ident, Span};
use rustc_hash::FxHashMap;

use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{Block, Elem, Operation, Program, SizeId, Value, ValueId, ValueSet};

/// Words that a value may not be called: those of Rust, and those that emitted code uses itself.
const RESERVED: &[&str] = &[
    // Rust, in any edition.
    "Self",
    "abstract",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "struct",
    "super",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "union",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
    "_",
    // Functions and variables of emitted code.
    "acc",
    "accumulate_steps",
    "add",
    "angles",
    "at",
    "before_",
    "check_index",
    "clamp",
    "div",
    "div_euclid",
    "done",
    "earlier",
    "first_extremum",
    "fold_lanes",
    "found",
    "get",
    "here",
    "host",
    "kernel",
    "lane",
    "later",
    "launch",
    "launch_steps",
    "math",
    "max",
    "min",
    "mirror",
    "mul",
    "nearest",
    "neg",
    "piece",
    "place",
    "point",
    "range",
    "rem",
    "rem_euclid",
    "row",
    "run",
    "start",
    "step",
    "stop",
    "sub",
    "sums",
    "taken",
    "transpose",
    "views",
    "wrap",
];

/// The identifier of every value that a program binds, and of every size.
pub(super) struct Names {
    values: Vec<Option<Ident>>,
    sizes: Vec<Ident>,
    functions: Vec<Ident>,
}

impl Names {
    /// Names for all values and sizes, and for as many functions of the caller's. What is constant is called as constants are, and as nothing of the user's is.
    ///
    /// Every value has a name of its own, so that emitted blocks never shadow anything;
    /// the spans are those of the expansion, so that nothing meets a name of the user's.
    pub(super) fn of(program: &Program<Kernels>, functions: usize, constants: &ValueSet) -> Self {
        let mut taken = Taken(FxHashMap::default());
        taken.0.reserve(RESERVED.len() + program.values.len());
        let reserved = RESERVED.iter().map(|&word| (Cow::Borrowed(word), 1));
        taken.0.extend(reserved);
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
                    taken.fresh(format!("{kind}{unnamed}"))
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
    pub(super) fn value(&self, value: ValueId) -> &Ident {
        let name = self.values[value.index()].as_ref();
        name.expect("only what is bound is named")
    }

    /// The name of a function of the caller's.
    pub(super) fn function(&self, function: u8) -> &Ident {
        &self.functions[usize::from(function)]
    }

    /// The name of the variable that holds a size.
    pub(super) fn size(&self, size: SizeId) -> &Ident {
        &self.sizes[size.0 as usize]
    }
}

/// What a program binds: its parameters, and what statements and blocks do.
fn bound(program: &Program<Kernels>) -> ValueSet {
    fn walk(block: &Block<Kernels>, bound: &mut ValueSet) {
        bound.extend(&block.params);
        for stmt in &block.stmts {
            bound.extend(&stmt.results);
            if let KernelOp::Own(Par { accs, folds, .. }) = &stmt.op {
                bound.extend(accs.iter().map(|acc| acc.private));
                bound.extend(folds.iter().flat_map(|fold| &fold.privates));
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
pub(super) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// The names that are taken, and the last number after each: copies of a loop's body all ask for the same ones.
struct Taken(FxHashMap<Cow<'static, str>, u32>);

impl Taken {
    /// `name`, or `name_2` and so on if that is taken.
    fn fresh(&mut self, name: String) -> Ident {
        let mut candidate = name;
        if let Some(&last) = self.0.get(candidate.as_str()) {
            let (name, mut count) = (candidate.clone(), last);
            while self.0.contains_key(candidate.as_str()) {
                count += 1;
                candidate = format!("{name}_{count}");
            }
            self.0.insert(name.into(), count);
        }
        let given = ident(&candidate);
        self.0.insert(candidate.into(), 1);
        given
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Lit, Scalar, SpanId, Stmt, Type};

    #[test]
    fn names_are_readable_and_unique() {
        let mut program = Program::<Kernels>::new("f");
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
        let op = KernelOp::Const(Lit::of(Scalar::F64, 0.0));
        let stmt = Stmt::new(vec![unnamed], op, SpanId::NONE);
        program.body.stmts.push(stmt);
        let given = Names::of(&program, 0, &ValueSet::new());
        let text: Vec<String> = values.iter().map(|&v| given.value(v).to_string()).collect();
        assert_eq!(
            text,
            [
                "n_2",
                "model_weights",
                "for_2",
                "min_2",
                "pixel_row",
                "x_y",
                "t3",
                "unnamed",
                "t1"
            ]
        );
        assert_eq!(given.size(size).to_string(), "n");
        assert_eq!(given.value(unnamed).to_string(), "t1_2");
    }
}
