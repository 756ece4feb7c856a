//! Scalars and indices of a wanted type: found in scope, read from a table, or computed.

use smallvec::smallvec;

use super::{Fact, Random, TAME, UNKNOWN};
use crate::ir::stages::point::PointOp;
use crate::ir::{Elem, Extent, Lit, Scalar, Type, ValueId};
use crate::ops::Prim;

/// Constants that no computed float is near.
const ODD: [f64; 6] = [
    0.137_193, -0.613_417, 1.371_913, -1.713_191, 0.019_371, 3.317_939,
];

impl Random {
    /// A statement that computes some scalar.
    pub(super) fn some_scalar(&mut self) {
        match self.elem() {
            Elem::Scalar(scalar) => {
                self.computed(scalar);
            }
            Elem::Index(extent) | Elem::Bound(extent) => {
                self.index(extent);
            }
        }
    }

    /// A scalar of this type.
    pub(super) fn scalar(&mut self, scalar: Scalar) -> ValueId {
        let wanted = Type::scalar(Elem::Scalar(scalar));
        if self.rng.chance(70)
            && let Some(found) = self.find(&wanted)
        {
            return found;
        }
        if self.rng.chance(60)
            && let Some(read) = self.read(Elem::Scalar(scalar))
        {
            return read;
        }
        match self.rng.below(3) {
            0 => self.computed(scalar),
            _ => self.some_constant(scalar),
        }
    }

    /// A value of exactly this type in scope, the newer the likelier.
    pub(super) fn find(&mut self, ty: &Type<Extent>) -> Option<ValueId> {
        let fit: Vec<ValueId> = self
            .scope
            .iter()
            .copied()
            .filter(|&v| self.program.ty(v) == ty)
            .collect();
        match fit.len() {
            0 => None,
            n if self.rng.chance(50) => Some(fit[n - 1 - self.rng.below(n.min(3))]),
            n => Some(fit[self.rng.below(n)]),
        }
    }

    /// An element of some table.
    fn read(&mut self, elem: Elem) -> Option<ValueId> {
        let tables: Vec<ValueId> = self
            .scope
            .iter()
            .copied()
            .filter(|&v| self.program.ty(v).rank() > 0 && self.program.elem(v) == elem)
            .collect();
        if tables.is_empty() {
            return None;
        }
        let table = self.rng.pick(&tables);
        let dims = self.program.ty(table).dims.clone();
        let indices = self.indices(&dims)?;
        let fact = self.fact(table);
        Some(self.emit(PointOp::Index { table, indices }, Type::scalar(elem), fact))
    }

    /// One index for each of these extents.
    pub(super) fn indices(&mut self, extents: &[Extent]) -> Option<Vec<ValueId>> {
        extents.iter().map(|&extent| self.index(extent)).collect()
    }

    /// An index of this extent, if there can be one here.
    pub(super) fn index(&mut self, extent: Extent) -> Option<ValueId> {
        let ty = Type::scalar(Elem::Index(extent));
        if self.is_near()
            && let Some(near) = self.neighbour(extent)
        {
            return Some(near);
        }
        if self.rng.chance(65)
            && let Some(found) = self.find(&ty)
        {
            return Some(found);
        }
        if self.rng.chance(25)
            && let Some(read) = self.read(Elem::Index(extent))
        {
            return Some(read);
        }
        if self.may_index(extent) {
            return Some(self.converted(extent));
        }
        self.find(&ty)
    }

    /// Whether something is about a neighbour.
    fn is_near(&mut self) -> bool {
        self.options.neighbours > 0 && self.rng.chance(self.options.neighbours)
    }

    /// What is some steps from an index of this extent, by a number that may be computed.
    fn shifted(&mut self, extent: Extent) -> Option<ValueId> {
        let index = self.find(&Type::scalar(Elem::Index(extent)))?;
        let position = self.prim(Prim::Cast(Scalar::I64), vec![index], 0.0);
        let by = if self.rng.chance(75) {
            let by = self.rng.between(-3, 3);
            self.constant(Lit::Int(Scalar::I64, i128::from(by)))
        } else {
            self.scalar(Scalar::I64)
        };
        let prim = self.rng.pick(&[Prim::Add, Prim::Sub]);
        Some(self.prim(prim, vec![position, by], 0.0))
    }

    /// An index that is made of what is some steps from another.
    fn neighbour(&mut self, extent: Extent) -> Option<ValueId> {
        if !self.may_index(extent) {
            return None;
        }
        let position = self.shifted(extent)?;
        let policies = [
            Prim::Wrap(extent),
            Prim::ClampTo(extent),
            Prim::Mirror(extent),
        ];
        let prim = self.rng.pick(&policies);
        let ty = Type::scalar(Elem::Index(extent));
        Some(self.emit(PointOp::Prim(prim, smallvec![position]), ty, UNKNOWN))
    }

    /// Whether what is near an index is in range, or beyond an end of its axis.
    fn near_end(&mut self) -> Option<ValueId> {
        let extents = self.scope.iter().map(|&value| self.program.ty(value));
        let extents = extents.filter(|ty| ty.rank() == 0);
        let extents: Vec<Extent> = extents.filter_map(|ty| ty.elem.extent()).collect();
        if extents.is_empty() {
            return None;
        }
        let extent = self.rng.pick(&extents);
        let position = self.shifted(extent)?;
        if self.rng.chance(40) {
            return Some(self.prim(Prim::InRange(extent), vec![position], 0.0));
        }
        let end = if self.rng.chance(50) {
            self.constant(Lit::Int(Scalar::I64, 0))
        } else {
            let size = self.emit(PointOp::Size(extent), Type::scalar(Elem::USIZE), UNKNOWN);
            self.prim(Prim::Cast(Scalar::I64), vec![size], 0.0)
        };
        let prims = [Prim::Lt, Prim::Le, Prim::Gt, Prim::Ge, Prim::Eq, Prim::Ne];
        let prim = self.rng.pick(&prims);
        Some(self.prim(prim, vec![position, end], 0.0))
    }

    /// An integer made an index of a set that has members.
    fn converted(&mut self, extent: Extent) -> ValueId {
        let scalar = self
            .rng
            .pick(&[Scalar::I64, Scalar::I64, Scalar::Usize, Scalar::I32]);
        let integer = self.scalar(scalar);
        let ty = Type::scalar(Elem::Index(extent));
        let prim = match self.rng.below(5) {
            0 => Prim::Wrap(extent),
            1 => Prim::ClampTo(extent),
            2 => Prim::Mirror(extent),
            _ => {
                let risky = self.options.allow_panics && self.rng.chance(10);
                let members = self.known(extent).unwrap_or(1).max(1);
                let checked = if risky {
                    integer
                } else {
                    let divisor = self.constant(Lit::Int(scalar, members as i128));
                    self.prim(Prim::RemEuclid, vec![integer, divisor], 0.0)
                };
                let trust = !risky && !self.dead && self.rng.chance(30);
                let prim = if trust {
                    Prim::Trust(extent)
                } else {
                    Prim::Check(extent)
                };
                return self.emit(PointOp::Prim(prim, smallvec![checked]), ty, UNKNOWN);
            }
        };
        self.emit(PointOp::Prim(prim, smallvec![integer]), ty, UNKNOWN)
    }

    /// A literal.
    pub(super) fn constant(&mut self, lit: Lit) -> ValueId {
        let bound = match lit {
            Lit::F32(bits) => f64::from(f32::from_bits(bits)).abs(),
            Lit::F64(bits) => f64::from_bits(bits).abs(),
            Lit::Int(..) | Lit::Bool(_) => 0.0,
        };
        let ty = Type::scalar(Elem::Scalar(lit.scalar()));
        self.emit(PointOp::Const(lit), ty, Fact { bound, ..UNKNOWN })
    }

    fn some_constant(&mut self, scalar: Scalar) -> ValueId {
        let lit = match scalar {
            Scalar::F32 | Scalar::F64 => {
                let eighths = self.rng.between(-16, 16);
                Lit::of(scalar, eighths as f64 / 8.0)
            }
            Scalar::Bool => Lit::Bool(self.rng.chance(50)),
            _ if scalar.is_signed_int() => Lit::Int(scalar, i128::from(self.rng.between(-9, 9))),
            _ => Lit::Int(scalar, i128::from(self.rng.between(0, 9))),
        };
        self.constant(lit)
    }

    /// A primitive on operands of the right types, whose result has this bound if it is a float.
    pub(super) fn prim(&mut self, prim: Prim, operands: Vec<ValueId>, bound: f64) -> ValueId {
        let elems = self.program.elems(&operands);
        let elem = prim.result(&elems).unwrap_or_else(|error| {
            unreachable!("a random program is well-typed: {}", error.0);
        });
        let ty = Type::scalar(elem);
        self.emit(
            PointOp::Prim(prim, operands.into()),
            ty,
            Fact { bound, ..UNKNOWN },
        )
    }

    /// The same scalar, or one made of it that is not too large.
    pub(super) fn tame(&mut self, value: ValueId) -> ValueId {
        let ty = self.program.ty(value);
        let bound = self.fact(value).bound;
        if ty.rank() > 0 || !ty.elem.is_float() || bound <= TAME {
            return value;
        }
        self.prim(Prim::Sin, vec![value], 1.0)
    }

    /// A new scalar, the result of a primitive.
    fn computed(&mut self, scalar: Scalar) -> ValueId {
        let value = match scalar {
            Scalar::F32 | Scalar::F64 => self.float(scalar),
            Scalar::Bool => self.truth(),
            _ => self.integer(scalar),
        };
        if self.fact(value).bound > 64.0 * TAME {
            return self.tame(value);
        }
        value
    }

    fn float(&mut self, scalar: Scalar) -> ValueId {
        if self.rng.chance(10) {
            return self.float_from_other(scalar);
        }
        let x = self.scalar(scalar);
        let a = self.fact(x).bound;
        match self.rng.below(16) {
            0..3 => {
                let prim = self.rng.pick(&[Prim::Add, Prim::Sub]);
                let y = self.scalar(scalar);
                let bound = a + self.fact(y).bound;
                self.prim(prim, vec![x, y], bound)
            }
            3..6 => {
                let y = self.scalar(scalar);
                let bound = a * self.fact(y).bound;
                self.prim(Prim::Mul, vec![x, y], bound)
            }
            6 | 7 => {
                let prim = self.rng.pick(&[Prim::Min, Prim::Max, Prim::Copysign]);
                let y = self.scalar(scalar);
                let bound = a.max(self.fact(y).bound);
                self.prim(prim, vec![x, y], bound)
            }
            8 => {
                let (y, z) = (self.scalar(scalar), self.scalar(scalar));
                let bound = a * self.fact(y).bound + self.fact(z).bound;
                self.prim(Prim::MulAdd, vec![x, y, z], bound)
            }
            9 => {
                let prim = self.rng.pick(&[Prim::Neg, Prim::Abs]);
                self.prim(prim, vec![x], a)
            }
            10 | 11 => {
                let prim = self
                    .rng
                    .pick(&[Prim::Sin, Prim::Cos, Prim::Tanh, Prim::Atan]);
                self.prim(prim, vec![x], 2.0)
            }
            12 => {
                let two = self.constant(Lit::Int(Scalar::I32, 2));
                self.prim(Prim::Powi, vec![x, two], a * a)
            }
            13 => {
                let small = self.prim(Prim::Sin, vec![x], 1.0);
                self.prim(Prim::Exp, vec![small], 3.0)
            }
            14 => {
                // A divisor of at least one.
                let square = self.prim(Prim::Mul, vec![x, x], a * a);
                let one = self.constant(Lit::of(scalar, 1.0));
                let divisor = self.prim(Prim::Add, vec![square, one], a * a + 1.0);
                let y = self.scalar(scalar);
                let bound = self.fact(y).bound;
                self.prim(Prim::Div, vec![y, divisor], bound)
            }
            _ => {
                let square = self.prim(Prim::Mul, vec![x, x], a * a);
                let one = self.constant(Lit::of(scalar, 1.0));
                let sum = self.prim(Prim::Add, vec![square, one], a * a + 1.0);
                let prim = self.rng.pick(&[Prim::Sqrt, Prim::Ln, Prim::Recip]);
                self.prim(prim, vec![sum], a + 1.0)
            }
        }
    }

    /// A float from a value of another type.
    fn float_from_other(&mut self, scalar: Scalar) -> ValueId {
        let indices: Vec<ValueId> = self
            .scope
            .iter()
            .copied()
            .filter(|&v| {
                let ty = self.program.ty(v);
                ty.rank() == 0 && matches!(ty.elem, Elem::Index(_))
            })
            .collect();
        if !indices.is_empty() && self.rng.chance(60) {
            let index = self.rng.pick(&indices);
            return self.prim(Prim::Cast(scalar), vec![index], TAME);
        }
        let other = match scalar {
            Scalar::F32 => Scalar::F64,
            _ => Scalar::F32,
        };
        if self.options.singles && self.rng.chance(50) {
            let x = self.scalar(other);
            let bound = self.fact(x).bound;
            return self.prim(Prim::Cast(scalar), vec![x], bound);
        }
        let whole = self.scalar(Scalar::I64);
        let seven = self.constant(Lit::Int(Scalar::I64, 7));
        let small = self.prim(Prim::RemEuclid, vec![whole, seven], 0.0);
        self.prim(Prim::Cast(scalar), vec![small], 6.0)
    }

    fn integer(&mut self, scalar: Scalar) -> ValueId {
        if self.rng.chance(20) {
            let from = self
                .rng
                .pick(&[Scalar::I64, Scalar::Usize, Scalar::Bool, Scalar::I32]);
            let x = self.scalar(from);
            return self.prim(Prim::Cast(scalar), vec![x], 0.0);
        }
        let x = self.scalar(scalar);
        if self.rng.chance(6) {
            return self.bits(scalar, x);
        }
        match self.rng.below(10) {
            0..6 => {
                let prim = self.rng.pick(&[
                    Prim::Add,
                    Prim::Sub,
                    Prim::Mul,
                    Prim::Min,
                    Prim::Max,
                    Prim::And,
                    Prim::Or,
                    Prim::Xor,
                ]);
                let y = self.scalar(scalar);
                self.prim(prim, vec![x, y], 0.0)
            }
            6 if scalar.is_signed_int() => {
                let prim = self.rng.pick(&[Prim::Neg, Prim::Abs, Prim::Signum]);
                self.prim(prim, vec![x], 0.0)
            }
            7 => {
                let by = Lit::Int(Scalar::U32, self.small_number());
                let by = self.constant(by);
                let prim = self.rng.pick(&[
                    Prim::Shl,
                    Prim::Shr,
                    Prim::Pow,
                    Prim::RotateLeft,
                    Prim::RotateRight,
                ]);
                self.prim(prim, vec![x, by], 0.0)
            }
            8 => self.prim(Prim::Not, vec![x], 0.0),
            _ => {
                let by = self.small_number() + 2;
                let divisor = self.constant(Lit::Int(scalar, by));
                let prim = self
                    .rng
                    .pick(&[Prim::Div, Prim::Rem, Prim::DivEuclid, Prim::RemEuclid]);
                self.prim(prim, vec![x, divisor], 0.0)
            }
        }
    }

    /// How many bits of an integer are something; or an integer whose bits are those of a float, and
    /// back.
    fn bits(&mut self, scalar: Scalar, x: ValueId) -> ValueId {
        if matches!(scalar, Scalar::U32 | Scalar::U64) && self.rng.chance(50) {
            // Without the exponent, so that it is a small number.
            let mask = self.constant(Lit::Int(scalar, 0xff));
            let low = self.prim(Prim::And, vec![x, mask], 0.0);
            let float = self.prim(Prim::FromBits, vec![low], 1.0);
            return self.prim(Prim::ToBits, vec![float], 0.0);
        }
        let prim = self.rng.pick(&[
            Prim::CountOnes,
            Prim::LeadingZeros,
            Prim::TrailingZeros,
            Prim::ReverseBits,
            Prim::SwapBytes,
        ]);
        if matches!(prim, Prim::ReverseBits | Prim::SwapBytes) {
            return self.prim(prim, vec![x], 0.0);
        }
        let count = self.prim(prim, vec![x], 0.0);
        self.prim(Prim::Cast(scalar), vec![count], 0.0)
    }

    fn small_number(&mut self) -> i128 {
        i128::from(self.rng.between(0, 3))
    }

    /// A truth value that rounding cannot change.
    pub(super) fn truth(&mut self) -> ValueId {
        let comparisons = [Prim::Lt, Prim::Le, Prim::Gt, Prim::Ge];
        if self.is_near()
            && let Some(near) = self.near_end()
        {
            return near;
        }
        match self.rng.below(6) {
            0 | 1 => {
                let scalar = self.rng.pick(&[Scalar::F64, Scalar::F64, Scalar::F32]);
                let scalar = if self.options.singles {
                    scalar
                } else {
                    Scalar::F64
                };
                let x = self.scalar(scalar);
                let odd = self.rng.pick(&ODD);
                let odd = self.constant(Lit::of(scalar, odd));
                let prim = self.rng.pick(&comparisons);
                self.prim(prim, vec![x, odd], 0.0)
            }
            2 | 3 => {
                let scalar = self.rng.pick(&[Scalar::I64, Scalar::I64, Scalar::Usize]);
                let (x, y) = (self.scalar(scalar), self.scalar(scalar));
                let prim =
                    self.rng
                        .pick(&[Prim::Lt, Prim::Le, Prim::Gt, Prim::Ge, Prim::Eq, Prim::Ne]);
                self.prim(prim, vec![x, y], 0.0)
            }
            4 => {
                let extent = self.extent();
                let x = self.scalar(Scalar::I64);
                self.prim(Prim::InRange(extent), vec![x], 0.0)
            }
            _ => {
                let x = self.scalar(Scalar::Bool);
                if self.rng.chance(30) {
                    return self.prim(Prim::Not, vec![x], 0.0);
                }
                let prim = self.rng.pick(&[Prim::And, Prim::Or, Prim::Xor]);
                let y = self.scalar(Scalar::Bool);
                self.prim(prim, vec![x, y], 0.0)
            }
        }
    }
}
