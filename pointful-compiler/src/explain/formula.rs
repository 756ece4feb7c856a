//! Numbers of bytes as formulas of extents: sums of products.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{Block, Elem, Extent, Lit, Operation, Program, ValueId, ValueSet};
use crate::ops::Prim;

/// `8·N·T + 16·N`: how often each product of extents is counted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Formula {
    /// By the factors, in order.
    terms: BTreeMap<Vec<String>, u64>,
    /// Whether some of the extents differ from one point to another, and these are the largest.
    at_most: bool,
}

impl Formula {
    /// So many times the product of these lengths.
    pub(super) fn product(times: u64, lengths: &[Length]) -> Self {
        let (mut number, mut factors, mut at_most) = (times, Vec::new(), false);
        for length in untiled(lengths) {
            match &length.text {
                Text::Number(n) => number *= n,
                Text::Simple(text) => factors.push(text.clone()),
                Text::Sum(text) => factors.push(format!("({text})")),
                Text::Tiles { .. } => factors.push(length.to_string()),
            }
            at_most |= length.at_most;
        }
        factors.sort();
        let terms = if number == 0 {
            BTreeMap::new()
        } else {
            BTreeMap::from([(factors, number)])
        };
        Self { terms, at_most }
    }

    /// Adds another.
    pub(super) fn add(&mut self, other: &Self) {
        for (factors, times) in &other.terms {
            *self.terms.entry(factors.clone()).or_default() += times;
        }
        self.at_most |= other.at_most;
    }

    /// Says that it is the largest of several.
    pub(super) fn bound(&mut self) {
        self.at_most = true;
    }

    /// Whether it is 0.
    pub(super) fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }
}

/// The points of all tiles are those of the axis that is cut.
fn untiled(lengths: &[Length]) -> Vec<Length> {
    let mut lengths = lengths.to_vec();
    let tile = Text::Simple(TILE.into());
    let points = lengths.iter().position(|length| length.text == tile);
    let tiles = lengths.iter_mut().find_map(|length| match &length.text {
        Text::Tiles { of, .. } => Some((Length::clone(of), length)),
        Text::Number(_) | Text::Simple(_) | Text::Sum(_) => None,
    });
    let (Some(points), Some((of, tiles))) = (points, tiles) else {
        return lengths;
    };
    *tiles = of;
    lengths.remove(points);
    untiled(&lengths)
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.at_most {
            f.write_str("at most ")?;
        }
        if self.is_zero() {
            return f.write_str("0");
        }
        // Those of most factors first.
        let mut terms: Vec<_> = self.terms.iter().collect();
        terms.sort_by_key(|(factors, _)| std::cmp::Reverse(factors.len()));
        for (k, (factors, times)) in terms.into_iter().enumerate() {
            if k > 0 {
                f.write_str(" + ")?;
            }
            write!(f, "{times}")?;
            for factor in factors {
                write!(f, "·{factor}")?;
            }
        }
        Ok(())
    }
}

/// A length as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Length {
    text: Text,
    /// Whether it is the largest of several.
    at_most: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Text {
    Number(u64),
    /// What stands in a product as it is.
    Simple(String),
    /// What stands in parentheses there.
    Sum(String),
    /// How many tiles of no less and no more points than these a length is cut into.
    Tiles {
        of: Box<Length>,
        points: [u64; 2],
    },
}

/// How many points a tile has.
const TILE: &str = "tile";

const UNKNOWN: &str = "a computed length";

impl Length {
    fn simple(text: impl Into<String>) -> Self {
        Self {
            text: Text::Simple(text.into()),
            at_most: false,
        }
    }

    /// In a product.
    fn factor(&self) -> String {
        match &self.text {
            Text::Number(n) => n.to_string(),
            Text::Simple(text) => text.clone(),
            Text::Sum(text) => format!("({text})"),
            Text::Tiles { .. } => self.to_string(),
        }
    }

    /// Whether it can be said in terms of sizes and parameters.
    pub(super) fn is_known(&self) -> bool {
        self.text != Text::Sum(UNKNOWN.into())
    }

    /// What is cut into tiles, if it is how many of them there are, and how many points one has at
    /// least and at most.
    pub(super) fn tiles(&self) -> Option<(&Self, [u64; 2])> {
        match &self.text {
            Text::Tiles { of, points } => Some((of, *points)),
            _ => None,
        }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.text {
            Text::Number(n) => write!(f, "{n}"),
            Text::Simple(text) | Text::Sum(text) => f.write_str(text),
            Text::Tiles { of, .. } => write!(f, "⌈{} / {TILE}⌉", of.factor()),
        }
    }
}

/// Expressions deeper than this, or with more characters than this, are not shown.
const DEEPEST: usize = 40;
const LONGEST: usize = 100;

/// What extents of a program are, in terms of its sizes and parameters.
///
/// Where a length is made at least 1, so that something can be divided by it, that is not shown.
pub(super) struct Lengths<'p> {
    program: &'p Program<Kernels>,
    defs: BTreeMap<ValueId, &'p KernelOp>,
    /// What is combined into a place: the longest of several.
    longest: BTreeMap<ValueId, ValueId>,
    /// Places that change in loops without a length.
    counters: ValueSet,
    /// What is known already: an expression may occur many times in another.
    known: RefCell<BTreeMap<ValueId, Length>>,
}

impl<'p> Lengths<'p> {
    pub(super) fn new(program: &'p Program<Kernels>) -> Self {
        let mut this = Self {
            program,
            defs: BTreeMap::new(),
            longest: BTreeMap::new(),
            counters: ValueSet::new(),
            known: RefCell::default(),
        };
        this.walk(&program.body, false);
        this
    }

    fn walk(&mut self, block: &'p Block<Kernels>, unbounded: bool) {
        for stmt in &block.stmts {
            if let (KernelOp::Set { place, .. }, true) = (&stmt.op, unbounded) {
                self.counters.insert(*place);
            }
            if let [result] = stmt.results[..] {
                self.defs.insert(result, &stmt.op);
            }
            if let KernelOp::Combine { place, value, .. } = &stmt.op {
                self.longest.insert(*place, *value);
            }
            let unbounded = unbounded || matches!(stmt.op, KernelOp::While { .. });
            for inner in stmt.op.blocks() {
                self.walk(inner, unbounded);
            }
        }
    }

    /// A comparison of lengths.
    pub(super) fn comparison(&self, value: ValueId) -> Option<String> {
        let Some(KernelOp::Prim(prim, args)) = self.defs.get(&value) else {
            return None;
        };
        let sign = match prim {
            Prim::Eq => "=",
            Prim::Ne => "≠",
            Prim::Lt => "<",
            Prim::Le => "≤",
            Prim::Gt => ">",
            Prim::Ge => "≥",
            _ => return None,
        };
        let [left, right] = [args[0], args[1]].map(|arg| self.value(arg, DEEPEST));
        let are_known = left.is_known() && right.is_known();
        are_known.then(|| format!("{left} {sign} {right}"))
    }

    /// An extent.
    pub(super) fn of(&self, extent: Extent) -> Length {
        self.extent(extent, DEEPEST)
    }

    fn extent(&self, extent: Extent, depth: usize) -> Length {
        match extent {
            Extent::Const(number) => Length {
                text: Text::Number(number),
                at_most: false,
            },
            Extent::Size(size) => Length::simple(&self.program.sizes[size.0 as usize].name),
            Extent::Value(value) => self.value(value, depth),
        }
    }

    /// A number that is computed.
    fn value(&self, value: ValueId, depth: usize) -> Length {
        if let Some(known) = self.known.borrow().get(&value) {
            return known.clone();
        }
        let length = self.computed(value, depth);
        self.known.borrow_mut().insert(value, length.clone());
        length
    }

    fn computed(&self, value: ValueId, depth: usize) -> Length {
        let unknown = || match &self.program.values[value.index()].name {
            Some(name) => Length::simple(name),
            None => Length {
                text: Text::Sum(UNKNOWN.into()),
                at_most: false,
            },
        };
        let Some(depth) = depth.checked_sub(1) else {
            return unknown();
        };
        // A member of a set comes before its end.
        if let Elem::Index(extent) = self.program.elem(value) {
            let length = self.extent(extent, depth);
            return Length {
                at_most: true,
                ..length
            };
        }
        match self.defs.get(&value) {
            Some(KernelOp::Const(Lit::Int(_, number))) => Length {
                text: u64::try_from(*number)
                    .map_or_else(|_| Text::Sum(number.to_string()), Text::Number),
                at_most: false,
            },
            Some(KernelOp::Const(Lit::F32(bits))) => {
                Length::simple(f32::from_bits(*bits).to_string())
            }
            Some(KernelOp::Const(Lit::F64(bits))) => {
                Length::simple(f64::from_bits(*bits).to_string())
            }
            Some(KernelOp::Size(extent)) => self.extent(*extent, depth),
            Some(KernelOp::Get(place)) => match self.longest.get(place) {
                Some(&value) => Length {
                    at_most: true,
                    ..self.value(value, depth)
                },
                None if self.counters.contains(place) => Length::simple("iterations"),
                None => unknown(),
            },
            // So many or none.
            Some(KernelOp::Select(_, some, none)) if self.number(*none) == Some(0) => Length {
                at_most: true,
                ..self.value(*some, depth)
            },
            Some(KernelOp::Prim(..)) if self.tile(value).is_some() => Length::simple(TILE),
            Some(KernelOp::Prim(prim, args)) => {
                let length = self.rounded_up(*prim, args, depth).or_else(|| {
                    let args: Vec<_> = args.iter().map(|&arg| self.value(arg, depth)).collect();
                    self.prim(*prim, &args)
                });
                length
                    .filter(|length| length.to_string().chars().count() <= LONGEST)
                    .unwrap_or_else(unknown)
            }
            _ => unknown(),
        }
    }

    /// A literal.
    fn number(&self, value: ValueId) -> Option<u64> {
        match self.defs.get(&value) {
            Some(KernelOp::Const(Lit::Int(_, number))) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// The operands of a primitive.
    fn args(&self, value: ValueId, prim: Prim) -> Option<[ValueId; 2]> {
        match self.defs.get(&value) {
            Some(KernelOp::Prim(found, args)) if *found == prim => args[..].try_into().ok(),
            _ => None,
        }
    }

    /// How many points a tile has at least and at most: `min(max(bytes / _, low), high)`.
    fn tile(&self, value: ValueId) -> Option<[u64; 2]> {
        let [at_least, high] = self.args(value, Prim::Min)?;
        let [fit, low] = self.args(at_least, Prim::Max)?;
        let [bytes, _] = self.args(fit, Prim::Div)?;
        self.number(bytes)?;
        Some([self.number(low)?, self.number(high)?])
    }

    /// `(a + (b - 1)) / b` or `(a + b - 1) / b`
    fn rounded_up(&self, prim: Prim, args: &[ValueId], depth: usize) -> Option<Length> {
        let (Prim::Div, &[sum, by]) = (prim, args) else {
            return None;
        };
        let is_less = |less: ValueId| match self.args(less, Prim::Sub) {
            Some([whole, one]) => whole == by && self.number(one) == Some(1),
            None => {
                let (less, by) = (self.number(less), self.number(by));
                less.is_some_and(|less| by == Some(less + 1))
            }
        };
        let of = match (self.args(sum, Prim::Add), self.args(sum, Prim::Sub)) {
            (Some([of, less]), _) if is_less(less) => of,
            (Some([less, of]), _) if is_less(less) => of,
            (_, Some([more, one])) if self.number(one) == Some(1) => {
                let [of, _] = self.args(more, Prim::Add).filter(|terms| terms[1] == by)?;
                of
            }
            _ => return None,
        };
        let of = self.value(of, depth);
        let at_most = of.at_most;
        if let Some(points) = self.tile(by) {
            let of = Box::new(of);
            let text = Text::Tiles { of, points };
            return Some(Length { text, at_most });
        }
        let by = self.value(by, depth);
        (!by.at_most).then(|| Length {
            text: Text::Simple(format!("⌈{} / {}⌉", of.factor(), by.factor())),
            at_most,
        })
    }

    fn prim(&self, prim: Prim, args: &[Length]) -> Option<Length> {
        let at_most = args.iter().any(|arg| arg.at_most);
        let text = match (prim, args) {
            (Prim::Cast(_), [arg]) => return Some(arg.clone()),
            // What bounds it everywhere, if the other does not.
            (Prim::Min, [one, other]) if one.at_most != other.at_most => {
                let known = if one.at_most { other } else { one };
                return Some(Length {
                    at_most: true,
                    ..known.clone()
                });
            }
            (Prim::Min, [a, b]) => Text::Simple(format!("min({a}, {b})")),
            (Prim::Max, [a, one]) if one.text == Text::Number(1) => return Some(a.clone()),
            (Prim::Max, [a, b]) => Text::Simple(format!("max({a}, {b})")),
            (Prim::Add, [a, b]) => Text::Sum(format!("{a} + {b}")),
            // What is taken away may be anything.
            (Prim::Sub, [a, b]) if b.at_most => {
                return Some(Length {
                    at_most: true,
                    ..a.clone()
                });
            }
            (Prim::Sub, [a, b]) => Text::Sum(format!("{a} - {}", b.factor())),
            (Prim::Mul, [a, b]) => Text::Simple(format!("{}·{}", a.factor(), b.factor())),
            (Prim::Div, [a, b]) if !b.at_most => {
                Text::Sum(format!("{} / {}", a.factor(), b.factor()))
            }
            (Prim::Powf, [a, b]) => Text::Simple(format!("{}^{}", a.factor(), b.factor())),
            (Prim::Ceil, [a]) => Text::Simple(format!("⌈{a}⌉")),
            _ => return None,
        };
        Some(Length { text, at_most })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(n: u64) -> Length {
        Length {
            text: Text::Number(n),
            at_most: false,
        }
    }

    #[test]
    fn like_terms_are_added() {
        let (n, t) = (Length::simple("N"), Length::simple("T"));
        let mut sum = Formula::product(8, &[t.clone(), n.clone()]);
        assert_eq!(sum.to_string(), "8·N·T");
        sum.add(&Formula::product(4, &[n.clone(), t]));
        sum.add(&Formula::product(8, &[n.clone(), number(3)]));
        sum.add(&Formula::product(8, &[]));
        assert_eq!(sum.to_string(), "12·N·T + 24·N + 8");
        sum.add(&Formula::default());
        assert_eq!(sum.to_string(), "12·N·T + 24·N + 8");
    }

    #[test]
    fn nothing_is_zero() {
        assert_eq!(Formula::default().to_string(), "0");
        assert_eq!(
            Formula::product(8, &[Length::simple("N"), number(0)]).to_string(),
            "0"
        );
        assert!(Formula::product(0, &[]).is_zero());
    }

    #[test]
    fn the_largest_is_at_most() {
        let most = Length {
            at_most: true,
            ..Length::simple("N")
        };
        assert_eq!(Formula::product(8, &[most]).to_string(), "at most 8·N");
    }
}
