//! Sets of values.

use std::fmt;

use super::ValueId;

/// A set of values: a bit for each, up to the largest. Asking and adding cost a few instructions,
/// without optimization, too.
#[derive(Clone, Default)]
pub(crate) struct ValueSet {
    words: Vec<u64>,
}

impl ValueSet {
    /// Nothing.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn place(value: ValueId) -> (usize, u64) {
        (value.index() / 64, 1 << (value.index() % 64))
    }

    /// Whether a value is in it.
    pub(crate) fn contains(&self, value: &ValueId) -> bool {
        let (word, bit) = Self::place(*value);
        match self.words.get(word) {
            Some(bits) => bits & bit != 0,
            None => false,
        }
    }

    /// Adds a value, and says whether it is new.
    pub(crate) fn insert(&mut self, value: ValueId) -> bool {
        let (word, bit) = Self::place(value);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let bits = &mut self.words[word];
        let new = *bits & bit == 0;
        *bits |= bit;
        new
    }

    /// Takes a value away, and says whether it was there.
    pub(crate) fn remove(&mut self, value: &ValueId) -> bool {
        let (word, bit) = Self::place(*value);
        match self.words.get_mut(word) {
            Some(bits) => {
                let there = *bits & bit != 0;
                *bits &= !bit;
                there
            }
            None => false,
        }
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|&bits| bits == 0)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        let count = |bits: &u64| bits.count_ones() as usize;
        self.words.iter().map(count).sum()
    }

    /// Whether nothing is in both.
    pub(crate) fn is_disjoint(&self, other: &Self) -> bool {
        let mut both = self.words.iter().zip(&other.words);
        both.all(|(a, b)| a & b == 0)
    }

    /// The values, in order.
    pub(crate) fn iter(&self) -> Iter<'_> {
        Iter {
            words: &self.words,
            word: 0,
            left: self.words.first().copied().unwrap_or_default(),
        }
    }
}

/// The values of a set, in order.
pub(crate) struct Iter<'a> {
    words: &'a [u64],
    word: usize,
    /// What has not been given yet of this word.
    left: u64,
}

impl Iterator for Iter<'_> {
    type Item = ValueId;

    fn next(&mut self) -> Option<ValueId> {
        while self.left == 0 {
            self.word += 1;
            self.left = *self.words.get(self.word)?;
        }
        let bit = self.left.trailing_zeros();
        self.left &= self.left - 1;
        Some(ValueId(self.word as u32 * 64 + bit))
    }
}

impl<'a> IntoIterator for &'a ValueSet {
    type Item = ValueId;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl Extend<ValueId> for ValueSet {
    fn extend<I: IntoIterator<Item = ValueId>>(&mut self, values: I) {
        for value in values {
            self.insert(value);
        }
    }
}

impl<'a> Extend<&'a ValueId> for ValueSet {
    fn extend<I: IntoIterator<Item = &'a ValueId>>(&mut self, values: I) {
        for value in values {
            self.insert(*value);
        }
    }
}

impl FromIterator<ValueId> for ValueSet {
    fn from_iter<I: IntoIterator<Item = ValueId>>(values: I) -> Self {
        let mut set = Self::new();
        set.extend(values);
        set
    }
}

impl<const N: usize> From<[ValueId; N]> for ValueSet {
    fn from(values: [ValueId; N]) -> Self {
        values.into_iter().collect()
    }
}

impl PartialEq for ValueSet {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for ValueSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn it_is_a_set() {
        let (mut set, mut model) = (ValueSet::new(), BTreeSet::new());
        assert!(set.is_empty() && set == ValueSet::default());
        let mut state = 1_u32;
        for _ in 0..2000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let value = ValueId((state >> 8) % 300);
            if state >> 31 == 0 {
                assert_eq!(set.insert(value), model.insert(value));
            } else {
                assert_eq!(set.remove(&value), model.remove(&value));
            }
            assert_eq!(set.contains(&value), model.contains(&value));
            assert_eq!(set.is_empty(), model.is_empty());
        }
        assert!(set.iter().eq(model.iter().copied()));
        assert_eq!(set.len(), model.len());
        // However far it has been.
        let small: ValueSet = [ValueId(3)].into();
        let mut wide: ValueSet = [ValueId(3), ValueId(500)].into();
        assert!(small != wide && !small.is_disjoint(&wide));
        wide.remove(&ValueId(500));
        assert!(small == wide && small.is_disjoint(&[ValueId(67)].into()));
        assert_eq!(format!("{small:?}"), "{ValueId(3)}");
    }
}
