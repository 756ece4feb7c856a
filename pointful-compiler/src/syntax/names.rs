//! Which functions, types and constants of its module a function names.
//!
//! Nothing is resolved here; what a path may mean is told by where it stands and, as everywhere in
//! Rust, by its case: `step(x)` and `apply(step, x)` name a function, `DRAG` a constant,
//! `Model { … }`, `Channel::R` and what stands in types a type. Locals, generic parameters and the
//! words of the language are none of them.

use crate::ir::Scalar;
use crate::syntax::parse::TRANSFORMS;
use crate::syntax::tree::{
    Block, Expr, ExprKind, Function, GenericKind, Iter, LoopAttr, LoopAttrKind, Pattern, Set,
    SetKind, Stmt, Transform, Transformed, Type, TypeArg, TypeDefKind, TypeItem, TypeKind,
    path_key,
};

/// The functions that are words of the language.
pub const WORDS: [&str; 17] = [
    "sum",
    "prod",
    "min",
    "max",
    "argmin",
    "argmax",
    "mean",
    "any",
    "all",
    "count",
    "reduce",
    "scan",
    "filter",
    "cumsum",
    "cumprod",
    "size",
    "stop_gradient",
];

/// The types that are words of the language or of Rust.
pub(crate) const TYPES: [&str; 14] = [
    "Table", "Tables", "Ragged", "Extent", "Fin", "Either", "Dyn", "Accum", "IndexSet", "Float",
    "Some", "None", "Option", "Self",
];

/// The name that is spelled most like this one: a third of the letters may differ.
pub(crate) fn spelled_like<'n>(
    name: &str,
    known: impl Iterator<Item = &'n str>,
) -> Option<&'n str> {
    let distance = |known: &&str| strsim::damerau_levenshtein(known, name);
    let nearest = known.min_by_key(distance)?;
    (distance(&nearest) * 3 <= name.chars().count()).then_some(nearest)
}

/// The types of numbers that are not elements of tables; lowering says so where they matter.
const OTHER_NUMBERS: [&str; 4] = ["i128", "u128", "char", "str"];

/// Macros and attributes of Rust that modules and expansions name alone. A macro of such a name, as
/// stands beside a function, would make it ambiguous. Those that hardly any module names, `#[path]`
/// or `line!()`, may be functions.
const MACROS: [&str; 32] = [
    "allow",
    "assert",
    "assert_eq",
    "assert_ne",
    "cfg",
    "cfg_attr",
    "compile_error",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "derive",
    "doc",
    "eprint",
    "eprintln",
    "format",
    "format_args",
    "inline",
    "macro_export",
    "matches",
    "must_use",
    "panic",
    "print",
    "println",
    "test",
    "thread_local",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];

/// The macros of this crate beside the transformations.
pub(crate) const OWN_MACROS: [&str; 4] = ["define", "explain", "pointful", "try_call"];

/// Whether a function of this name could not be called, or would take the place of a macro of this
/// crate.
pub fn is_reserved(name: &str) -> bool {
    WORDS.contains(&name) || hides_own_macro(name)
}

fn hides_own_macro(name: &str) -> bool {
    TRANSFORMS.contains(&name) || OWN_MACROS.contains(&name)
}

/// Whether it is a macro that bodies call.
pub fn is_called_with_bang(name: &str) -> bool {
    TRANSFORMS.contains(&name) || name == "assert"
}

/// Whether a macro of this name would hide another one.
pub fn hides_macro(name: &str) -> bool {
    MACROS.contains(&name) || hides_own_macro(name)
}

/// Whether a type of this name would never be meant by it.
pub fn is_reserved_type(name: &str) -> bool {
    TYPES.contains(&name) || OTHER_NUMBERS.contains(&name) || Scalar::from_name(name).is_some()
}

/// What a function or type names, each once, in order of appearance, by the path as the user first
/// wrote it.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// Functions.
    pub functions: Vec<syn::Path>,
    /// Index sets, structs and aliases.
    pub types: Vec<syn::Path>,
    /// Constants.
    pub constants: Vec<syn::Path>,
    /// Those of them that are the lengths of static sets.
    pub lengths: Vec<syn::Path>,
    /// Those of the types that are given arguments somewhere.
    pub applied: Vec<syn::Path>,
    /// Fields of structs, each wherever it is named.
    pub fields: Vec<proc_macro2::Ident>,
    /// The parameters and locals that nothing reads.
    pub unused: Vec<proc_macro2::Ident>,
    /// Names of no variable where there must be one, and the variable that is meant, perhaps.
    pub unknown: Vec<(proc_macro2::Ident, Option<String>)>,
}

/// What a function names.
pub fn function_uses(function: &Function) -> Uses {
    let mut names = Names::default();
    for param in &function.params {
        // An extent is read by its being there: it says how large its set is.
        let is_extent = matches!(param.ty.kind, TypeKind::Extent(_));
        names.locals.push((param.name.clone(), is_extent));
    }
    names.signature(function);
    names.block(&function.body);
    names.leave(0);
    for (_, path) in &function.options {
        if let Some(path) = path {
            names.function(path);
        }
    }
    names.uses
}

/// The types that a function's signature names, each once, in order of appearance: a carrier has
/// them in this order. Generic ones are not among them: they are no types before they have
/// arguments.
pub fn signature_types(function: &Function) -> Vec<syn::Path> {
    let mut names = Names::default();
    names.signature(function);
    let Uses {
        mut types, applied, ..
    } = names.uses;
    let is_applied = |path: &syn::Path| {
        applied
            .iter()
            .any(|known| path_key(known) == path_key(path))
    };
    types.retain(|path| !is_applied(path));
    types
}

/// What the definition of a type names.
pub fn type_uses(item: &TypeItem) -> Uses {
    let mut names = Names::default();
    let generics = item.generics.iter().map(|generic| generic.name.to_string());
    names.generics.extend(generics);
    match &item.kind {
        TypeDefKind::NominalSet | TypeDefKind::EnumSet(_) => {}
        TypeDefKind::ProductSet(fields) | TypeDefKind::Struct(fields) => {
            fields.iter().for_each(|(_, ty)| names.ty(ty));
        }
        TypeDefKind::Enum(item) => names.ty(&item.sum[0].1),
        TypeDefKind::Alias(ty) => names.ty(ty),
    }
    names.uses
}

/// The walk: locals in scope, innermost last, and whether each was read.
#[derive(Default)]
struct Names {
    generics: Vec<String>,
    locals: Vec<(proc_macro2::Ident, bool)>,
    uses: Uses,
}

impl Names {
    fn bind(&mut self, name: &proc_macro2::Ident) {
        self.locals.push((name.clone(), false));
    }

    /// Ends the scope that began when there were `depth` locals.
    fn leave(&mut self, depth: usize) {
        for (name, read) in self.locals.split_off(depth) {
            if !read && !name.to_string().starts_with('_') {
                self.uses.unused.push(name);
            }
        }
    }

    /// Whether a path is a local; it is read then.
    fn local(&mut self, path: &syn::Path) -> bool {
        let Some(name) = path.get_ident() else {
            return false;
        };
        let found = self
            .locals
            .iter_mut()
            .rev()
            .find(|(local, _)| local == name);
        match found {
            Some((_, read)) => {
                *read = true;
                true
            }
            None => false,
        }
    }

    fn is_generic(&self, path: &syn::Path) -> bool {
        path.get_ident()
            .is_some_and(|name| self.generics.iter().any(|generic| name == generic))
    }

    fn signature(&mut self, function: &Function) {
        for generic in &function.generics {
            self.generics.push(generic.name.to_string());
        }
        for generic in &function.generics {
            if let GenericKind::Function(params, result) = &generic.kind {
                params.iter().for_each(|param| self.ty(param));
                self.ty(result);
            }
        }
        for param in &function.params {
            self.ty(&param.ty);
        }
        self.ty(&function.result);
    }

    fn function(&mut self, path: &syn::Path) {
        add(&mut self.uses.functions, path);
    }

    /// A type by its path, unless it is a generic or a word.
    fn type_path(&mut self, path: &syn::Path) {
        let Some(last) = path.segments.last() else {
            return;
        };
        let name = last.ident.to_string();
        let is_word = TYPES.contains(&name.as_str())
            || OTHER_NUMBERS.contains(&name.as_str())
            || Scalar::from_name(&name).is_some();
        if !is_word && !self.is_generic(path) {
            add(&mut self.uses.types, path);
        }
    }

    /// A path where a value stands.
    fn value_path(&mut self, path: &syn::Path, called: bool) {
        if self.local(path) || self.is_generic(path) {
            return;
        }
        let Some(last) = path
            .segments
            .last()
            .map(|segment| segment.ident.to_string())
        else {
            return;
        };
        if let Some(owner) = owner(path) {
            return self.type_path(&owner);
        }
        let is_upper = starts_upper(&last);
        if path.segments.len() == 1
            && (WORDS.contains(&last.as_str()) || TYPES.contains(&last.as_str()))
        {
            return;
        }
        match (is_upper, called) {
            (true, true) => self.type_path(path),
            (true, false) if last.chars().any(char::is_lowercase) => self.type_path(path),
            (true, false) => add(&mut self.uses.constants, path),
            (false, _) => self.function(path),
        }
    }

    /// An expression whose value is computed with, so it is no function.
    fn operand(&mut self, expr: &Expr) {
        let mut inner = expr;
        while let ExprKind::Paren(within) = &inner.kind {
            inner = within;
        }
        if let ExprKind::Path(path) = &inner.kind
            && let Some(name) = path.get_ident()
            && !starts_upper(&name.to_string())
            && !WORDS.contains(&name.to_string().as_str())
            && !self.is_generic(path)
            && !self.local(path)
        {
            let meant = self.variable_like(&name.to_string());
            if self.uses.unknown.iter().all(|(known, _)| known != name) {
                self.uses.unknown.push((name.clone(), meant));
            }
        } else {
            self.expr(expr);
        }
    }

    /// The local whose name is spelled most like this one; it is read, if it is meant.
    fn variable_like(&mut self, name: &str) -> Option<String> {
        let locals: Vec<String> = self
            .locals
            .iter()
            .map(|(name, _)| name.to_string())
            .collect();
        let meant = spelled_like(name, locals.iter().rev().map(String::as_str))?.to_owned();
        let named = self
            .locals
            .iter_mut()
            .rev()
            .find(|(local, _)| *local == meant);
        if let Some((_, read)) = named {
            *read = true;
        }
        Some(meant)
    }

    fn ty(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Scalar(_) | TypeKind::Infer => {}
            TypeKind::Path(path, args) => self.applied(path, args),
            TypeKind::Set(set) => self.set(set),
            TypeKind::Extent(set) => self.set(set),
            TypeKind::Table(set, element)
            | TypeKind::Tables(set, element)
            | TypeKind::Ragged(set, element) => {
                self.set(set);
                self.ty(element);
            }
            TypeKind::Tuple(parts) | TypeKind::OneOf(parts) => {
                parts.iter().for_each(|part| self.ty(part));
            }
            TypeKind::Array(element, length) => {
                self.ty(element);
                self.length(length);
            }
            TypeKind::Ref { inner, .. } | TypeKind::Accum(inner) => self.ty(inner),
            TypeKind::Function(params, result) => {
                params.iter().for_each(|param| self.ty(param));
                self.ty(result);
            }
        }
    }

    /// A type by its path, with arguments.
    fn applied(&mut self, path: &syn::Path, args: &[TypeArg]) {
        self.type_path(path);
        if !args.is_empty() {
            add(&mut self.uses.applied, path);
        }
        self.arguments(args);
    }

    /// Generic arguments.
    fn arguments(&mut self, args: &[TypeArg]) {
        for arg in args {
            match arg {
                TypeArg::Type(Type {
                    kind: TypeKind::Path(path, inner),
                    ..
                }) if inner.is_empty() && is_constant(path) => {
                    if !self.is_generic(path) {
                        add(&mut self.uses.constants, path);
                        add(&mut self.uses.lengths, path);
                    }
                }
                TypeArg::Type(ty) => self.ty(ty),
                TypeArg::Length(length) => self.length(length),
            }
        }
    }

    /// The length of a static set, where a constant is a `usize`.
    fn length(&mut self, length: &Expr) {
        self.expr(length);
        let mut at = length;
        loop {
            match &at.kind {
                ExprKind::Paren(inner) => at = inner,
                ExprKind::Block(Block {
                    value: Some(inner), ..
                }) => at = inner,
                ExprKind::Path(path) => {
                    let key = path_key(path);
                    if self
                        .uses
                        .constants
                        .iter()
                        .any(|known| path_key(known) == key)
                    {
                        add(&mut self.uses.lengths, path);
                    }
                    return;
                }
                _ => return,
            }
        }
    }

    fn set(&mut self, set: &Set) {
        match &set.kind {
            SetKind::Path(path, args) => {
                if !self.local(path) {
                    self.applied(path, args);
                }
            }
            SetKind::Fin(length) => self.length(length),
            SetKind::Product(parts) => parts.iter().for_each(|part| self.set(part)),
            SetKind::Either(left, right) => {
                self.set(left);
                self.set(right);
            }
            SetKind::Bool | SetKind::Unit | SetKind::Dyn | SetKind::Infer => {}
        }
    }

    fn block(&mut self, block: &Block) {
        let depth = self.locals.len();
        for stmt in &block.stmts {
            match stmt {
                Stmt::Let {
                    pattern, ty, value, ..
                } => {
                    if let Some(ty) = ty {
                        self.ty(ty);
                    }
                    self.expr(value);
                    self.pattern(pattern);
                }
                Stmt::Expr { expr, .. } => self.expr(expr),
            }
        }
        if let Some(value) = &block.value {
            self.expr(value);
        }
        self.leave(depth);
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            // That is a pattern without a variable.
            Pattern::Name { name, .. } if name == "None" => {}
            Pattern::Name { name, .. } => self.bind(name),
            Pattern::Wild(_) | Pattern::Lit(..) => {}
            Pattern::Tuple(parts, _) => parts.iter().for_each(|part| self.pattern(part)),
            Pattern::Typed(inner, ty) => {
                self.ty(ty);
                self.pattern(inner);
            }
            Pattern::Variant { path, inner, .. } => {
                if let Some(owner) = owner(path) {
                    self.type_path(&owner);
                }
                inner.iter().for_each(|part| self.pattern(part));
            }
            Pattern::Struct { path, fields, .. } => {
                self.type_path(&owner(path).unwrap_or_else(|| path.clone()));
                for (name, field) in fields {
                    self.uses.fields.push(name.clone());
                    self.pattern(field);
                }
            }
        }
    }

    fn attributes(&mut self, attrs: &[LoopAttr]) {
        for attr in attrs {
            match &attr.kind {
                LoopAttrKind::Bound(value) => self.expr(value),
                LoopAttrKind::Checkpoint(_) => {}
            }
        }
    }

    fn iter(&mut self, iter: &Iter) {
        match iter {
            Iter::Set(set) => self.set(set),
            Iter::Rows(table) => self.expr(table),
            Iter::Range { start, end, .. } => {
                (start.iter().chain(end)).for_each(|bound| self.operand(bound));
            }
            Iter::Rev(inner, _) => self.iter(inner),
            Iter::Skip(inner, count, _) => {
                self.iter(inner);
                self.expr(count);
            }
        }
    }

    fn transform(&mut self, transform: &Transform) {
        match &transform.of {
            Transformed::Path(path) => self.value_path(path, true),
            Transformed::Transform(inner) => self.transform(inner),
        }
    }

    fn exprs<'a>(&mut self, exprs: impl IntoIterator<Item = &'a Expr>) {
        exprs.into_iter().for_each(|expr| self.expr(expr));
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Lit(_) | ExprKind::Infer => {}
            ExprKind::Path(path) => self.value_path(path, false),
            ExprKind::Instance(path, args) => {
                self.value_path(path, true);
                self.arguments(args);
            }
            ExprKind::Call(function, args) => {
                match &function.kind {
                    ExprKind::Path(path) => self.value_path(path, true),
                    _ => self.expr(function),
                }
                self.exprs(args);
            }
            ExprKind::Method { receiver, args, .. } => {
                self.operand(receiver);
                self.exprs(args);
            }
            ExprKind::Field(inner, member) => {
                if let syn::Member::Named(name) = member {
                    self.uses.fields.push(name.clone());
                }
                self.operand(inner);
            }
            ExprKind::Unary(_, inner) | ExprKind::Deref(inner) => self.operand(inner),
            ExprKind::Paren(inner) | ExprKind::Ref { inner, .. } => self.expr(inner),
            ExprKind::Set(set) => self.set(set),
            ExprKind::NewExtent(set, args) => {
                set.iter().for_each(|set| self.set(set));
                self.exprs(args);
            }
            ExprKind::FromOrdinal(set, args) => {
                self.set(set);
                self.exprs(args);
            }
            ExprKind::Assert { cond, shown, .. } => {
                self.expr(cond);
                shown.iter().for_each(|value| self.expr(value));
            }
            ExprKind::Print { shown, .. } => self.exprs(shown),
            ExprKind::Debug { value, .. } => self.expr(value),
            ExprKind::Cast(inner, ty) => {
                self.operand(inner);
                self.ty(ty);
            }
            ExprKind::Binary(_, _, left, right)
            | ExprKind::And(left, right)
            | ExprKind::Or(left, right)
            | ExprKind::Index(left, right) => {
                self.operand(left);
                self.operand(right);
            }
            ExprKind::Repeat(left, right)
            | ExprKind::Assign {
                place: left,
                value: right,
                ..
            } => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Tuple(parts) | ExprKind::Array(parts) => self.exprs(parts),
            ExprKind::Block(block) => self.block(block),
            ExprKind::If {
                cond,
                then,
                otherwise,
            } => {
                self.operand(cond);
                self.block(then);
                if let Some(otherwise) = otherwise {
                    self.expr(otherwise);
                }
            }
            ExprKind::For {
                attrs,
                pattern,
                iter,
                body,
            } => {
                self.attributes(attrs);
                self.iter(iter);
                let depth = self.locals.len();
                self.pattern(pattern);
                self.block(body);
                self.leave(depth);
            }
            ExprKind::While { attrs, cond, body } => {
                self.attributes(attrs);
                self.operand(cond);
                self.block(body);
            }
            ExprKind::Match(value, arms) => {
                self.expr(value);
                for arm in arms {
                    let depth = self.locals.len();
                    arm.patterns
                        .iter()
                        .for_each(|pattern| self.pattern(pattern));
                    self.exprs(&arm.guard);
                    self.expr(&arm.body);
                    self.leave(depth);
                }
            }
            ExprKind::Closure { params, body } => {
                let depth = self.locals.len();
                params.iter().for_each(|param| self.pattern(param));
                self.expr(body);
                self.leave(depth);
            }
            ExprKind::Struct {
                path,
                args,
                fields,
                base,
            } => {
                match owner(path) {
                    Some(owner) => self.type_path(&owner),
                    None => self.applied(path, args),
                }
                for (name, value) in fields {
                    self.uses.fields.push(name.clone());
                    self.expr(value);
                }
                if let Some(base) = base {
                    self.expr(base);
                }
            }
            ExprKind::Range { start, end, .. } => {
                (start.iter().chain(end)).for_each(|bound| self.operand(bound));
            }
            ExprKind::Transform(transform) => self.transform(transform),
        }
    }
}

/// The type in front of the last name: `Channel` of `Channel::R`.
fn owner(path: &syn::Path) -> Option<syn::Path> {
    let before = path.segments.iter().rev().nth(1)?.ident.to_string();
    let is_type = starts_upper(&before)
        || Scalar::from_name(&before).is_some()
        || OTHER_NUMBERS.contains(&before.as_str());
    is_type.then(|| {
        let mut owner = path.clone();
        owner.segments.pop();
        owner.segments.pop_punct();
        owner
    })
}

/// Whether a name has the case of constants, and more than the one letter of a generic or a short
/// type.
pub fn is_constant(path: &syn::Path) -> bool {
    let last = path.segments.last().map(|last| last.ident.to_string());
    last.is_some_and(|name| {
        name.len() > 1 && starts_upper(&name) && !name.chars().any(char::is_lowercase)
    })
}

/// Whether a name has the case of types: one letter, or more of which some are small.
pub fn is_type_name(name: &str) -> bool {
    starts_upper(name) && (name.chars().count() == 1 || name.chars().any(char::is_lowercase))
}

fn starts_upper(name: &str) -> bool {
    name.trim_start_matches("r#")
        .starts_with(char::is_uppercase)
}

/// Adds a path without generic arguments, unless it is there.
fn add(paths: &mut Vec<syn::Path>, path: &syn::Path) {
    let key = path_key(path);
    if paths.iter().any(|known| path_key(known) == key) {
        return;
    }
    let mut path = path.clone();
    for segment in &mut path.segments {
        segment.arguments = syn::PathArguments::None;
    }
    paths.push(path);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(source: &str) -> [String; 4] {
        let item = syn::parse_str(source).expect("the test is Rust");
        let function =
            crate::syntax::parse::parse_function(&item).expect("the test is of the language");
        let uses = function_uses(&function);
        let list = |paths: &[syn::Path]| paths.iter().map(path_key).collect::<Vec<_>>().join(" ");
        let unused: Vec<_> = uses.unused.iter().map(ToString::to_string).collect();
        [
            list(&uses.functions),
            list(&uses.types),
            list(&uses.constants),
            unused.join(" "),
        ]
    }

    #[test]
    fn paths_are_told_apart_by_place_and_case() {
        assert_eq!(
            uses(
                "fn f<N: IndexSet>(x: &Table<(N, m::Row), Pixel>, c: Channel) -> Model {
                    let y = sum(for i in N { step(x[i], DRAG) + m::G * f64::EPSILON });
                    if c == Channel::R { Model { w: apply(relu, y), ..base() } } else { m::k(std::f64::consts::PI) }
                }"
            ),
            [
                "step apply relu base m::k",
                "m::Row Pixel Channel Model",
                "DRAG m::G std::f64::consts::PI",
                ""
            ]
        );
    }

    #[test]
    fn locals_hide_functions_and_words_need_no_asking() {
        assert_eq!(
            uses(
                "fn f(n: Extent<N>, g: impl Fn(f64) -> f64) -> f64 { let h = |x| g(x); h(max(for i in n { h(i.ordinal() as f64) })) }"
            ),
            ["", "N", "", ""]
        );
        assert_eq!(
            uses("fn f(x: f64) -> f64 { let y = { let g = x; g }; y + g(x) }"),
            ["g", "", "", ""]
        );
    }

    #[test]
    fn what_is_not_there_is_no_variable() {
        assert_eq!(
            uses(
                "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { match x.get(1) { None => 0.0, Some(v) => v } }"
            ),
            ["", "", "", ""]
        );
    }

    #[test]
    fn what_nothing_reads_is_listed() {
        assert_eq!(
            uses("fn f(x: f64, y: f64, _z: f64) -> f64 { let a = 1; for i in 0..3 { x } ; 2.0 }"),
            ["", "", "", "i a y"]
        );
        assert_eq!(
            uses(
                "fn f<N: IndexSet>(n: Extent<N>, k: i64) -> Table<N, f64> { for _i in N { 0.0 } }"
            ),
            ["", "", "", "k"]
        );
    }

    #[test]
    fn a_transformed_function_is_asked_for() {
        assert_eq!(
            uses("fn f(x: f64) -> f64 { grad!(jvp!(m::g))(x) }"),
            ["m::g", "", "", ""]
        );
    }
}
