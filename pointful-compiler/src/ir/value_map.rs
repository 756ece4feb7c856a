//! What is known of some values.

use super::ValueId;

/// A map from values: a slot for each, up to the largest. Asking and adding cost a few instructions, without optimization, too.
/// It is as large as the program, so it is for what is made once for all of it, and not for each block.
#[derive(Clone, Debug)]
pub(crate) struct ValueMap<T> {
    slots: Vec<Option<T>>,
}

impl<T> Default for ValueMap<T> {
    fn default() -> Self {
        Self { slots: Vec::new() }
    }
}

impl<T> ValueMap<T> {
    /// Nothing.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// What is known of a value.
    pub(crate) fn get(&self, value: &ValueId) -> Option<&T> {
        self.slots.get(value.index())?.as_ref()
    }

    /// What is known of a value, to be changed.
    pub(crate) fn get_mut(&mut self, value: &ValueId) -> Option<&mut T> {
        self.slots.get_mut(value.index())?.as_mut()
    }

    /// Whether something is known of a value.
    pub(crate) fn contains_key(&self, value: &ValueId) -> bool {
        self.get(value).is_some()
    }

    /// The slot of a value.
    fn slot(&mut self, value: ValueId) -> &mut Option<T> {
        let at = value.index();
        if at >= self.slots.len() {
            self.slots.resize_with(at + 1, || None);
        }
        &mut self.slots[at]
    }

    /// From now on, this is known of a value. Gives what was.
    pub(crate) fn insert(&mut self, value: ValueId, known: T) -> Option<T> {
        self.slot(value).replace(known)
    }

    /// What is known of a value, which is the default if it was nothing.
    pub(crate) fn or_default(&mut self, value: ValueId) -> &mut T
    where
        T: Default,
    {
        self.slot(value).get_or_insert_default()
    }

    /// All that is known, in the order of the values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ValueId, &T)> {
        let slots = self.slots.iter().zip(0..);
        slots.filter_map(|(slot, id)| Some((ValueId(id), slot.as_ref()?)))
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
