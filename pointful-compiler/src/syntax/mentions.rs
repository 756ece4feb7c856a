//! Which functions, types and constants of the surrounding module a function mentions: what has to be gathered before it can be compiled.
//!
//! A path is a *call* where it is called and no local is called so, a *type* where a type or index set stands (or where the first
//! segment of `Channel::R` looks like one), and otherwise a *constant*; a path whose last segment is not in capitals is a function used as a value.

use std::collections::BTreeMap;

use syn::Path;

use super::tree::{
    Arm, Block, Expr, ExprKind, Function, GenericKind, Iter, LoopAttr, Pattern, Set, SetKind, Stmt,
    Transform, Transformed, Type, TypeDefKind, TypeKind, path_key,
};

/// The paths that a function mentions, each once, in order of their first mention.
#[derive(Clone, Debug, Default)]
pub struct Mentions {
    /// Functions.
    pub functions: Vec<Path>,
    /// Types.
    pub types: Vec<Path>,
    /// Constants.
    pub constants: Vec<Path>,
}

/// Words that are called like functions but are the language's own.
pub const WORDS: [&str; 16] = [
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
    "cumsum",
    "cumprod",
    "size",
    "stop_gradient",
];

/// What a function mentions.
pub fn mentions(function: &Function) -> Mentions {
    let mut walk = Walk {
        found: Mentions::default(),
        seen: BTreeMap::new(),
        scopes: vec![Vec::new()],
        sets: Vec::new(),
    };
    for generic in &function.generics {
        match generic.kind {
            GenericKind::Const => walk.name(&generic.name),
            GenericKind::IndexSet | GenericKind::Float | GenericKind::Function(..) => {
                walk.sets.push(generic.name.to_string());
            }
        }
    }
    for param in &function.params {
        walk.ty(&param.ty);
        walk.name(&param.name);
    }
    walk.ty(&function.result);
    walk.block(&function.body);
    for (_, path) in &function.options {
        if let Some(path) = path {
            walk.function(path);
        }
    }
    walk.found
}

/// The types that a type's definition mentions.
pub fn mentions_of_type(kind: &TypeDefKind) -> Mentions {
    let mut walk = Walk {
        found: Mentions::default(),
        seen: BTreeMap::new(),
        scopes: vec![Vec::new()],
        sets: Vec::new(),
    };
    match kind {
        TypeDefKind::NominalSet | TypeDefKind::EnumSet(_) => {}
        TypeDefKind::ProductSet(fields) | TypeDefKind::Struct(fields) => {
            fields.iter().for_each(|(_, ty)| walk.ty(ty))
        }
        TypeDefKind::Alias(ty) => walk.ty(ty),
    }
    walk.found
}

struct Walk {
    found: Mentions,
    /// What was found, so that it is found once.
    seen: BTreeMap<String, ()>,
    /// The names of locals, by scope.
    scopes: Vec<Vec<String>>,
    /// Generic types.
    sets: Vec<String>,
}

impl Walk {
    fn name(&mut self, name: &proc_macro2::Ident) {
        self.scopes
            .last_mut()
            .expect("there is a scope")
            .push(name.to_string());
    }

    fn is_local(&self, path: &Path) -> bool {
        path.get_ident()
            .is_some_and(|name| self.scopes.iter().flatten().any(|local| name == local))
    }

    fn function(&mut self, path: &Path) {
        let is_word = path
            .get_ident()
            .is_some_and(|name| WORDS.iter().any(|word| name == word));
        let is_method = path.segments.len() > 1 && is_type_name(&first(path));
        if !self.is_local(path)
            && !is_word
            && !is_method
            && self.seen.insert(path_key(path), ()).is_none()
        {
            self.found.functions.push(path.clone());
        }
    }

    fn type_path(&mut self, path: &Path) {
        let name = first(path);
        let known = path.segments.len() == 1
            && (self.sets.contains(&name)
                || crate::ir::Scalar::from_name(&name).is_some()
                || name == "Self"
                || self.is_local(path));
        if !known && self.seen.insert(path_key(path), ()).is_none() {
            self.found.types.push(path.clone());
        }
    }

    /// A path where a value stands.
    fn value(&mut self, path: &Path) {
        if self.is_local(path) {
            return;
        }
        let name = first(path);
        if path.segments.len() > 1 {
            if crate::ir::Scalar::from_name(&name).is_some()
                || BUILT_IN.contains(&name.as_str())
                || self.sets.contains(&name)
            {
                return;
            }
            if is_type_name(&name) {
                let mut owner = path.clone();
                owner.segments.pop();
                owner.segments.pop_punct();
                return self.type_path(&owner);
            }
        }
        let last = path
            .segments
            .last()
            .map(|s| s.ident.to_string())
            .unwrap_or_default();
        if last.chars().any(char::is_lowercase) {
            // A function as a value, or a set where `size(N)` and its like expect one.
            if last.chars().next().is_some_and(char::is_uppercase) {
                return self.type_path(path);
            }
            return self.function(path);
        }
        if self.sets.contains(&last) || last == "_" {
            return;
        }
        if self.seen.insert(path_key(path), ()).is_none() {
            self.found.constants.push(path.clone());
        }
    }

    fn ty(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Scalar(_) | TypeKind::Infer => {}
            TypeKind::Path(path) => self.type_path(path),
            TypeKind::Set(set) => self.set(set),
            TypeKind::Extent(set) => self.set(set),
            TypeKind::Table(set, inner) => {
                self.set(set);
                self.ty(inner);
            }
            TypeKind::Tuple(types) => types.iter().for_each(|ty| self.ty(ty)),
            TypeKind::Array(inner, length) => {
                self.ty(inner);
                self.expr(length);
            }
            TypeKind::Ref { inner, .. } => self.ty(inner),
            TypeKind::Function(params, result) => {
                params.iter().for_each(|ty| self.ty(ty));
                self.ty(result);
            }
        }
    }

    fn set(&mut self, set: &Set) {
        match &set.kind {
            SetKind::Path(path) => self.type_path(path),
            SetKind::Fin(length) => self.expr(length),
            SetKind::Product(sets) => sets.iter().for_each(|set| self.set(set)),
            SetKind::Either(a, b) => {
                self.set(a);
                self.set(b);
            }
            SetKind::Bool | SetKind::Unit | SetKind::Dyn | SetKind::Infer => {}
        }
    }

    fn scoped(&mut self, inside: impl FnOnce(&mut Self)) {
        self.scopes.push(Vec::new());
        inside(self);
        self.scopes.pop();
    }

    fn block(&mut self, block: &Block) {
        self.scoped(|walk| {
            for stmt in &block.stmts {
                match stmt {
                    Stmt::Let {
                        pattern, ty, value, ..
                    } => {
                        ty.iter().for_each(|ty| walk.ty(ty));
                        walk.expr(value);
                        walk.pattern(pattern);
                    }
                    Stmt::Expr { expr, .. } => walk.expr(expr),
                }
            }
            block.value.iter().for_each(|value| walk.expr(value));
        });
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Name { name, .. } => self.name(name),
            Pattern::Wild(_) | Pattern::Lit(_) => {}
            Pattern::Tuple(parts, _) => parts.iter().for_each(|part| self.pattern(part)),
            Pattern::Typed(inner, ty) => {
                self.ty(ty);
                self.pattern(inner);
            }
            Pattern::Variant { path, inner, .. } => {
                self.value(path);
                inner.iter().for_each(|part| self.pattern(part));
            }
            Pattern::Struct { path, fields, .. } => {
                self.type_path(path);
                fields.iter().for_each(|(_, part)| self.pattern(part));
            }
        }
    }

    fn iter(&mut self, iter: &Iter) {
        match iter {
            Iter::Set(set) => self.set(set),
            Iter::Range { start, end, .. } => start.iter().chain(end).for_each(|e| self.expr(e)),
            Iter::Rev(inner, _) => self.iter(inner),
            Iter::Skip(inner, n, _) => {
                self.iter(inner);
                self.expr(n);
            }
        }
    }

    fn attrs(&mut self, attrs: &[LoopAttr]) {
        attrs
            .iter()
            .filter_map(|attr| attr.value.as_ref())
            .for_each(|value| self.expr(value));
    }

    fn transform(&mut self, transform: &Transform) {
        match &transform.of {
            Transformed::Path(path) => self.function(path),
            Transformed::Transform(inner) => self.transform(inner),
        }
    }

    fn arm(&mut self, arm: &Arm) {
        self.scoped(|walk| {
            arm.patterns
                .iter()
                .for_each(|pattern| walk.pattern(pattern));
            arm.guard.iter().for_each(|guard| walk.expr(guard));
            walk.expr(&arm.body);
        });
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Lit(_) | ExprKind::Infer => {}
            ExprKind::Path(path) => self.value(path),
            ExprKind::Unary(_, e)
            | ExprKind::Paren(e)
            | ExprKind::Deref(e)
            | ExprKind::Field(e, _) => self.expr(e),
            ExprKind::Ref { inner, .. } => self.expr(inner),
            ExprKind::Binary(_, _, a, b)
            | ExprKind::And(a, b)
            | ExprKind::Or(a, b)
            | ExprKind::Index(a, b)
            | ExprKind::Repeat(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Cast(e, ty) => {
                self.expr(e);
                self.ty(ty);
            }
            ExprKind::Call(callee, args) => {
                match &callee.kind {
                    ExprKind::Path(path) => self.function(path),
                    _ => self.expr(callee),
                }
                args.iter().for_each(|arg| self.expr(arg));
            }
            ExprKind::Method { receiver, args, .. } => {
                self.expr(receiver);
                args.iter().for_each(|arg| self.expr(arg));
            }
            ExprKind::Tuple(parts) | ExprKind::Array(parts) => {
                parts.iter().for_each(|e| self.expr(e))
            }
            ExprKind::Block(block) => self.block(block),
            ExprKind::If {
                cond,
                then,
                otherwise,
            } => {
                self.expr(cond);
                self.block(then);
                otherwise.iter().for_each(|e| self.expr(e));
            }
            ExprKind::For {
                attrs,
                pattern,
                iter,
                body,
            } => {
                self.attrs(attrs);
                self.iter(iter);
                self.scoped(|walk| {
                    walk.pattern(pattern);
                    walk.block(body);
                });
            }
            ExprKind::While { attrs, cond, body } => {
                self.attrs(attrs);
                self.expr(cond);
                self.block(body);
            }
            ExprKind::Match(value, arms) => {
                self.expr(value);
                arms.iter().for_each(|arm| self.arm(arm));
            }
            ExprKind::Closure { params, body } => self.scoped(|walk| {
                params.iter().for_each(|param| walk.pattern(param));
                walk.expr(body);
            }),
            ExprKind::Assign { place, value, .. } => {
                self.expr(place);
                self.expr(value);
            }
            ExprKind::Struct { path, fields, base } => {
                self.type_path(path);
                fields.iter().for_each(|(_, e)| self.expr(e));
                base.iter().for_each(|e| self.expr(e));
            }
            ExprKind::Range { start, end, .. } => {
                start.iter().chain(end).for_each(|e| self.expr(e))
            }
            ExprKind::Assert { cond, .. } => self.expr(cond),
            ExprKind::Transform(transform) => self.transform(transform),
        }
    }
}

/// Types of the language whose associated functions and members are words.
const BUILT_IN: [&str; 6] = ["Accum", "Either", "Extent", "Fin", "Table", "Dyn"];

fn first(path: &Path) -> String {
    path.segments
        .first()
        .map(|s| s.ident.to_string())
        .unwrap_or_default()
}

fn is_type_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(char::is_uppercase)
        && (chars.any(char::is_lowercase) || name.len() == 1)
}
