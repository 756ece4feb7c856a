//! What an index selects from, in the user's words, for the message of an index that is out of
//! range.

use super::Elab;
use crate::ir::SpanId;
use crate::lower::hir::{Expr, Kind, LocalId, Place, Step, Value};
use crate::lower::types::{Set, Ty};
use crate::syntax::tree::{BinaryOp, UnaryOp, path_key};

/// Something that is indexed.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    /// Where it begins.
    pub(super) at: SpanId,
    /// What it is.
    pub(super) of: Indexed<'a>,
}

/// What is indexed.
#[derive(Clone, Copy)]
pub(super) enum Indexed<'a> {
    /// `t[i]`
    Read(&'a Expr, &'a [Expr]),
    /// `t.get(i)`
    Asked(&'a Expr, &'a [Expr]),
    /// `t[i] = …`
    Place(&'a Place),
    /// Nothing: a number that is made a member of a set.
    Member,
}

impl<'a> Elab<'a> {
    /// The place of an index into a set of something.
    pub(super) fn checked_at(&mut self, site: Site<'a>, set: &Set) -> SpanId {
        let set = self.set_in_words(set);
        let what = match site.of {
            Indexed::Read(base, indices) => self.indexed(base, indices),
            Indexed::Asked(base, indices) => {
                format!("{}.get({})", self.in_words(base), self.list(indices))
            }
            Indexed::Place(place) => self.place_in_words(place),
            Indexed::Member => return self.places.in_words(site.at, set),
        };
        self.places
            .in_words(site.at, format!("`{what}` over {set}"))
    }

    /// What messages call a set.
    fn set_in_words(&self, set: &Set) -> String {
        match self.functions[self.frame.function].solver.set(set) {
            Set::Range(_) => "a range".to_owned(),
            Set::Row(..) => "a row".to_owned(),
            Set::Var(_) => "`Dyn`".to_owned(),
            set => format!("`{}`", self.printer().set(&set)),
        }
    }

    fn indexed(&self, base: &Expr, indices: &[Expr]) -> String {
        let list = self.list(indices);
        match indices {
            [_] => format!("{}[{list}]", self.in_words(base)),
            _ => format!("{}[({list})]", self.in_words(base)),
        }
    }

    fn list(&self, list: &[Expr]) -> String {
        let list: Vec<String> = list.iter().map(|expr| self.in_words(expr)).collect();
        list.join(", ")
    }

    fn place_in_words(&self, place: &Place) -> String {
        let mut words = self.name_of(place.local);
        let mut ty = self.local_type(place.local);
        for step in &place.steps {
            ty = match step {
                Step::Field(k) => {
                    words.push_str(&self.field_in_words(&ty, *k));
                    self.part(&ty, *k)
                }
                Step::Index(base, indices) => {
                    let list = self.list(indices);
                    let list = if indices.len() == 1 {
                        list
                    } else {
                        format!("({list})")
                    };
                    words.push_str(&format!("[{list}]"));
                    self.split(base).1
                }
            };
        }
        words
    }

    fn local_type(&self, local: LocalId) -> Ty {
        let function = &self.functions[self.frame.function];
        self.ty(&function.locals[local.0 as usize].ty)
    }

    /// The type of a field.
    fn part(&self, ty: &Ty, k: usize) -> Ty {
        match self.split(ty).1 {
            Ty::Tuple(parts) | Ty::Struct(_, parts) => parts.get(k).cloned().unwrap_or(Ty::Error),
            _ => Ty::Error,
        }
    }

    /// `.weights`, `.0`
    fn field_in_words(&self, ty: &Ty, k: usize) -> String {
        match self.split(ty).1 {
            Ty::Struct(id, _) => match self.fields(id).get(k) {
                Some((name, _)) => format!(".{name}"),
                None => format!(".{k}"),
            },
            _ => format!(".{k}"),
        }
    }

    /// An expression as its author may have written it. What is long is left out.
    fn in_words(&self, expr: &Expr) -> String {
        match &expr.kind {
            Kind::Local(local) => self.name_of(*local),
            Kind::Constant(constant) => {
                let function = &self.functions[self.frame.function];
                path_key(&function.constants[*constant].path)
            }
            Kind::Lit(Value::Int(value)) => value.to_string(),
            Kind::Lit(Value::Float(value)) => format!("{value:?}"),
            Kind::Lit(Value::Bool(value)) => value.to_string(),
            Kind::Field(base, k) => {
                format!(
                    "{}{}",
                    self.in_words(base),
                    self.field_in_words(&base.ty, *k)
                )
            }
            Kind::Index(base, indices) => self.indexed(base, indices),
            Kind::Tuple(parts) => format!("({})", self.list(parts)),
            Kind::Method(method, on, args) => {
                let (on, name) = (self.operand(on, 9, false), method.name());
                format!("{on}.{name}({})", self.list(args))
            }
            Kind::Unary(UnaryOp::Neg, of) => format!("-{}", self.operand(of, 8, false)),
            Kind::Unary(UnaryOp::Not, of) => format!("!{}", self.operand(of, 8, false)),
            Kind::Cast(of) => {
                let ty = self.printer().ty(&self.ty(&expr.ty));
                format!("{} as {ty}", self.operand(of, 7, false))
            }
            Kind::Binary(op, left, right) => {
                let (symbol, binds) = operator(*op);
                format!(
                    "{} {symbol} {}",
                    self.operand(left, binds, false),
                    self.operand(right, binds, true)
                )
            }
            _ => "…".to_owned(),
        }
    }

    /// An operand of something that binds so strongly: in parentheses if it binds less, or, on the
    /// right, no more.
    fn operand(&self, expr: &Expr, around: u8, right: bool) -> String {
        let binds = match &expr.kind {
            Kind::Binary(op, ..) => operator(*op).1,
            Kind::Cast(_) => 7,
            Kind::Unary(..) => 8,
            _ => 10,
        };
        let words = self.in_words(expr);
        match binds < around || (right && binds == around) {
            true => format!("({words})"),
            false => words,
        }
    }
}

/// How an operator is written, and how strongly it binds.
fn operator(op: BinaryOp) -> (&'static str, u8) {
    match op {
        BinaryOp::Mul => ("*", 6),
        BinaryOp::Div => ("/", 6),
        BinaryOp::Rem => ("%", 6),
        BinaryOp::Add => ("+", 5),
        BinaryOp::Sub => ("-", 5),
        BinaryOp::Shl => ("<<", 4),
        BinaryOp::Shr => (">>", 4),
        BinaryOp::BitAnd => ("&", 3),
        BinaryOp::BitXor => ("^", 2),
        BinaryOp::BitOr => ("|", 1),
        BinaryOp::Eq => ("==", 0),
        BinaryOp::Ne => ("!=", 0),
        BinaryOp::Lt => ("<", 0),
        BinaryOp::Le => ("<=", 0),
        BinaryOp::Gt => (">", 0),
        BinaryOp::Ge => (">=", 0),
    }
}
