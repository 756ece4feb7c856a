//! The files of a crate, as the modules that they are.
//!
//! A macro knows the file that it stands in, and not which module that is. `mod name;` is the file
//! of that name beside the one that says so, or below it; so a file is the module at which one
//! arrives from the root. What has a path of its own, `#[path]`, or is included, is no such module.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::outline::{Block, Outline, What};

/// A block of a file.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(super) file: Rc<Path>,
    pub(super) outline: Rc<Outline>,
    pub(super) number: usize,
}

impl Place {
    pub(super) fn block(&self) -> &Block {
        &self.outline.blocks[self.number]
    }

    pub(super) fn at(&self, number: usize) -> Self {
        Self {
            number,
            ..self.clone()
        }
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        self.number == other.number && self.file == other.file
    }
}

/// The files that one expansion asks for, each read once.
pub(crate) struct Sources<'s> {
    read: &'s dyn Fn(&Path) -> Option<String>,
    /// The crate's name, by which the root is found where it is not `lib.rs` or `main.rs`.
    name: Option<String>,
    /// Whether a program is compiled and no library.
    is_program: bool,
    outlines: RefCell<BTreeMap<PathBuf, Option<Rc<Outline>>>>,
    /// The module in which a file is one, for those at which one has arrived.
    parents: RefCell<BTreeMap<PathBuf, Place>>,
    /// The root of the crate, found from the first file that is asked about.
    root: OnceCell<Option<Place>>,
}

impl Sources<'_> {
    /// Those of the crate that is being compiled.
    pub(crate) fn of_files() -> Self {
        Self::new(
            &|file| std::fs::read_to_string(file).ok(),
            std::env::var("CARGO_CRATE_NAME").ok(),
            std::env::var_os("CARGO_BIN_NAME").is_some(),
        )
    }
}

impl<'s> Sources<'s> {
    pub(super) fn new(
        read: &'s dyn Fn(&Path) -> Option<String>,
        name: Option<String>,
        is_program: bool,
    ) -> Self {
        Self {
            read,
            name,
            is_program,
            outlines: RefCell::default(),
            parents: RefCell::default(),
            root: OnceCell::new(),
        }
    }

    /// The items of a file. Between expansions they are kept for as long as the text is the same.
    pub(super) fn outline(&self, file: &Path) -> Option<Rc<Outline>> {
        thread_local! {
            static KEPT: RefCell<BTreeMap<PathBuf, Rc<Outline>>> = const { RefCell::new(BTreeMap::new()) };
        }
        if let Some(known) = self.outlines.borrow().get(file) {
            return known.clone();
        }
        let outline = (self.read)(file).map(|text| {
            KEPT.with_borrow_mut(|kept| match kept.get(file) {
                Some(kept) if kept.text == text => kept.clone(),
                _ => {
                    let outline = Rc::new(Outline::read(text));
                    kept.insert(file.to_owned(), outline.clone());
                    outline
                }
            })
        });
        let known = outline.clone();
        self.outlines.borrow_mut().insert(file.to_owned(), known);
        outline
    }

    /// The block of a file that something stands in.
    pub(super) fn place(&self, file: &Path, at: usize) -> Option<Place> {
        let mut place = self.top(file)?;
        place.number = place.outline.inmost(at)?;
        Some(place)
    }

    fn top(&self, file: &Path) -> Option<Place> {
        Some(Place {
            file: file.into(),
            outline: self.outline(file)?,
            number: 0,
        })
    }

    /// The module that a place is, or stands in.
    pub(super) fn module_around(&self, place: &Place) -> Place {
        place.at(place.outline.module_around(place.number))
    }

    /// The module in which a module is one.
    pub(super) fn parent(&self, module: &Place) -> Option<Place> {
        if let Some(around) = module.block().parent {
            return Some(self.module_around(&module.at(around)));
        }
        let known = || self.parents.borrow().get(&*module.file).cloned();
        known().or_else(|| {
            match self.root(module) {
                Some(_) => {}
                None => self.beside(&module.file)?,
            }
            known()
        })
    }

    /// Finds the module of the folder around a file that says that the file is one, wherever the
    /// root is.
    fn beside(&self, file: &Path) -> Option<()> {
        let (folder, name) = match file.ends_with("mod.rs") {
            true => (file.parent()?.parent()?, file.parent()?.file_name()?),
            false => (file.parent()?, file.file_stem()?),
        };
        let name = name.to_str()?;
        let around = [folder.join("mod.rs"), folder.with_extension("rs")];
        let mut around = around.iter().filter_map(|around| self.top(around));
        let module = around.next().filter(|_| around.next().is_none())?;
        let mut all = module.block().items.iter();
        let mut all = all.by_ref().filter(|item| item.name == name);
        let item = all.next().filter(|_| all.next().is_none())?;
        let found = (item.what == What::File).then(|| self.child(&module, name))??;
        (*found.file == *file).then_some(())
    }

    /// Whether the file of a place is a module of the crate.
    pub(super) fn is_module(&self, place: &Place) -> bool {
        self.root(place).is_some()
    }

    /// The root of the crate in which a file is a module.
    pub(super) fn root(&self, place: &Place) -> Option<Place> {
        let mut top = place.at(0);
        while let Some(parent) = self.parents.borrow().get(&*top.file) {
            top = parent.at(0);
        }
        if self.is_root(&top.file) {
            return Some(top);
        }
        let root = self
            .root
            .get_or_init(|| self.find_root(&top.file))
            .clone()?;
        let is_reached = self.parents.borrow().contains_key(&*top.file);
        is_reached.then_some(root)
    }

    fn find_root(&self, file: &Path) -> Option<Place> {
        let named = self.name.as_ref().into_iter().flat_map(|name| {
            [
                format!("{name}.rs"),
                format!("{}.rs", name.replace('_', "-")),
            ]
        });
        let mut names = vec!["lib.rs".to_owned(), "main.rs".to_owned()];
        if self.is_program {
            names.reverse();
        }
        names.extend(named);
        let mut folder = file.parent()?;
        loop {
            for name in &names {
                let root = folder.join(name);
                if self.is_root(&root)
                    && let Some(found) = self.top(&root)
                    && self.reaches(&found, folder, file).is_some()
                {
                    return Some(found);
                }
            }
            // The crate's own folder.
            if (self.read)(&folder.join("Cargo.toml")).is_some() {
                return None;
            }
            folder = folder.parent()?;
        }
    }

    /// Goes down from a root to the module that a file is by its name.
    fn reaches(&self, root: &Place, folder: &Path, file: &Path) -> Option<()> {
        let inside = file.strip_prefix(folder).ok()?.with_extension("");
        let parts = inside.iter().map(|part| part.to_str());
        let mut parts: Vec<&str> = parts.collect::<Option<_>>()?;
        if parts.last() == Some(&"mod") {
            parts.pop();
        }
        let mut place = root.clone();
        for part in parts {
            let mut all = place.block().items.iter().filter(|item| item.name == part);
            let item = all.next().filter(|_| all.next().is_none())?;
            place = match item.what {
                What::Module(block) => place.at(block),
                What::File => self.child(&place, part)?,
                What::Item(_) | What::Other => return None,
            };
        }
        (*place.file == *file).then_some(())
    }

    /// Whether a file is the root of a crate: by its name, or because it can be nothing else.
    fn is_root(&self, file: &Path) -> bool {
        let (Some(folder), Some(stem)) = (file.parent(), file.file_stem()) else {
            return false;
        };
        if matches!(stem.to_str(), Some("lib" | "main")) {
            return true;
        }
        let above = ["lib.rs", "main.rs", "mod.rs"].map(|name| folder.join(name));
        let mut above = above.into_iter().chain([folder.with_extension("rs")]);
        let stem = stem.to_str().map(|stem| stem.replace('-', "_"));
        let has_name = self.name.is_some() && stem == self.name;
        let is_program = || {
            let outline = self.outline(file);
            outline.is_some_and(|outline| {
                let mut items = outline.blocks[0].items.iter();
                items.any(|item| item.name == "main" && item.what == What::Item("fn"))
            })
        };
        !above.any(|file| self.outline(&file).is_some()) && (has_name || is_program())
    }

    /// The file that is the module `name` of a module, where it is only one.
    pub(super) fn child(&self, module: &Place, name: &str) -> Option<Place> {
        // Names of modules that are written in the file are names of folders.
        let mut inside = PathBuf::new();
        let mut block = Some(module.number);
        while let Some(number) = block {
            let around = &module.outline.blocks[number];
            match (&around.name, around.parent) {
                (Some(name), _) => inside = Path::new(name).join(inside),
                // The file itself.
                (None, None) => {}
                // A module in a body has no file.
                (None, Some(_)) => return None,
            }
            block = around.parent;
        }
        let beside = module.file.parent()?;
        let below = beside.join(module.file.file_stem()?);
        let is_below = self.parents.borrow().contains_key(&*module.file);
        let folders: &[&Path] = if module.file.ends_with("mod.rs") {
            &[beside]
        } else if is_below {
            &[&below]
        } else if self.is_root(&module.file) {
            &[beside]
        } else {
            &[beside, &below]
        };
        let files = folders.iter().flat_map(|folder| {
            let folder = folder.join(&inside);
            [
                folder.join(format!("{name}.rs")),
                folder.join(name).join("mod.rs"),
            ]
        });
        let mut tops = files.filter_map(|file| self.top(&file));
        let top = tops.next().filter(|_| tops.next().is_none())?;
        let mut parents = self.parents.borrow_mut();
        parents.insert(top.file.to_path_buf(), module.clone());
        Some(top)
    }
}
