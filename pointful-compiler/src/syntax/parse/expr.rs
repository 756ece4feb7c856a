//! Expressions.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::spanned::Spanned;

use super::attributes::{attributes_of, attributes_of_pattern, value_arguments};
use super::transform::path_ends;
use super::types::plain;
use super::{Parser, transform_name};
use crate::diag::syntax as diag;
use crate::syntax::names::{WORDS, is_type_name};
use crate::syntax::start;
use crate::syntax::tree::{Arm, BinaryOp, Expr, ExprKind, Pattern, Set, UnaryOp, path_key};

impl Parser {
    pub(super) fn expr(&mut self, expr: &syn::Expr) -> Expr {
        let span = start::of_expr(expr);
        self.no_attributes(attributes_of(expr), "an expression");
        let kind = match expr {
            syn::Expr::Lit(lit) => ExprKind::Lit(self.literal(&lit.lit)),
            syn::Expr::Path(path) if path.qself.is_none() => self.path(&path.path, span),
            syn::Expr::Path(_) => {
                self.bad(span, "a qualified path", "name a constant of the module")
            }
            syn::Expr::Unary(unary) => self.unary(unary, span),
            syn::Expr::Binary(binary) => self.binary(binary),
            syn::Expr::Cast(cast) => {
                let inner = self.boxed(&cast.expr);
                ExprKind::Cast(inner, self.ty(&cast.ty))
            }
            syn::Expr::Call(call) => self.call(call),
            // Its message is text, of which there is none.
            syn::Expr::MethodCall(call) if call.method == "expect" => self.bad(
                call.method.span(),
                "`.expect(…)`",
                "write `.unwrap()`, behind an `assert!` that has the message",
            ),
            syn::Expr::MethodCall(call) => {
                self.no_turbofish(call);
                ExprKind::Method {
                    receiver: self.boxed(&call.receiver),
                    name: call.method.clone(),
                    args: self.arguments(&call.args),
                }
            }
            syn::Expr::Field(field) => {
                ExprKind::Field(self.boxed(&field.base), field.member.clone())
            }
            syn::Expr::Index(index) => {
                let table = self.boxed(&index.expr);
                ExprKind::Index(table, self.boxed(&index.index))
            }
            syn::Expr::Tuple(tuple) => ExprKind::Tuple(self.exprs(&tuple.elems)),
            syn::Expr::Array(array) => ExprKind::Array(self.exprs(&array.elems)),
            syn::Expr::Repeat(repeat) => {
                let value = self.boxed(&repeat.expr);
                ExprKind::Repeat(value, self.boxed(&repeat.len))
            }
            syn::Expr::Block(block) => {
                self.no_label(block.label.as_ref());
                ExprKind::Block(self.block(&block.block))
            }
            syn::Expr::Paren(inner) => ExprKind::Paren(self.boxed(&inner.expr)),
            // A group without delimiters comes from a `macro_rules!` that made the function.
            syn::Expr::Group(inner) => ExprKind::Paren(self.boxed(&inner.expr)),
            syn::Expr::If(branch) if matches!(*branch.cond, syn::Expr::Let(_)) => {
                self.if_let(branch, span)
            }
            syn::Expr::If(branch) => ExprKind::If {
                cond: self.boxed(&branch.cond),
                then: self.block(&branch.then_branch),
                otherwise: branch
                    .else_branch
                    .as_ref()
                    .map(|(_, otherwise)| self.boxed(otherwise)),
            },
            syn::Expr::ForLoop(for_loop) => {
                self.no_label(for_loop.label.as_ref());
                let pattern = self.pattern(&for_loop.pat);
                self.bound_once([&pattern]);
                ExprKind::For {
                    attrs: self.loop_attributes(&for_loop.attrs, false),
                    pattern,
                    iter: self.iter(&for_loop.expr),
                    body: self.block(&for_loop.body),
                }
            }
            syn::Expr::While(while_loop) => {
                self.no_label(while_loop.label.as_ref());
                ExprKind::While {
                    attrs: self.loop_attributes(&while_loop.attrs, true),
                    cond: self.boxed(&while_loop.cond),
                    body: self.block(&while_loop.body),
                }
            }
            syn::Expr::Match(choice) => {
                let value = self.boxed(&choice.expr);
                ExprKind::Match(value, choice.arms.iter().map(|arm| self.arm(arm)).collect())
            }
            syn::Expr::Closure(closure) => self.closure(closure),
            syn::Expr::Assign(assign) => self.assign(assign, span),
            syn::Expr::Reference(reference) => ExprKind::Ref {
                mutable: reference.mutability.is_some(),
                inner: self.boxed(&reference.expr),
            },
            syn::Expr::Struct(literal) => self.struct_literal(literal),
            syn::Expr::Range(range) => ExprKind::Range {
                start: range.start.as_ref().map(|start| self.boxed(start)),
                end: range.end.as_ref().map(|end| self.boxed(end)),
                inclusive: matches!(range.limits, syn::RangeLimits::Closed(_)),
            },
            syn::Expr::Macro(call) => return self.macro_call(&call.mac),
            syn::Expr::Infer(_) => ExprKind::Infer,
            other => self.unsupported(other, span),
        };
        Expr { kind, span }
    }

    /// Constructs of Rust that have no place here, each with what to write instead.
    fn unsupported(&mut self, expr: &syn::Expr, span: Span) -> ExprKind {
        match expr {
            syn::Expr::Return(token) => self.bad(
                token.return_token.span,
                "`return`",
                "let the value be the last expression of the body; an early result is one side of an `if`",
            ),
            syn::Expr::Break(token) => self.bad(
                token.break_token.span,
                "`break`",
                "write the condition into a `while`, or an `if` around the rest of the loop's body",
            ),
            syn::Expr::Continue(token) => self.bad(
                token.continue_token.span,
                "`continue`",
                "write an `if` around the rest of the loop's body",
            ),
            syn::Expr::Loop(token) => self.bad(token.loop_token.span, "`loop`", "write a `while` with its condition"),
            syn::Expr::Try(token) => self.bad(
                token.question_token.span,
                "`?`",
                "there are no errors to pass on: `assert!` what must hold, or return a flag; an `Option` is taken apart by `match` or `.and_then(|x| …)`",
            ),
            syn::Expr::Async(token) => self.bad(token.async_token.span, "`async`", "leave it out"),
            syn::Expr::Await(token) => self.bad(token.await_token.span, "`await`", "leave it out"),
            syn::Expr::Unsafe(token) => self.bad(
                token.unsafe_token.span,
                "`unsafe`",
                "leave it out: every index is checked or proven",
            ),
            syn::Expr::Const(token) => self.bad(token.const_token.span, "a `const` block", "name a constant of the module"),
            syn::Expr::Let(token) => self.bad(token.let_token.span, "`let` in a condition", "write a `match`; a loop goes on `while o.is_some()`, with `o.unwrap()` in it"),
            syn::Expr::RawAddr(_) => self.bad(span, "a raw pointer", "index the table"),
            syn::Expr::TryBlock(_) => self.bad(span, "a `try` block", "leave it out"),
            syn::Expr::Yield(_) => self.bad(span, "`yield`", "let the value be the last expression of the body"),
            _ => {
                self.error(diag::unknown_construct(span, "expression"));
                ExprKind::Infer
            }
        }
    }

    fn bad(&mut self, span: Span, what: &str, instead: &str) -> ExprKind {
        self.error(diag::unsupported(span, what, instead));
        ExprKind::Infer
    }

    pub(super) fn boxed(&mut self, expr: &syn::Expr) -> Box<Expr> {
        Box::new(self.expr(expr))
    }

    /// Arguments, which have no names.
    fn arguments<'a>(&mut self, args: impl IntoIterator<Item = &'a syn::Expr>) -> Vec<Expr> {
        let argument = |arg: &'a syn::Expr| {
            let syn::Expr::Assign(assign) = arg else {
                return self.expr(arg);
            };
            let span = start::of_expr(&assign.left);
            let name = assign.left.to_token_stream().to_string();
            self.error(diag::named_argument(span, &name));
            self.expr(&assign.right)
        };
        args.into_iter().map(argument).collect()
    }

    fn exprs<'a>(&mut self, exprs: impl IntoIterator<Item = &'a syn::Expr>) -> Vec<Expr> {
        exprs.into_iter().map(|expr| self.expr(expr)).collect()
    }

    pub(super) fn no_turbofish(&mut self, call: &syn::ExprMethodCall) {
        if let Some(turbofish) = &call.turbofish {
            self.error(diag::unsupported(
                turbofish.span(),
                "a turbofish on a method",
                "leave it out: the types are inferred",
            ));
        }
    }

    fn no_label(&mut self, label: Option<&syn::Label>) {
        if let Some(label) = label {
            self.error(diag::unsupported(
                label.span(),
                "a label",
                "leave it out: there is no `break` to name it",
            ));
        }
    }

    /// A path; a word that is a set and nothing else is the set's extent, and so is a type with
    /// arguments.
    fn path(&mut self, path: &syn::Path, span: Span) -> ExprKind {
        let last = path.segments.last();
        let is_set = last.is_some_and(|last| match last.ident.to_string().as_str() {
            "bool" => path.segments.len() == 1,
            name => !last.arguments.is_none() && is_type_name(name),
        });
        if is_set {
            let kind = self.set_path(path);
            ExprKind::Set(Box::new(Set { kind, span }))
        } else {
            self.value_path(path)
        }
    }

    /// A path to a function, a constant or a variable. Only a function has generic arguments, after
    /// its name.
    fn value_path(&mut self, path: &syn::Path) -> ExprKind {
        if is_instance(path) {
            return ExprKind::Instance(plain(path), self.path_args(path));
        }
        value_arguments(path)
            .into_iter()
            .for_each(|error| self.error(error));
        ExprKind::Path(path.clone())
    }

    fn call(&mut self, call: &syn::ExprCall) -> ExprKind {
        if let syn::Expr::Path(function) = &*call.func
            && function.qself.is_none()
            && function.path.segments.len() > 1
            && let Some(last) = function.path.segments.last()
            && last.ident == "from_ordinal"
        {
            if !last.arguments.is_none() {
                let (span, name) = (last.arguments.span(), last.ident.to_string());
                self.error(diag::value_arguments(span, &name));
            }
            let mut path = function.path.clone();
            path.segments.pop();
            path.segments.pop_punct();
            let (kind, span) = (self.set_path(&path), start::of_path(&path));
            return ExprKind::FromOrdinal(Box::new(Set { kind, span }), self.exprs(&call.args));
        }
        if let Some(of) = extent_made(&call.func) {
            let set = match &of.arguments {
                syn::PathArguments::None => None,
                _ => self
                    .type_args(of, "Extent<I>", 1)
                    .map(|args| Box::new(self.set(args[0]))),
            };
            return ExprKind::NewExtent(set, self.exprs(&call.args));
        }
        let function = match &*call.func {
            syn::Expr::Path(path) if path.qself.is_none() => {
                self.no_attributes(&path.attrs, "an expression");
                let (kind, span) = (self.value_path(&path.path), start::of_path(&path.path));
                Box::new(Expr { kind, span })
            }
            function => self.boxed(function),
        };
        ExprKind::Call(function, self.arguments(&call.args))
    }

    fn unary(&mut self, unary: &syn::ExprUnary, span: Span) -> ExprKind {
        let inner = self.boxed(&unary.expr);
        match unary.op {
            syn::UnOp::Neg(_) => ExprKind::Unary(UnaryOp::Neg, inner),
            syn::UnOp::Not(_) => ExprKind::Unary(UnaryOp::Not, inner),
            syn::UnOp::Deref(_) => ExprKind::Deref(inner),
            _ => {
                self.error(diag::unknown_construct(span, "operator"));
                ExprKind::Infer
            }
        }
    }

    fn binary(&mut self, binary: &syn::ExprBinary) -> ExprKind {
        let left = self.boxed(&binary.left);
        let right = self.boxed(&binary.right);
        let op_span = binary.op.span();
        // `x ** n` is `x * (*n)` to Rust.
        if let (syn::BinOp::Mul(star), Some(exponent)) = (&binary.op, dereferenced(&right))
            && star.span.end() == right.span.start()
        {
            self.error(diag::star_star(op_span, exponent));
            return ExprKind::Infer;
        }
        match operator(&binary.op) {
            Operator::Plain(op) => ExprKind::Binary(op, op_span, left, right),
            Operator::Assign(op) => ExprKind::Assign {
                op: Some(op),
                op_span,
                place: left,
                value: right,
            },
            Operator::And => ExprKind::And(left, right),
            Operator::Or => ExprKind::Or(left, right),
            Operator::Unknown => {
                self.error(diag::unknown_construct(op_span, "operator"));
                ExprKind::Infer
            }
        }
    }

    /// `if let p = x { … } else { … }` is a `match`.
    fn if_let(&mut self, branch: &syn::ExprIf, span: Span) -> ExprKind {
        let syn::Expr::Let(cond) = &*branch.cond else {
            return ExprKind::Infer;
        };
        let value = self.boxed(&cond.expr);
        let patterns = self.alternatives(&cond.pat);
        let then = self.block(&branch.then_branch);
        let otherwise = match &branch.else_branch {
            Some((_, otherwise)) => self.expr(otherwise),
            None => Expr {
                kind: ExprKind::Tuple(Vec::new()),
                span,
            },
        };
        let then = Arm {
            patterns,
            guard: None,
            body: Expr {
                span: then.span,
                kind: ExprKind::Block(then),
            },
        };
        let rest = Arm {
            patterns: vec![Pattern::Wild(span)],
            guard: None,
            body: otherwise,
        };
        ExprKind::Match(value, vec![then, rest])
    }

    fn arm(&mut self, arm: &syn::Arm) -> Arm {
        self.no_attributes(&arm.attrs, "an arm of a `match`");
        Arm {
            patterns: self.alternatives(&arm.pat),
            guard: arm.guard.as_ref().map(|(_, guard)| self.expr(guard)),
            body: self.expr(&arm.body),
        }
    }

    fn closure(&mut self, closure: &syn::ExprClosure) -> ExprKind {
        // `move` says nothing here: what a closure captures is a value in any case.
        if let Some(binder) = &closure.lifetimes {
            self.error(diag::unsupported(
                binder.span(),
                "a closure with lifetimes",
                "leave them out: values are not borrowed",
            ));
        }
        if let Some(token) = &closure.constness {
            self.error(diag::unsupported(
                token.span,
                "a `const` closure",
                "leave `const` out: what is known while compiling is computed then",
            ));
        }
        if let Some(token) = &closure.movability {
            self.error(diag::unsupported(
                token.span,
                "a `static` closure",
                "leave `static` out: it is for coroutines",
            ));
        }
        if let Some(token) = &closure.asyncness {
            self.error(diag::unsupported(token.span, "`async`", "leave it out"));
        }
        if let syn::ReturnType::Type(arrow, _) = &closure.output {
            self.error(diag::unsupported(
                arrow.span(),
                "the result type of a closure",
                "leave it out: it is inferred",
            ));
        }
        let mut params = Vec::new();
        for param in &closure.inputs {
            self.no_attributes(attributes_of_pattern(param), "a parameter of a closure");
            params.push(self.pattern(param));
        }
        self.bound_once(&params);
        ExprKind::Closure {
            params,
            body: self.boxed(&closure.body),
        }
    }

    fn struct_literal(&mut self, literal: &syn::ExprStruct) -> ExprKind {
        if literal.qself.is_some() {
            return self.bad(literal.path.span(), "a qualified path", "name the struct");
        }
        if let (Some(dots), None) = (&literal.dot2_token, &literal.rest) {
            self.error(diag::struct_rest(dots.span()));
        }
        let mut fields = Vec::new();
        for field in &literal.fields {
            self.no_attributes(&field.attrs, "a field");
            match &field.member {
                syn::Member::Named(name) => {
                    if self.given_once(&fields, name) {
                        fields.push((name.clone(), self.expr(&field.expr)));
                    }
                }
                syn::Member::Unnamed(index) => {
                    self.error(diag::unsupported(
                        index.span,
                        "a field by number",
                        "write `Name(a, b)`",
                    ));
                }
            }
        }
        ExprKind::Struct {
            path: plain(&literal.path),
            args: self.path_args(&literal.path),
            fields,
            base: literal.rest.as_ref().map(|base| self.boxed(base)),
        }
    }

    /// Whether a field is none of those that were given already.
    pub(super) fn given_once<T>(&mut self, fields: &[(Ident, T)], name: &Ident) -> bool {
        let again = fields.iter().any(|(known, _)| known == name);
        if again {
            self.error(diag::repeated(name.span(), &name.to_string()));
        }
        !again
    }

    /// `assert!`, a transformation, or an error that names the macro.
    pub(super) fn macro_call(&mut self, call: &syn::Macro) -> Expr {
        let span = start::of_path(&call.path);
        let kind = if path_ends(&call.path, &["assert"], &["std", "core"]) {
            self.assert(call)
        } else if let Some(name) = print_name(&call.path) {
            self.print(call, name)
        } else if path_ends(&call.path, &["dbg"], &["std"]) {
            self.debug(call, span)
        } else if let Some(name) = transform_name(&call.path) {
            match self.transformation(name, call.tokens.clone(), span) {
                Ok(transformation) => transformation,
                Err(error) => {
                    self.error(error);
                    ExprKind::Infer
                }
            }
        } else {
            self.error(diag::unknown_macro(call.path.span(), &path_key(&call.path)));
            ExprKind::Infer
        };
        Expr { kind, span }
    }
}

/// The macro's name, if it prints.
fn print_name(path: &syn::Path) -> Option<&'static str> {
    ["print", "println", "eprint", "eprintln"]
        .into_iter()
        .find(|name| path_ends(path, &[name], &["std"]))
}

/// The type in `Extent::new`.
fn extent_made(function: &syn::Expr) -> Option<&syn::PathSegment> {
    let syn::Expr::Path(syn::ExprPath {
        qself: None, path, ..
    }) = function
    else {
        return None;
    };
    let mut segments = path.segments.iter().rev();
    let (last, of) = (segments.next()?, segments.next()?);
    (last.ident == "new" && last.arguments.is_none() && of.ident == "Extent").then_some(of)
}

/// What syn's operator is in the language.
/// What is dereferenced first where an expression begins with a `*`.
fn dereferenced(e: &Expr) -> Option<&Expr> {
    match &e.kind {
        ExprKind::Deref(inner) => Some(inner),
        ExprKind::Cast(inner, _) => dereferenced(inner),
        _ => None,
    }
}

enum Operator {
    Plain(BinaryOp),
    Assign(BinaryOp),
    And,
    Or,
    Unknown,
}

fn operator(op: &syn::BinOp) -> Operator {
    use BinaryOp::*;
    use syn::BinOp;
    match op {
        BinOp::Add(_) => Operator::Plain(Add),
        BinOp::Sub(_) => Operator::Plain(Sub),
        BinOp::Mul(_) => Operator::Plain(Mul),
        BinOp::Div(_) => Operator::Plain(Div),
        BinOp::Rem(_) => Operator::Plain(Rem),
        BinOp::And(_) => Operator::And,
        BinOp::Or(_) => Operator::Or,
        BinOp::BitXor(_) => Operator::Plain(BitXor),
        BinOp::BitAnd(_) => Operator::Plain(BitAnd),
        BinOp::BitOr(_) => Operator::Plain(BitOr),
        BinOp::Shl(_) => Operator::Plain(Shl),
        BinOp::Shr(_) => Operator::Plain(Shr),
        BinOp::Eq(_) => Operator::Plain(Eq),
        BinOp::Lt(_) => Operator::Plain(Lt),
        BinOp::Le(_) => Operator::Plain(Le),
        BinOp::Ne(_) => Operator::Plain(Ne),
        BinOp::Ge(_) => Operator::Plain(Ge),
        BinOp::Gt(_) => Operator::Plain(Gt),
        BinOp::AddAssign(_) => Operator::Assign(Add),
        BinOp::SubAssign(_) => Operator::Assign(Sub),
        BinOp::MulAssign(_) => Operator::Assign(Mul),
        BinOp::DivAssign(_) => Operator::Assign(Div),
        BinOp::RemAssign(_) => Operator::Assign(Rem),
        BinOp::BitXorAssign(_) => Operator::Assign(BitXor),
        BinOp::BitAndAssign(_) => Operator::Assign(BitAnd),
        BinOp::BitOrAssign(_) => Operator::Assign(BitOr),
        BinOp::ShlAssign(_) => Operator::Assign(Shl),
        BinOp::ShrAssign(_) => Operator::Assign(Shr),
        _ => Operator::Unknown,
    }
}

/// Whether a path is that of a function with generic arguments.
fn is_instance(path: &syn::Path) -> bool {
    let mut segments = path.segments.iter().rev();
    let upper =
        |segment: &syn::PathSegment| segment.ident.to_string().starts_with(char::is_uppercase);
    let Some(last) = segments.next() else {
        return false;
    };
    let is_word = path.segments.len() == 1 && WORDS.contains(&last.ident.to_string().as_str());
    !last.arguments.is_none()
        && !is_word
        && !upper(last)
        && segments.all(|before| before.arguments.is_none() && !upper(before))
}
