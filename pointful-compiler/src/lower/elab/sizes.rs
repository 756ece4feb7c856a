//! Where the sizes of the root's index sets are found at entry.

use super::interface::{fin, part_type, step};
use super::value::Space;
use super::{Elab, Run};
use crate::interface::{Access, Carrier, ExtentSource};
use crate::ir::{Extent, SizeId, SpanId};
use crate::lower::types::{Set, Ty, constant_name, enum_len};
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

    pub(super) fn new_size(&mut self, name: &str, source: ExtentSource) -> SizeId {
        let name = self.unique(name);
        self.interface.extents.push(source);
        self.program.size(name)
    }

    /// The size of `Fin<K>`, where the constant is this expression.
    pub(super) fn length(&mut self, value: &str) -> Extent {
        let value = self.representative(value);
        if let Some((_, size)) = self.lengths.iter().find(|(known, _)| *known == value) {
            return Extent::Size(*size);
        }
        let name = constant_name(self.linked, &value).to_owned();
        let tokens = self.constant_tokens(&value);
        let source = ExtentSource {
            carrier: Carrier::Static(fin(&tokens)),
            path: Vec::new(),
            set: format!("Fin<{name}>"),
        };
        let last = name.rsplit("::").next().unwrap_or(&name).to_owned();
        let size = self.new_size(&last, source);
        self.lengths.push((value, size));
        Extent::Size(size)
    }

    /// The first of the constants that must be the same length as this one.
    fn representative(&self, value: &str) -> String {
        let mut class = vec![value];
        let mut at = 0;
        while let Some(&known) = class.get(at) {
            at += 1;
            for (x, y) in self.equal {
                for (one, other) in [(x, y), (y, x)] {
                    if one == known && !class.contains(&other.as_str()) {
                        class.push(other);
                    }
                }
            }
        }
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
            Ty::Table(groups, elem) => {
                if matches!(written.kind, TypeKind::Array(..)) {
                    return Ok(());
                }
                let set = Set::product(groups.clone());
                self.carried(&set, &mut Vec::new(), &Carrier::Table(access.clone()))?;
                if let Ty::Member(set) = &**elem {
                    self.carried(set, &mut Vec::new(), &Carrier::Elements(access.clone()))?;
                }
                Ok(())
            }
            Ty::Extent(set) => self.carried(set, &mut Vec::new(), &Carrier::Extent(access.clone())),
            Ty::Tuple(parts) => {
                for (k, part) in parts.iter().enumerate() {
                    let (member, inner) = (syn::Member::from(k), part_type(written, k));
                    self.carriers(part, inner, &step(access, member))?;
                }
                Ok(())
            }
            Ty::Struct(id, parts) => {
                for (part, (name, inner)) in parts.iter().zip(self.fields(*id)) {
                    let member = syn::Member::Named(name.clone());
                    self.carriers(part, inner, &step(access, member))?;
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
            | Ty::Var(_)
            | Ty::Error => Ok(()),
        }
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
