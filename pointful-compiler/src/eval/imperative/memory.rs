//! What places hold, and who touched them: a parallel nest whose iterations meet in one element has
//! no meaning.

use crate::eval::{Data, EvalError, ScalarValue};
use crate::ir::Scalar;

/// Which iteration of which run of a parallel nest is being run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Iteration {
    /// Counts the nests that have been entered.
    pub(super) nest: u64,
    /// Counts its iterations.
    pub(super) number: u64,
}

/// Who read an element in a nest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Readers {
    One(Iteration),
    Several { nest: u64 },
}

/// Who touches a place: an iteration of a nest, and a lane of a strip.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Toucher {
    pub(super) nest: Option<Iteration>,
    pub(super) lane: Option<Iteration>,
}

impl Toucher {
    /// The host, or whoever may touch everything.
    pub(super) const ANY: Self = Self {
        nest: None,
        lane: None,
    };

    fn levels(self) -> [Option<Iteration>; 2] {
        [self.nest, self.lane]
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Trace {
    writer: Option<Iteration>,
    readers: Option<Readers>,
}

/// A buffer, or a `var`: a buffer of one element without axes.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) elem: Scalar,
    pub(super) shape: Vec<usize>,
    /// Whether it may be changed.
    pub(super) writable: bool,
    /// Whom it is private to; nobody if it was made by the host.
    pub(super) home: Toucher,
    cells: Vec<Option<ScalarValue>>,
    /// What is to be combined where, if that is noted and not done.
    pub(super) notes: Option<Vec<(usize, ScalarValue)>>,
    /// By whom an element was touched: iterations, and lanes.
    traces: Vec<[Trace; 2]>,
}

impl Memory {
    /// Memory that holds `fill` everywhere; without it, nothing that may be read.
    pub(super) fn new(
        elem: Scalar,
        shape: Vec<usize>,
        fill: Option<ScalarValue>,
        home: Toucher,
    ) -> Self {
        let len = shape.iter().product();
        Self {
            elem,
            shape,
            writable: true,
            home,
            cells: vec![fill; len],
            notes: None,
            traces: vec![Default::default(); len],
        }
    }

    /// Memory that holds a table.
    pub(super) fn from_data(data: &Data, writable: bool) -> Self {
        let mut memory = Self::new(data.elem, data.shape.clone(), None, Toucher::ANY);
        memory.cells = data.values.iter().copied().map(Some).collect();
        memory.writable = writable;
        memory
    }

    /// New memory with the same contents.
    pub(super) fn copy(&self, home: Toucher) -> Self {
        let mut copy = Self::new(self.elem, self.shape.clone(), None, home);
        copy.cells.clone_from(&self.cells);
        copy
    }

    /// What it holds, if all of it has been stored.
    pub(super) fn to_data(&self) -> Option<Data> {
        let values = self.cells.iter().copied().collect::<Option<Vec<_>>>()?;
        Some(Data::new(self.elem, self.shape.clone(), values))
    }

    /// How many elements it has.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// From now on nobody has touched it.
    pub(super) fn forget(&mut self) {
        self.traces.fill(Default::default());
    }

    /// Reads an element.
    pub(super) fn load(&mut self, at: usize, now: Toucher) -> Result<ScalarValue, EvalError> {
        for (trace, now) in self.traces[at].iter_mut().zip(now.levels()) {
            trace.read(now)?;
        }
        self.cells[at].ok_or_else(|| EvalError::bug("memory is read before it is written"))
    }

    /// Writes an element.
    pub(super) fn store(
        &mut self,
        at: usize,
        value: ScalarValue,
        now: Toucher,
    ) -> Result<(), EvalError> {
        if !self.writable {
            return Err(EvalError::bug("a borrowed table is written"));
        }
        if value.scalar() != self.elem {
            return Err(EvalError::bug("a value of another type is stored"));
        }
        for (trace, now) in self.traces[at].iter_mut().zip(now.levels()) {
            trace.written(now)?;
        }
        self.cells[at] = Some(value);
        Ok(())
    }
}

impl Trace {
    fn read(&mut self, now: Option<Iteration>) -> Result<(), EvalError> {
        let Some(now) = now else { return Ok(()) };
        if is_other(self.writer, now) {
            return Err(race("reads what another writes"));
        }
        self.readers = Some(match self.readers {
            Some(Readers::One(reader)) if is_other(Some(reader), now) => {
                Readers::Several { nest: now.nest }
            }
            Some(Readers::Several { nest }) if nest == now.nest => Readers::Several { nest },
            _ => Readers::One(now),
        });
        Ok(())
    }

    fn written(&mut self, now: Option<Iteration>) -> Result<(), EvalError> {
        let Some(now) = now else { return Ok(()) };
        if is_other(self.writer, now) {
            return Err(race("writes what another writes"));
        }
        let read_elsewhere = match self.readers {
            Some(Readers::One(reader)) => is_other(Some(reader), now),
            Some(Readers::Several { nest }) => nest == now.nest,
            None => false,
        };
        if read_elsewhere {
            return Err(race("writes what another reads"));
        }
        self.writer = Some(now);
        Ok(())
    }
}

/// Whether somebody is another iteration of the nest that is running.
fn is_other(somebody: Option<Iteration>, now: Iteration) -> bool {
    somebody.is_some_and(|who| who.nest == now.nest && who.number != now.number)
}

fn race(what: &str) -> EvalError {
    EvalError::bug(format!("a race: one iteration {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_do_not_meet() {
        let at = |nest, number| Toucher {
            nest: Some(Iteration { nest, number }),
            lane: None,
        };
        let one = ScalarValue::I64(1);
        let mut memory = Memory::new(Scalar::I64, vec![2], Some(one), Toucher::ANY);
        assert!(memory.store(0, one, at(1, 0)).is_ok());
        assert!(memory.store(0, one, at(1, 0)).is_ok());
        assert!(memory.load(0, at(1, 0)).is_ok());
        assert!(memory.load(0, at(1, 1)).is_err());
        assert!(memory.store(0, one, at(1, 1)).is_err());
        assert!(memory.load(0, at(2, 1)).is_ok());
        assert!(memory.load(1, at(1, 0)).is_ok());
        assert!(memory.store(1, one, at(1, 1)).is_err());
        assert!(memory.load(1, at(1, 1)).is_ok());
        assert!(memory.store(1, one, at(1, 0)).is_err());
        assert!(memory.store(1, one, at(2, 0)).is_ok());
        assert!(memory.store(1, one, Toucher::ANY).is_ok());
    }
}
