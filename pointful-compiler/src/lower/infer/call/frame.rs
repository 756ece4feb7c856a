//! What a call is repeated over: the axes that arguments have beyond those of the parameters.

use crate::lower::hir::Repeat;
use crate::lower::infer::Infer;
use crate::lower::types::{Set, Ty, drop_atoms};

impl<'a> Infer<'_, 'a> {
    /// The axes over which something is repeated for arguments with these frames, one of which is
    /// the whole.
    pub(super) fn repeat_over(&self, frames: &[Vec<Set>], whole: &[Set]) -> Repeat {
        let resolved: Vec<Vec<Set>> = frames.iter().map(|g| self.solver.atoms(g)).collect();
        Repeat {
            frame: self.solver.atoms(whole),
            lifted: crate::lower::frames::align(&resolved, |a, b| a == b)
                .map(|a| a.positions)
                .unwrap_or_default(),
        }
    }

    /// The surplus axes in front of an argument, in groups, and what it is at a point of them.
    pub(super) fn frame_and_cell(&self, want: &Ty, found: &Ty) -> (Vec<Set>, Ty) {
        if let Some(tuples) = self.frame_of_tuples(want, found) {
            return tuples;
        }
        let (groups, elem) = self.split(found);
        let (declared, _) = self.split(want);
        let atoms = self.solver.atoms(&groups);
        let need = self.solver.atoms(&declared).len();
        let liftable = matches!(
            self.solver.shallow(want),
            Ty::Table(..) | Ty::Scalar(_) | Ty::Float(_) | Ty::Var(_) | Ty::Member(_)
        );
        if !liftable || atoms.len() <= need {
            return (Vec::new(), found.clone());
        }
        let surplus = atoms.len() - need;
        let frame = if need == 0 {
            groups.clone()
        } else {
            vec![Set::product(atoms[..surplus].to_vec())]
        };
        (frame, Ty::table(drop_atoms(&groups, surplus), elem))
    }

    /// As [`Self::frame_and_cell`], for a table of tuples, or a tuple of tables, where a tuple is
    /// wanted.
    pub(super) fn frame_of_tuples(&self, want: &Ty, found: &Ty) -> Option<(Vec<Set>, Ty)> {
        let (Ty::Tuple(wanted) | Ty::Struct(_, wanted)) = self.solver.shallow(want) else {
            return None;
        };
        let first = self.split(wanted.first()?).0;
        let need = self.solver.atoms(&first).len();
        match self.solver.shallow(found) {
            Ty::Table(groups, elem) => {
                let (Ty::Tuple(parts) | Ty::Struct(_, parts)) = self.solver.shallow(&elem) else {
                    return None;
                };
                let inner = self.split(parts.first()?).0;
                (self.solver.atoms(&inner).len() == need)
                    .then(|| (self.solver.groups(&groups), *elem))
            }
            Ty::Tuple(parts) if parts.len() == wanted.len() => {
                let around = self.split(parts.first()?).0;
                let around = self.solver.atoms(&around);
                let surplus = around.len().checked_sub(need).filter(|n| *n > 0)?;
                let mut cells = Vec::new();
                for part in &parts {
                    let (groups, elem) = self.split(part);
                    if self.solver.atoms(&groups).get(..surplus)? != &around[..surplus] {
                        return None;
                    }
                    cells.push(Ty::table(drop_atoms(&groups, surplus), elem));
                }
                let frame = vec![Set::product(around[..surplus].to_vec())];
                Some((frame, Ty::Tuple(cells)))
            }
            _ => None,
        }
    }

    /// A bare generic takes the whole index set of its argument.
    pub(in crate::lower::infer) fn whole_set(&mut self, want: &Ty, found: &Ty) {
        let ((declared, _), (groups, _)) = (self.split(want), self.split(found));
        if let [set] = declared.as_slice()
            && let var @ Set::Var(_) = self.solver.set(set)
            && !groups.is_empty()
        {
            let whole = Set::product(self.solver.atoms(&groups));
            let _ = self.solver.unify_sets(&var, &whole);
        }
    }
}
