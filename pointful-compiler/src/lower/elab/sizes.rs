//! Where the sizes of the root's index sets are found at entry.

use super::interface::{field_type, fin, is_tables, part_type, step};
use super::value::{Space, Val};
use super::{Elab, Run};
use crate::interface::{Access, Carrier, ExtentSource};
use crate::ir::{Extent, SizeId, SpanId};
use crate::lower::types::{Set, Ty, constant_name, enum_len, same_length};
use crate::syntax::tree::{self, TypeKind};

impl<'a> Elab<'a> {
    pub(super) fn unique(&self, name: &str) -> String {
        let taken = |name: &str| {
            self.program.sizes.iter().any(|s| s.name == name)
                || self.program.params.iter().any(|p| p.name == name)
        };
        let mut candidate = name.to_owned();
        let mut number = 1;
        while taken(&candidate) {
            number += 1;
            candidate = format!("{name}_{number}");
        }
        candidate
    }

    /// The space of a set of ranges with so many members, which is known from here on.
    pub(super) fn new_space(&mut self, set: &Set, size: &Val<'a>, span: SpanId) -> Run<Space> {
        match (set, size) {
            (Set::Product(sets), Val::Tuple(sizes)) => {
                let sets = sets.iter().zip(sizes);
                let parts: Run<Vec<Space>> = sets
                    .map(|(set, size)| self.new_space(set, size, span))
                    .collect();
                Ok(Space::Product(parts?))
            }
            (Set::Range(_), Val::Leaf(size)) => {
                let space = Space::Axis(self.extent_of(*size));
                self.frame.inner.insert(set.clone(), space.clone());
                Ok(space)
            }
            _ => self.bug(span, "a size of no set"),
        }
    }

    pub(super) fn new_size(&mut self, name: &str, source: ExtentSource) -> SizeId {
        let name = self.unique(name);
        self.interface.extents.push(source);
        self.program.size(name)
    }

    /// The size of `Fin<K>`, where the constant is this expression.
    pub(super) fn length(&mut self, value: &str) -> Extent {
        let value = self.representative(value);
        if let Ok(number) = value.parse() {
            return Extent::Const(number);
        }
        if let Some((_, size)) = self.lengths.iter().find(|(known, _)| *known == value) {
            return Extent::Size(*size);
        }
        let name = constant_name(self.linked, &value);
        let tokens = self.constant_tokens(&value);
        let source = ExtentSource {
            carrier: Carrier::Static(fin(&tokens)),
            path: Vec::new(),
            set: format!("Fin<{name}>"),
        };
        let last = name.rsplit("::").next().unwrap_or(&name).replace('.', "_");
        let size = self.new_size(&last, source);
        self.lengths.push((value, size));
        Extent::Size(size)
    }

    /// The first of the lengths that must be the same as this one: a number, if there is one.
    fn representative(&self, value: &str) -> String {
        let class = same_length(self.equal, value);
        class.into_iter().min().unwrap_or(value).to_owned()
    }

    /// What rustc has to know of the constants that must be the same length.
    pub(super) fn equal_lengths(&mut self) {
        for (x, y) in self.equal {
            let what = format!(
                "`{}` and `{}` must be the same length",
                constant_name(self.linked, x),
                constant_name(self.linked, y)
            );
            let (x, y) = (self.constant_tokens(x), self.constant_tokens(y));
            self.interface.equal.push((x, y, what));
        }
    }

    /// Finds the extents that a parameter carries.
    pub(super) fn carriers(
        &mut self,
        ty: &Ty,
        written: &'a tree::Type,
        access: &Access,
    ) -> Run<()> {
        let written = self.unalias(written);
        match ty {
            Ty::Table(_, elem) if is_tables(written, elem) => {
                self.carriers(&self.outside(ty), written, access)
            }
            Ty::Table(groups, elem) => {
                if matches!(written.kind, TypeKind::Array(..)) {
                    return Ok(());
                }
                let set = Set::product(groups.clone());
                self.carried(&set, &mut Vec::new(), &Carrier::Table(access.clone()))?;
                let elements = Carrier::Elements(self.elements_of(ty, access));
                match (&**elem, self.set_of(elem)) {
                    // A truth value is stored as such.
                    (Ty::Scalar(_), _) | (_, None) => Ok(()),
                    (_, Some(set)) => {
                        self.carried(&set, &mut Vec::new(), &elements)?;
                        self.numbered_members(&set, elements)
                    }
                }
            }
            Ty::Extent(set) => self.carried(set, &mut Vec::new(), &Carrier::Extent(access.clone())),
            Ty::Tuple(parts) => {
                for (k, part) in parts.iter().enumerate() {
                    self.carriers(part, part_type(written, k), &step(access, k))?;
                }
                Ok(())
            }
            Ty::Struct(id, parts) => {
                for (k, (part, (_, inner))) in parts.iter().zip(self.fields(*id)).enumerate() {
                    let access = self.field(access, *id, k);
                    self.carriers(part, field_type(written, inner), &access)?;
                }
                Ok(())
            }
            Ty::Scalar(_)
            | Ty::Float(_)
            | Ty::Member(_)
            | Ty::Offset(_)
            | Ty::Function(..)
            | Ty::Accum(_)
            | Ty::Option(_)
            | Ty::Either(_)
            | Ty::Var(_)
            | Ty::Error => Ok(()),
        }
    }

    /// Members of a product are stored by number, below a size that is a size of its own unless it
    /// is known.
    fn numbered_members(&mut self, set: &Set, carrier: Carrier) -> Run<()> {
        if !matches!(set, Set::Product(_) | Set::Record(..)) {
            return Ok(());
        }
        let axes = self.space(set, SpanId::NONE)?.axes();
        let known = axes.iter().all(|axis| matches!(axis, Extent::Const(_)));
        if axes.len() < 2 || known || self.products.contains_key(&axes) {
            return Ok(());
        }
        let source = ExtentSource {
            carrier,
            path: Vec::new(),
            set: self.printer().set(set),
        };
        let size = self.new_size("Product", source);
        self.products.insert(axes, Extent::Size(size));
        Ok(())
    }

    pub(super) fn carried(
        &mut self,
        set: &Set,
        path: &mut Vec<usize>,
        carrier: &Carrier,
    ) -> Run<()> {
        if let Set::Product(parts) | Set::Record(_, parts) = set {
            for (k, part) in parts.iter().enumerate() {
                path.push(k);
                self.carried(part, path, carrier)?;
                path.pop();
            }
            return Ok(());
        }
        if let Set::Ragged(of, lengths) = set {
            return self.carried_rows(of, lengths, carrier);
        }
        if let Set::Either(a, b) = set {
            for (k, part) in [a, b].into_iter().enumerate() {
                path.push(k);
                self.carried(part, path, carrier)?;
                path.pop();
            }
            let at = SpanId::NONE;
            let (a, b) = (self.space(a, at)?.axes(), self.space(b, at)?.axes());
            let key = (a.clone(), b.clone());
            let constant = |axes: &[Extent]| axes.iter().all(|e| matches!(e, Extent::Const(_)));
            let known = self.unions.contains_key(&key) || (constant(&a) && constant(&b));
            if !known {
                let source = ExtentSource {
                    carrier: carrier.clone(),
                    path: path.clone(),
                    set: self.printer().set(set),
                };
                let size = self.new_size("Either", source);
                self.unions.insert(key, Extent::Size(size));
            }
            return Ok(());
        }
        let name = match set {
            Set::Var(_) => "Dyn".to_owned(),
            set => self.printer().set(set),
        };
        let source = ExtentSource {
            carrier: carrier.clone(),
            path: path.clone(),
            set: name.clone(),
        };
        let known = match set {
            Set::Param(k) => self.frame.sets[*k].clone(),
            Set::Named(id) if enum_len(self.linked, *id).is_none() => self
                .named
                .get(id)
                .map(|size| Space::Axis(Extent::Size(*size))),
            Set::Var(_) => self.frame.inner.get(set).cloned(),
            Set::Named(_)
            | Set::Fin(_)
            | Set::Bool
            | Set::Range(_)
            | Set::Product(_)
            | Set::Record(..)
            | Set::Either(..)
            | Set::Ragged(..)
            | Set::Row(..)
            | Set::Error => return Ok(()),
        };
        if let Some(space) = known {
            if let Space::Axis(Extent::Size(size)) = space {
                self.interface.checks.push((size, source));
            }
            return Ok(());
        }
        let size = self.new_size(&name, source);
        let space = Space::Axis(Extent::Size(size));
        match set {
            Set::Param(k) => self.frame.sets[*k] = Some(space),
            Set::Named(id) => {
                self.named.insert(*id, size);
            }
            other => {
                self.frame.inner.insert(other.clone(), space);
            }
        }
        Ok(())
    }
}
