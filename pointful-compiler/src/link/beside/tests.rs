//! Texts, and what names in them mean.

use std::path::Path;

use super::outline::Outline;
use super::{Missing, Sources, missing_at};

/// What the path means that stands between `‹` and `›`, and in which line that is.
fn meaning(text: &str) -> String {
    meaning_in(&[("src/lib.rs", text)])
}

fn meaning_in(files: &[(&str, &str)]) -> String {
    match missing(files) {
        Some(Missing::Unmarked(found)) => {
            let file = found.file.map(|file| format!(" {}", file.display()));
            let place = file.unwrap_or_default();
            format!("{} {} {}{place}", found.keyword, found.name, found.line)
        }
        Some(Missing::Plain) => "plain".to_owned(),
        Some(Missing::Absent(_)) | None => String::new(),
    }
}

/// Why there is no companion of what is shown in the first of these files.
fn missing(files: &[(&str, &str)]) -> Option<Missing> {
    let (file, text) = files[0];
    let at = text.find('‹').expect("a path is shown");
    let path = &text[at + '‹'.len_utf8()..text.find('›').expect("it ends")];
    let path: Vec<String> = path.split("::").map(str::to_owned).collect();
    let last = path.last().map_or(0, String::len);
    let at = at + path.join("::").len() - last;
    let read = |file: &Path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == file);
        found.map(|(_, text)| text.replace(['‹', '›'], ""))
    };
    let sources = Sources::new(&read, Some("app".to_owned()), false);
    missing_at(&path, Path::new(file), at, &sources)
}

/// Items of other files of the crate, by `use` or by a path.
#[test]
fn items_of_other_files() {
    let plain = "\n#[derive(Clone)] pub struct M;\npub fn h() {}";
    for (files, expected) in [
        (
            &[
                (
                    "src/lib.rs",
                    "mod m; use m::h; #[pointful] fn f() { ‹h›() }",
                ),
                ("src/m.rs", plain),
            ][..],
            "fn h 3 src/m.rs",
        ),
        (
            &[
                (
                    "src/lib.rs",
                    "mod m; use crate::{a, m::{self, M as N}}; #[pointful] fn f(x: ‹N›) {}",
                ),
                ("src/m/mod.rs", plain),
            ],
            "struct M 2 src/m/mod.rs",
        ),
        // A module and a function of one name.
        (
            &[
                (
                    "src/lib.rs",
                    "mod h; use h::h; #[pointful] fn f() { ‹h›() }",
                ),
                ("src/h.rs", plain),
            ],
            "fn h 3 src/h.rs",
        ),
        (
            &[
                ("src/a.rs", "use crate::m::h; #[pointful] fn f() { ‹h›() }"),
                ("src/lib.rs", "mod a; pub mod m;"),
                ("src/m.rs", plain),
            ],
            "fn h 3 src/m.rs",
        ),
        (
            &[
                (
                    "src/a/b.rs",
                    "#[pointful] fn f() { ‹super::super::m::h›() }",
                ),
                ("src/main.rs", "mod a; mod m;"),
                ("src/a.rs", "mod b;"),
                ("src/m.rs", plain),
            ],
            "fn h 3 src/m.rs",
        ),
        (
            &[
                ("src/a/b/c.rs", "use super::h; #[pointful] fn f() { ‹h›() }"),
                ("src/lib.rs", "mod a { mod b; }"),
                ("src/a/b.rs", "mod c; fn h() {}"),
            ],
            "fn h 1 src/a/b.rs",
        ),
        (
            &[
                ("src/a.rs", "use super::*; #[pointful] fn f() { ‹h›() }"),
                (
                    "src/lib.rs",
                    "mod a; mod m; pub use m::*; use a::*; use std::fmt::*;",
                ),
                ("src/m.rs", plain),
            ],
            "fn h 3 src/m.rs",
        ),
        // Where the root is, nobody can say.
        (
            &[
                ("ui/m/n.rs", "use super::h; fn f() { ‹h›() }"),
                ("ui/some.rs", "mod m; fn main() {}"),
                ("ui/m/mod.rs", "mod n; fn h() {}"),
            ],
            "fn h 1 ui/m/mod.rs",
        ),
        // What another module hands on.
        (
            &[
                (
                    "src/lib.rs",
                    "mod a; mod m; fn f() { use a::k; grad!(‹k›) }",
                ),
                ("src/a.rs", "pub use super::m::h as k;"),
                ("src/m.rs", plain),
            ],
            "fn h 3 src/m.rs",
        ),
        // Roots by the crate's name, and of programs.
        (
            &[
                (
                    "tests/app.rs",
                    "mod common; #[pointful] fn f() { ‹crate::common::h›() }",
                ),
                ("tests/common/mod.rs", plain),
            ],
            "fn h 3 tests/common/mod.rs",
        ),
        (
            &[
                (
                    "tests/common/mod.rs",
                    "mod m; use crate::common::m::h; fn f() { ‹h›() }",
                ),
                ("tests/app.rs", "mod common;"),
                ("tests/common/m.rs", plain),
            ],
            "fn h 3 tests/common/m.rs",
        ),
        (
            &[
                (
                    "ui/some.rs",
                    "mod m; use crate::m::h; fn f() { ‹h›() } fn main() {}",
                ),
                ("ui/m.rs", plain),
            ],
            "fn h 3 ui/m.rs",
        ),
    ] {
        assert_eq!(meaning_in(files), expected, "{files:?}");
    }
}

#[test]
fn what_other_files_may_have() {
    let plain = "pub fn h() {}";
    for files in [
        // Marked, or perhaps.
        &[
            (
                "src/lib.rs",
                "mod m; use m::h; #[pointful] fn f() { ‹h›() }",
            ),
            ("src/m.rs", "#[pointful] pub fn h() {}"),
        ][..],
        &[
            (
                "src/lib.rs",
                "mod m; use m::h; #[pointful] fn f() { ‹h›() }",
            ),
            ("src/m.rs", "pub fn h() {} make!(h);"),
        ],
        &[
            (
                "src/lib.rs",
                "mod m; use m::*; #[pointful] fn f() { ‹h›() }",
            ),
            ("src/m.rs", "pub use other::*;"),
        ],
        &[
            (
                "src/lib.rs",
                "mod m; use m::h; #[pointful] fn f() { ‹h›() }",
            ),
            ("src/m.rs", "pub use other::h;"),
        ],
        // Which file it is.
        &[
            (
                "src/lib.rs",
                "#[path = \"m.rs\"] mod m; #[pointful] fn f() { ‹m::h›() }",
            ),
            ("src/m.rs", plain),
        ],
        &[
            ("src/lib.rs", "mod m; #[pointful] fn f() { ‹m::h›() }"),
            ("src/m.rs", plain),
            ("src/m/mod.rs", plain),
        ],
        &[
            ("src/a.rs", "mod m; #[pointful] fn f() { ‹m::h›() }"),
            ("src/m.rs", plain),
            ("src/a/m.rs", plain),
        ],
        // Whose module it is.
        &[
            ("src/a.rs", "#[pointful] fn f() { ‹crate::m::h›() }"),
            ("src/lib.rs", "mod m; #[path = \"a.rs\"] mod b;"),
            ("src/m.rs", plain),
        ],
        &[
            ("src/a.rs", "#[pointful] fn f() { ‹super::m::h›() }"),
            ("src/m.rs", plain),
        ],
        &[
            ("tests/other.rs", "#[pointful] fn f() { ‹crate::m::h›() }"),
            ("tests/m.rs", plain),
        ],
        // Uses that go round.
        &[
            (
                "src/lib.rs",
                "mod m; use m::h; #[pointful] fn f() { ‹h›() }",
            ),
            ("src/m.rs", "pub use super::h;"),
        ],
    ] {
        assert_eq!(missing(files), None, "{files:?}");
    }
}

#[test]
fn names_that_no_file_has() {
    for (files, expected) in [
        (
            &[
                (
                    "src/lib.rs",
                    "mod m; use m::*; #[pointful] fn f() { ‹h›() }",
                ),
                (
                    "src/m.rs",
                    "#![allow(dead_code)] use super::*; pub fn k() {}",
                ),
            ][..],
            "f k",
        ),
        (
            &[
                (
                    "src/lib.rs",
                    "mod m; use m::k as l; #[pointful] fn f() { ‹h›() }",
                ),
                ("src/m.rs", "#[pointful] pub fn k() {}"),
            ],
            "f l",
        ),
        (
            &[
                ("src/lib.rs", "mod m; #[pointful] fn f() { ‹m::h›() }"),
                ("src/m.rs", "#[pointful] pub fn k() {}"),
            ],
            "m::k",
        ),
    ] {
        assert_eq!(instead_in(files).as_deref(), Some(expected), "{files:?}");
    }
    // What is included has the names around it, too.
    let included = [
        ("src/a.rs", "#[pointful] fn f() { ‹h›() }"),
        ("src/lib.rs", "include!(\"a.rs\"); mod m; use m::h;"),
    ];
    assert_eq!(missing(&included), None);
    let includes = "include!(\"a.rs\"); #[pointful] fn f() { ‹h›() }";
    assert_eq!(instead(includes), None);
}

#[test]
fn items_that_nobody_has_marked() {
    for (text, expected) in [
        (
            "fn h(x: f64) -> f64 { x }\n#[pointful] fn f() { ‹h›(1.0) }",
            "fn h 1",
        ),
        (
            "#[pointful] fn f() { ‹h›(1.0) }\n/// Of it.\n#[inline]\npub(crate) const fn h() {}",
            "fn h 4",
        ),
        (
            "#[derive(Clone, Debug)]\nstruct M { w: f64 }\n#[pointful] fn f(m: &‹M›) {}",
            "struct M 2",
        ),
        ("type F = f64;\n#[pointful] fn f(x: ‹F›) {}", "type F 1"),
        (
            "#[derive(Clone)] enum K { A }\n#[pointful] fn f(x: ‹K›) {}",
            "enum K 1",
        ),
        (
            "mod m { pub fn h() {} }\n#[pointful] fn f() { ‹m::h›() }",
            "fn h 1",
        ),
        (
            "mod m { pub mod n { pub fn h() {} } }\n#[pointful] fn f() { ‹self::m::n::h›() }",
            "fn h 1",
        ),
        (
            "fn h() {} mod m { #[pointful] fn f() { ‹super::h›() } }",
            "fn h 1",
        ),
        (
            "fn h() {} mod m { use super::*; #[pointful] fn f() { ‹h›() } }",
            "fn h 1",
        ),
        (
            "fn h() {} mod m { #[pointful] fn f() { ‹crate::h›() } }",
            "fn h 1",
        ),
        ("fn main() { fn h() {} grad!(‹h›)(1.0); }", "fn h 1"),
        (
            "fn main() { fn h() {} #[pointful] fn f() { ‹h›() } }",
            "fn h 1",
        ),
        (
            "struct S; impl S { fn h() {} } fn h() { \"}\"; }\n#[pointful] fn f() { ‹h›() }",
            "fn h 1",
        ),
        (
            "fn of(g: impl Fn(f64)) { fn h() {} } #[pointful] fn f() { ‹h›() }",
            "",
        ),
    ] {
        assert_eq!(meaning(text), expected, "{text}");
    }
}

#[test]
fn what_may_be_marked() {
    for text in [
        "#[pointful] fn h() {} #[pointful] fn f() { ‹h›() }",
        "#[pf::pointful(remat)] fn h() {} #[pointful] fn f() { ‹h›() }",
        "#[differentiable] fn h() {} #[pointful] fn f() { ‹h›() }",
        "#[cfg(a)] fn h() {} #[pointful] fn f() { ‹h›() }",
        "#[cfg_attr(a, pointful)] fn h() {} #[pointful] fn f() { ‹h›() }",
        "#[derive(IndexSet)] enum K { A } #[pointful] fn f(x: ‹K›) {}",
        "use m::h; fn h() {} #[pointful] fn f() { ‹h›() }",
        "fn h() {} fn g() { use m::h; #[pointful] fn f() { ‹h›() } }",
        "fn h() {} struct h; #[pointful] fn f() { ‹h›() }",
        "fn h() {} macro_rules! h { () => {} } #[pointful] fn f() { ‹h›() }",
        "macro_rules! make { () => { fn h() {} } } make!(); #[pointful] fn f() { ‹h›() }",
        "define! { fn h = grad!(g); } #[pointful] fn f() { ‹h›() }",
        "impl S { fn h() {} } #[pointful] fn f() { ‹h›() }",
        "trait S { fn h() {} } #[pointful] fn f() { ‹h›() }",
        "mod m { fn h() {} } #[pointful] fn f() { ‹h›() }",
        "fn h() {} mod m { #[pointful] fn f() { ‹h›() } }",
        "fn h() {} macro_rules! make { () => { #[pointful] fn f() { ‹h›() } } }",
        "mod m; #[pointful] fn f() { ‹m::h›() }",
        "#[cfg(a)] mod m { fn h() {} } #[pointful] fn f() { ‹m::h›() }",
        "mod m { pub use n::h; } fn h() {} #[pointful] fn f() { ‹m::h›() }",
        "fn main() { let h = 3; } #[pointful] fn f() { ‹h›() }",
        "/* fn h() {} */ // fn h() {}\n#[pointful] fn f() { ‹h›() }",
    ] {
        assert_eq!(meaning(text), "", "{text}");
    }
}

/// What there is, where what stands at `‹h›` is not.
fn instead(text: &str) -> Option<String> {
    instead_in(&[("src/lib.rs", text)])
}

fn instead_in(files: &[(&str, &str)]) -> Option<String> {
    match missing(files)? {
        Missing::Unmarked(_) | Missing::Plain => None,
        Missing::Absent(known) => {
            let names = known.into_iter().map(|(_, name)| name);
            Some(names.collect::<Vec<_>>().join(" "))
        }
    }
}

/// What is of the libraries that nobody has annotated.
#[test]
fn names_of_plain_rust() {
    for text in [
        "#[pointful] fn f() { ‹std::mem::swap›() }",
        "use std::mem; #[pointful] fn f() { ‹mem::swap›() }",
        "use std::mem::swap; #[pointful] fn f() { ‹swap›() }",
        "use core::{cmp::{self, max as larger}}; #[pointful] fn f() { ‹larger›() }",
        "use std::mem; mod m { use super::mem::swap; #[pointful] fn f() { ‹swap›() } }",
    ] {
        assert_eq!(meaning(text), "plain", "{text}");
    }
    for text in [
        "mod std { pub mod mem; } #[pointful] fn f() { ‹std::mem::swap›() }",
        "use std::mem; use m::*; #[pointful] fn f() { ‹other::swap›() }",
        "use m::mem; #[pointful] fn f() { ‹mem::swap›() }",
    ] {
        assert_eq!(meaning(text), "", "{text}");
    }
}

#[test]
fn names_that_nothing_has() {
    for (text, expected) in [
        (
            "use pointful::prelude::*; #[pointful] fn f() { ‹h›() } fn k() {}",
            "f k",
        ),
        (
            "mod m { fn h() {} } use m::{g}; #[pointful] fn f() { ‹h›() }",
            "f",
        ),
        ("fn k() { fn i() {} #[pointful] fn f() { ‹h›() } }", "i f k"),
        (
            "fn k() {} mod m { use super::*; #[pointful] fn f() { ‹h›() } }",
            "f k",
        ),
        (
            "define! { fn g = grad!(f); } #[pointful] fn f() { ‹h›() }",
            "f",
        ),
        ("#[pointful] fn f() { vec![1]; ‹h›() }", "f"),
    ] {
        assert_eq!(instead(text).as_deref(), Some(expected), "{text}");
    }
    for text in [
        "use m::*; #[pointful] fn f() { ‹h›() }",
        "use m::{k, h}; #[pointful] fn f() { ‹h›() }",
        "use m::k as h; #[pointful] fn f() { ‹h›() }",
        "make!(); #[pointful] fn f() { ‹h›() }",
        "define! { fn h = grad!(f); } #[pointful] fn f() { ‹h›() }",
        "fn h() {} mod m { use super::*; #[pointful] fn f() { ‹h›() } }",
        "use m::*; mod n { use super::*; #[pointful] fn f() { ‹h›() } }",
        "fn g() { make!(h); #[pointful] fn f() { ‹h›() } }",
        "macro_rules! make { () => { ‹h› } }",
    ] {
        assert_eq!(instead(text), None, "{text}");
    }
}

#[test]
fn traits_that_are_not_derived() {
    let lacks = |text: &str| {
        let outline = Outline::read(text.to_owned());
        let at = text
            .find("R ")
            .or(text.find("R("))
            .expect("the name is there");
        ["Clone", "Copy"].map(|of| outline.lacks(of, "R", at))
    };
    assert_eq!(lacks("#[derive(IndexSet)] struct R(usize);"), [true, true]);
    assert_eq!(
        lacks("#[derive(Clone, pf::IndexSet)] enum R { A }"),
        [false, true]
    );
    for text in [
        "#[derive(Clone, Copy)] #[derive(IndexSet)] pub struct R(usize);",
        "#[derive(IndexSet)] #[other] struct R(usize);",
        "#[derive(IndexSet)] struct R(usize); impl Copy for R {} impl Clone for R {}",
        "macro_rules! m { () => { #[derive(IndexSet)] struct R(usize); } }",
        "struct R(usize);",
    ] {
        assert_eq!(lacks(text), [false, false], "{text}");
    }
}

/// Whatever stands in a file, and wherever it ends.
#[test]
fn any_text_is_read() {
    let text = "#[a] fn h<'a>() -> ü { '\\''; }} mod m { use super::{*, h as k}; struct ü(f64); macro_rules! x { } type";
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let ends: Vec<usize> = ends.collect();
    for (k, &from) in ends.iter().enumerate() {
        for &to in &ends[k..] {
            let text = &text[from..to];
            let read = |file: &Path| (file == Path::new("src/a.rs")).then(|| text.to_owned());
            let sources = Sources::new(&read, None, false);
            for at in 0..=to - from {
                for path in [&["m", "h"][..], &["h"], &["super", "k"]] {
                    let path: Vec<String> = path.iter().map(|&part| part.to_owned()).collect();
                    missing_at(&path, Path::new("src/a.rs"), at, &sources);
                }
            }
            Outline::read(text.to_owned()).offset(3, 1);
        }
    }
}
