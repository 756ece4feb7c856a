//! Members of index sets, and elements of tables at them.

use super::Source;
use super::sets::{Elem, Set, Type};

impl Source {
    /// A member of a set, if one can be named here.
    pub(super) fn member(&mut self, set: &Set, depth: usize) -> Option<String> {
        let ty = Type::scalar(Elem::Member(set.clone()));
        let plain = if *set == Set::Bool {
            Type::scalar(Elem::Bool)
        } else {
            ty
        };
        if self.rng.chance(60)
            && let Some(name) = self.variable(&plain)
        {
            return Some(name);
        }
        if depth > 0
            && self.rng.chance(30)
            && let Some(read) = self.read(&Elem::Member(set.clone()))
        {
            return Some(read);
        }
        if depth > 0
            && self.rng.chance(40)
            && self.moves(set)
            && let Some(index) = self.variable(&plain)
        {
            let method = self.rng.pick(&["wrap", "clamp", "mirror"]);
            return Some(format!("{}.{method}()", self.offset(&index)));
        }
        if let Some(members) = set.members().filter(|&n| n > 0) {
            if depth > 0 && self.rng.chance(15) && !matches!(set, Set::Bool | Set::Unit) {
                let table = self.row_over(set, depth - 1);
                let f = self.rng.pick(&["argmin", "argmax"]);
                return Some(format!("{f}({table})"));
            }
            let at = self.rng.below(members);
            if let Some(name) = self.nth(set, at) {
                return Some(name);
            }
        }
        self.variable(&plain)
    }

    /// Whether a member of the set can be named here whatever chance says.
    pub(super) fn has_members(&mut self, set: &Set) -> bool {
        set.members().is_some_and(|n| n > 0) && self.nth(set, 0).is_some()
    }

    /// Whether members of a set have neighbours.
    fn moves(&self, set: &Set) -> bool {
        matches!(set, Set::Generic(_) | Set::Fin(_) | Set::Hue | Set::Pixel)
    }

    /// An index and a signed distance.
    fn offset(&mut self, index: &str) -> String {
        let distance = self.rng.between(1, 3);
        let op = self.rng.pick(&["+", "-"]);
        format!("({index} {op} {distance})")
    }

    /// A member by number, where there is a name for it.
    pub(super) fn nth(&mut self, set: &Set, at: usize) -> Option<String> {
        match set {
            Set::Bool => Some((at > 0).to_string()),
            Set::Unit => Some("()".to_owned()),
            Set::Hue => Some(["Hue::Red", "Hue::Green", "Hue::Blue"][at].to_owned()),
            Set::Generic(_) | Set::Fin(_) | Set::Pixel | Set::Either(..) => None,
        }
    }

    /// An index variable and its set.
    pub(super) fn some_index(&mut self) -> Option<(String, Set)> {
        let fit: Vec<(String, Set)> = (self.scope.iter())
            .filter_map(|v| match &v.ty.elem {
                Elem::Member(set) if v.ty.dims.is_empty() && *set != Set::Bool => {
                    Some((v.name.clone(), set.clone()))
                }
                _ => None,
            })
            .collect();
        (!fit.is_empty()).then(|| fit[self.rng.below(fit.len())].clone())
    }

    /// Two index variables, of whatever sets.
    pub(super) fn pair_of_indices(&mut self) -> Option<[(String, Set); 2]> {
        let pair = [self.some_index()?, self.some_index()?];
        let fits = |(_, set): &(String, Set)| !matches!(set, Set::Unit | Set::Either(..));
        pair.iter().all(fits).then_some(pair)
    }

    /// Two members of one set, which may be compared.
    pub(super) fn two_indices(&mut self) -> Option<(String, String)> {
        let (a, set) = self.some_index()?;
        let b = self.member(&set, 1)?;
        Some((a, b))
    }

    /// A variable of a set of which each member may have an arm of its own.
    pub(super) fn some_matched(&mut self) -> Option<(String, Set)> {
        if self.rng.chance(30)
            && let Some(name) = self.variable(&Type::scalar(Elem::Bool))
        {
            return Some((name, Set::Bool));
        }
        let (name, set) = self.some_index()?;
        matches!(set, Set::Hue | Set::Either(..)).then_some((name, set))
    }

    /// An element of some table of these.
    pub(super) fn read(&mut self, elem: &Elem) -> Option<String> {
        let tables: Vec<(String, Vec<Set>)> = (self.scope.iter())
            .filter(|v| !v.ty.dims.is_empty() && v.ty.elem == *elem)
            .map(|v| (v.name.clone(), v.ty.dims.clone()))
            .collect();
        if tables.is_empty() {
            return None;
        }
        let (table, dims) = tables[self.rng.below(tables.len())].clone();
        self.at(&table, &dims, elem)
    }

    /// A table at some place.
    fn at(&mut self, table: &str, dims: &[Set], elem: &Elem) -> Option<String> {
        if self.rng.chance(15)
            && let [set] = dims
            && self.moves(set)
            && let Some(index) = self.variable(&Type::scalar(Elem::Member(set.clone())))
        {
            let at = self.offset(&index);
            if self.rng.chance(5) {
                return Some(format!("{table}[{at}]"));
            }
            if !matches!(elem, Elem::Member(_) | Elem::Held(_)) {
                let otherwise = self.constant(elem);
                return Some(format!("{table}.get{at}.unwrap_or({otherwise})"));
            }
        }
        let mut indices = Vec::new();
        for set in dims {
            indices.push(self.place(set)?);
        }
        Some(self.indexed(table, &indices))
    }

    /// Indices in one of the ways that they are written.
    fn indexed(&mut self, table: &str, indices: &[String]) -> String {
        match self.rng.below(4) {
            0 if indices.len() > 1 => format!("{table}[({})]", indices.join(", ")),
            1 if indices.len() > 1 => format!("{table}[[{}]]", indices.join(", ")),
            _ => {
                let each: Vec<String> = indices.iter().map(|i| format!("[{i}]")).collect();
                format!("{table}{}", each.concat())
            }
        }
    }

    /// What may stand in the brackets of a table over a set: a member, or a number that is in
    /// range.
    pub(super) fn place(&mut self, set: &Set) -> Option<String> {
        if let Set::Fin(n) = set
            && *n > 0
            && self.rng.chance(40)
        {
            return Some(if self.rng.chance(60) {
                self.rng.below(*n).to_string()
            } else {
                format!("{}.rem_euclid({n})", self.expr(&Elem::I64, 1))
            });
        }
        let member = self.member(set, 1);
        if member.is_none()
            && let Set::Fin(n) = set
            && *n > 0
        {
            return Some(self.rng.below(*n).to_string());
        }
        member
    }
}
