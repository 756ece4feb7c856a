//! What is known of some values.

use super::ValueId;

/// A map from values: a place for each, up to the largest, that says where in a list it is what is
/// known. Asking and adding cost a few instructions, without optimization, too. It is as large as
/// the program, so it is for what is made once for all of it, and not for each block.
#[derive(Clone, Debug)]
pub(crate) struct ValueMap<T> {
    places: Vec<u32>,
    known: Vec<T>,
}

/// The place of what is not known.
const NOWHERE: u32 = u32::MAX;

impl<T> Default for ValueMap<T> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            known: Vec::new(),
        }
    }
}

impl<T> ValueMap<T> {
    /// Nothing.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn place(&self, value: &ValueId) -> Option<usize> {
        let place = *self.places.get(value.index())?;
        (place != NOWHERE).then_some(place as usize)
    }

    /// What is known of a value.
    pub(crate) fn get(&self, value: &ValueId) -> Option<&T> {
        Some(&self.known[self.place(value)?])
    }

    /// What is known of a value, to be changed.
    pub(crate) fn get_mut(&mut self, value: &ValueId) -> Option<&mut T> {
        let place = self.place(value)?;
        Some(&mut self.known[place])
    }

    /// Whether something is known of a value.
    pub(crate) fn contains_key(&self, value: &ValueId) -> bool {
        self.place(value).is_some()
    }

    /// Adds what is known of a value of which nothing was.
    fn add(&mut self, value: ValueId, known: T) -> &mut T {
        let at = value.index();
        if at >= self.places.len() {
            self.places.resize(at + 1, NOWHERE);
        }
        let place = self.known.len();
        self.places[at] = place as u32;
        self.known.push(known);
        &mut self.known[place]
    }

    /// From now on, this is known of a value. Gives what was.
    pub(crate) fn insert(&mut self, value: ValueId, known: T) -> Option<T> {
        match self.get_mut(&value) {
            Some(before) => Some(std::mem::replace(before, known)),
            None => {
                self.add(value, known);
                None
            }
        }
    }

    /// What is known of a value, which is the default if it was nothing.
    pub(crate) fn or_default(&mut self, value: ValueId) -> &mut T
    where
        T: Default,
    {
        match self.place(&value) {
            Some(place) => &mut self.known[place],
            None => self.add(value, T::default()),
        }
    }

    /// All that is known, in the order of the values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ValueId, &T)> {
        let values = (0..self.places.len() as u32).map(ValueId);
        values.filter_map(|value| Some((value, self.get(&value)?)))
    }
}

impl<T> FromIterator<(ValueId, T)> for ValueMap<T> {
    fn from_iter<I: IntoIterator<Item = (ValueId, T)>>(known: I) -> Self {
        let mut map = Self::new();
        map.extend(known);
        map
    }
}

impl<T> Extend<(ValueId, T)> for ValueMap<T> {
    fn extend<I: IntoIterator<Item = (ValueId, T)>>(&mut self, known: I) {
        for (value, known) in known {
            self.insert(value, known);
        }
    }
}

impl<T> std::ops::Index<&ValueId> for ValueMap<T> {
    type Output = T;

    fn index(&self, value: &ValueId) -> &T {
        self.get(value).expect("the value is known")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inserted_is_found() {
        let [a, b, c] = [70, 3, 100].map(ValueId);
        let mut map: ValueMap<&str> = [(a, "a"), (b, "b")].into_iter().collect();
        assert_eq!(map.insert(a, "A"), Some("a"));
        assert_eq!((map.get(&a), map.get(&c)), (Some(&"A"), None));
        assert_eq!(map.iter().collect::<Vec<_>>(), [(b, &"b"), (a, &"A")]);
        assert!(!map.contains_key(&c) && map[&b] == "b");
        assert_eq!(*map.or_default(c), "");
    }
}
