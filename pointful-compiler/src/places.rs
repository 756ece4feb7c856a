//! The places of a program in the source, by [`SpanId`], and what messages call what stands there.

use std::collections::BTreeMap;

use proc_macro2::Span;

use crate::ir::SpanId;

/// All places; the first stands for what the compiler made up.
#[derive(Clone, Debug)]
pub struct Places {
    list: Vec<Span>,
    words: BTreeMap<SpanId, String>,
    /// Places by where they are and what they are called: what is lowered twice has one.
    called: BTreeMap<(SpanId, String), SpanId>,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            list: vec![Span::call_site()],
            words: BTreeMap::new(),
            called: BTreeMap::new(),
        }
    }
}

impl Places {
    /// A new place.
    pub(crate) fn add(&mut self, span: Span) -> SpanId {
        self.list.push(span);
        SpanId(self.list.len() as u32 - 1)
    }

    /// A place where another is, of which messages speak in these words.
    pub(crate) fn in_words(&mut self, at: SpanId, words: String) -> SpanId {
        let key = (at, words);
        if let Some(&known) = self.called.get(&key) {
            return known;
        }
        let place = self.add(self.get(at));
        self.words.insert(place, key.1.clone());
        self.called.insert(key, place);
        place
    }

    /// Where it is.
    pub(crate) fn get(&self, id: SpanId) -> Span {
        self.list[id.0 as usize]
    }

    /// Where it is, unless the compiler made up what stands there.
    pub(crate) fn known(&self, id: SpanId) -> Option<Span> {
        let known = id != SpanId::NONE;
        known.then(|| self.list.get(id.0 as usize).copied())?
    }

    /// What messages call it, if it has words of its own.
    pub(crate) fn words(&self, id: SpanId) -> Option<&str> {
        self.words.get(&id).map(String::as_str)
    }
}
