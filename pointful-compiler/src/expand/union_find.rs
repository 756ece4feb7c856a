//! Axis variables and the classes they are merged into.
//!
//! Merging two variables says that they are the same axis. Some must never be: the two dimensions
//! of a table, or a loop and a dimension of what is computed in it. Those are *apart*, and a merge
//! that would bring two such variables into one class is refused. Each class knows the classes it
//! is apart from; the smaller set is moved when classes are merged, so the whole takes `n log² n`.

use std::collections::BTreeSet;

use crate::ir::Extent;

/// An axis before it is known which axes are the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Var(u32);

impl Var {
    /// The position in tables of variables.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Variables, merged and kept apart.
#[derive(Default, Debug)]
pub(super) struct Classes {
    parent: Vec<Var>,
    extent: Vec<Extent>,
    apart: Vec<BTreeSet<Var>>,
    hint: Vec<Option<String>>,
}

impl Classes {
    /// A variable in a class of its own. The hint is what the source calls it.
    pub(super) fn fresh(&mut self, extent: Extent, hint: Option<String>) -> Var {
        let var = Var(u32::try_from(self.parent.len()).expect("fewer than 2^32 axes"));
        self.parent.push(var);
        self.extent.push(extent);
        self.apart.push(BTreeSet::new());
        self.hint.push(hint);
        var
    }

    /// The variable that stands for the class. Paths are halved on the way.
    pub(super) fn find(&mut self, mut var: Var) -> Var {
        while self.parent[var.index()] != var {
            let parent = self.parent[var.index()];
            self.parent[var.index()] = self.parent[parent.index()];
            var = parent;
        }
        var
    }

    /// How long the axis is.
    pub(super) fn extent(&self, var: Var) -> Extent {
        self.extent[var.index()]
    }

    /// What the source calls the class, if it calls it anything.
    pub(super) fn hint(&mut self, var: Var) -> Option<&str> {
        let var = self.find(var);
        self.hint[var.index()].as_deref()
    }

    /// The two must never be the same axis.
    pub(super) fn separate(&mut self, a: Var, b: Var) {
        let (a, b) = (self.find(a), self.find(b));
        debug_assert_ne!(a, b, "what is one axis already cannot be kept apart");
        self.apart[a.index()].insert(b);
        self.apart[b.index()].insert(a);
    }

    /// Makes one axis of two, unless they are of different extents or something keeps them apart.
    pub(super) fn merge(&mut self, a: Var, b: Var) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return true;
        }
        if self.extent(a) != self.extent(b) || self.apart[a.index()].contains(&b) {
            return false;
        }
        let (keep, gone) = if self.apart[a.index()].len() >= self.apart[b.index()].len() {
            (a, b)
        } else {
            (b, a)
        };
        self.parent[gone.index()] = keep;
        for other in std::mem::take(&mut self.apart[gone.index()]) {
            let theirs = &mut self.apart[other.index()];
            theirs.remove(&gone);
            theirs.insert(keep);
            self.apart[keep.index()].insert(other);
        }
        // The variable made first has the name that the reader meets first.
        let (first, second) = if a < b { (a, b) } else { (b, a) };
        let hint = self.hint[first.index()]
            .take()
            .or_else(|| self.hint[second.index()].take());
        self.hint[keep.index()] = hint;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_apart_is_never_merged() {
        let mut classes = Classes::default();
        let n = Extent::Const(3);
        let [a, b, c, d] = [(); 4].map(|()| classes.fresh(n, None));
        classes.separate(a, d);
        assert!(classes.merge(a, b));
        assert!(classes.merge(c, d));
        assert!(!classes.merge(b, c), "b is a, c is d, and a is not d");
        assert_ne!(classes.find(b), classes.find(c));
        assert!(classes.merge(a, b), "merging twice is harmless");
    }

    #[test]
    fn extents_must_agree() {
        let mut classes = Classes::default();
        let a = classes.fresh(Extent::Const(3), None);
        let b = classes.fresh(Extent::Const(4), None);
        assert!(!classes.merge(a, b));
    }
}
