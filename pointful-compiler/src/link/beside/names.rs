//! What a name means, by the items and the `use` of the blocks around it.

use super::outline::{Import, What};
use super::sources::{Place, Sources};

/// What a path means, as far as texts say so.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    /// An item of a block, by its number.
    Item(Place, usize),
    /// A module.
    Module(Place),
    /// Nothing: no text has it.
    Nothing,
    /// Something of a library that has no companions, or it itself.
    Plain,
    /// It may be anything.
    Unclear,
}

/// What is looked for: modules and functions may have the same name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Module,
    Item,
}

/// The names that are being looked for, so that modules that use each other are asked once.
type Asked = Vec<(Place, String, Kind)>;

impl Sources<'_> {
    /// What a path means at a place.
    pub(super) fn meaning(&self, place: &Place, path: &[String]) -> Meaning {
        self.path(place, path, Kind::Item, &mut Vec::new())
    }

    fn path(&self, place: &Place, path: &[String], kind: Kind, asked: &mut Asked) -> Meaning {
        let mut found: Option<Meaning> = None;
        for (k, name) in path.iter().enumerate() {
            let module = match &found {
                None => None,
                Some(Meaning::Module(module)) => Some(module.clone()),
                Some(Meaning::Plain) => return Meaning::Plain,
                // A name of a type, or of what another one brings.
                Some(Meaning::Item(..) | Meaning::Nothing | Meaning::Unclear) => {
                    return Meaning::Unclear;
                }
            };
            let kind = match k + 1 == path.len() {
                true => kind,
                false => Kind::Module,
            };
            let of_module = |place: Option<Place>| place.map_or(Meaning::Unclear, Meaning::Module);
            found = Some(match (name.as_str(), module) {
                ("crate", None) => of_module(self.root(place)),
                ("self", None) => Meaning::Module(self.module_around(place)),
                ("super", before) => {
                    let here = before.unwrap_or_else(|| self.module_around(place));
                    of_module(self.parent(&here))
                }
                (_, Some(module)) => self.member(&module, name, kind, asked),
                (_, None) => match self.in_scope(place, name, kind, asked) {
                    // Another crate.
                    Meaning::Nothing if k + 1 < path.len() => match is_plain(name) {
                        true => Meaning::Plain,
                        false => Meaning::Unclear,
                    },
                    found => found,
                },
            });
        }
        found.unwrap_or(Meaning::Unclear)
    }

    /// What a name means in a block.
    fn in_scope(&self, place: &Place, name: &str, kind: Kind, asked: &mut Asked) -> Meaning {
        let mut place = place.clone();
        loop {
            let block = place.block();
            if block.said.iter().any(|said| said == name) {
                return Meaning::Unclear;
            }
            if !block.is_owned {
                match self.member(&place, name, kind, asked) {
                    Meaning::Nothing => {}
                    found => return found,
                }
            }
            match block.parent {
                Some(around) if !block.is_module => place = place.at(around),
                _ => return Meaning::Nothing,
            }
        }
    }

    /// What a block has of a name, by an item, a `use` of it, or of everything somewhere.
    fn member(&self, place: &Place, name: &str, kind: Kind, asked: &mut Asked) -> Meaning {
        let block = place.block();
        if block.said.iter().any(|said| said == name) {
            return Meaning::Unclear;
        }
        if asked
            .iter()
            .any(|(at, of, for_kind)| at.is(place) && of == name && *for_kind == kind)
        {
            return Meaning::Nothing;
        }
        let can_be = |what| match what {
            What::Item(keyword) => kind == Kind::Item || keyword != "fn",
            What::Module(_) | What::File => kind == Kind::Module,
            What::Other => true,
        };
        let is_meant = |&k: &usize| block.items[k].name == name && can_be(block.items[k].what);
        let mut items = (0..block.items.len()).filter(is_meant);
        let imports = block.imports.iter();
        let mut imports = imports.filter(|import| import.name.as_deref() == Some(name));
        match (items.next(), items.next(), imports.next(), imports.next()) {
            (None, _, None, _) => {}
            // An import of the name of a module is of something else.
            (Some(number), None, import, _) if import.is_none() || kind == Kind::Module => {
                return match block.items[number].what {
                    What::Item(_) => Meaning::Item(place.clone(), number),
                    What::Module(block) => Meaning::Module(place.at(block)),
                    What::File => self
                        .child(place, name)
                        .map_or(Meaning::Unclear, Meaning::Module),
                    What::Other => Meaning::Unclear,
                };
            }
            (None, _, Some(import), None) => {
                asked.push((place.clone(), name.to_owned(), kind));
                let found = self.path(place, &import.path, kind, asked);
                asked.pop();
                // What is not there is said at the `use`.
                return match found {
                    Meaning::Nothing => Meaning::Unclear,
                    found => found,
                };
            }
            _ => return Meaning::Unclear,
        }
        if block.has_more {
            return Meaning::Unclear;
        }
        asked.push((place.clone(), name.to_owned(), kind));
        let all = block.imports.iter().filter(|import| import.name.is_none());
        let mut found = Meaning::Nothing;
        for import in all {
            found = match (found, self.of_all(place, import, name, kind, asked)) {
                (Meaning::Nothing, found) | (found, Meaning::Nothing) => found,
                _ => Meaning::Unclear,
            };
        }
        asked.pop();
        found
    }

    /// What `use of::all::*` brings of a name.
    fn of_all(
        &self,
        place: &Place,
        import: &Import,
        name: &str,
        kind: Kind,
        asked: &mut Asked,
    ) -> Meaning {
        if has_no_companions(&import.path) {
            return Meaning::Nothing;
        }
        match self.path(place, &import.path, Kind::Module, asked) {
            Meaning::Module(module) => self.member(&module, name, kind, asked),
            // The variants of an enum.
            Meaning::Item(..) if name.starts_with(|first: char| first.is_lowercase()) => {
                Meaning::Nothing
            }
            Meaning::Item(..) | Meaning::Nothing | Meaning::Plain | Meaning::Unclear => {
                Meaning::Unclear
            }
        }
    }

    /// The names that there are where a path means nothing, each with the keyword of its item.
    pub(super) fn known(&self, place: &Place, path: &[String]) -> Vec<(&'static str, String)> {
        let mut known = Vec::new();
        let modules = &path[..path.len().saturating_sub(1)];
        if !modules.is_empty() {
            let found = self.path(place, modules, Kind::Module, &mut Vec::new());
            if let Meaning::Module(module) = found {
                let prefix = format!("{}::", modules.join("::"));
                self.names(&module, &prefix, &mut Vec::new(), &mut known);
            }
            return known;
        }
        let mut place = place.clone();
        loop {
            let block = place.block();
            if !block.is_owned {
                self.names(&place, "", &mut Vec::new(), &mut known);
            }
            match block.parent {
                Some(around) if !block.is_module => place = place.at(around),
                _ => return known,
            }
        }
    }

    /// The names of items that a block has, with what comes in front of them.
    fn names(
        &self,
        place: &Place,
        prefix: &str,
        asked: &mut Vec<Place>,
        known: &mut Vec<(&'static str, String)>,
    ) {
        if asked.iter().any(|at| at.is(place)) {
            return;
        }
        asked.push(place.clone());
        let block = place.block();
        known.extend(block.items.iter().filter_map(|item| match item.what {
            What::Item(keyword) => Some((keyword, format!("{prefix}{}", item.name))),
            What::Module(_) | What::File | What::Other => None,
        }));
        for import in &block.imports {
            let kind = match import.name {
                Some(_) => Kind::Item,
                None => Kind::Module,
            };
            match (
                &import.name,
                self.path(place, &import.path, kind, &mut Vec::new()),
            ) {
                (Some(name), Meaning::Item(home, number)) => {
                    if let What::Item(keyword) = home.block().items[number].what {
                        known.push((keyword, format!("{prefix}{name}")));
                    }
                }
                (None, Meaning::Module(module)) => self.names(&module, prefix, asked, known),
                _ => {}
            }
        }
    }
}

/// Whether nothing of a module is what a body can mean by a path, other than by names that the
/// language knows itself.
fn has_no_companions(path: &[String]) -> bool {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let path = path.strip_prefix(&[""]).unwrap_or(&path);
    match path {
        ["pointful", "prelude"] => true,
        [first, ..] => is_plain(first),
        [] => false,
    }
}

/// Whether a crate is one of those that bodies in Rust often use and that nobody has annotated.
fn is_plain(name: &str) -> bool {
    matches!(
        name,
        "std" | "core" | "alloc" | "ndarray" | "nalgebra" | "num" | "num_traits" | "rand" | "libm"
    )
}
