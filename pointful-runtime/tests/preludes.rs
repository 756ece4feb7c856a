//! Both preludes declare the same names in the same form, so that text which compiles for one device
//! compiles for the other.

use std::collections::BTreeMap;

const CARD: &str = include_str!("../src/cuda/prelude/card.cu");
const EMULATED: &str = include_str!("../src/cuda/prelude/emulated.cu");

/// What a text declares: names, and of each what can be seen of it in a kernel. A function and a
/// macro are called alike.
fn declared(text: &str) -> BTreeMap<String, String> {
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or(line));
    let (macros, others): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with("#define "));
    let mut names = BTreeMap::new();
    let mut add = |name: &str, what: String| {
        let twice = names.insert(name.to_owned(), what);
        assert!(twice.is_none(), "`{name}` is declared twice");
    };
    for line in macros {
        let rest = line.trim_start_matches("#define ");
        let length = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(length);
        add(
            name,
            rest.strip_prefix('(').map_or("word".to_owned(), called),
        );
    }
    for declaration in declarations(&others.join("\n")) {
        let (head, body) = declaration.split_once('{').unwrap_or((&declaration, ""));
        let words: Vec<&str> = head
            .split(|c| !is_part(c))
            .filter(|w| !w.is_empty())
            .collect();
        match words.as_slice() {
            ["typedef", ty @ .., name] => add(name, format!("{} by another name", ty.join(" "))),
            ["struct", name] => {
                let fields = body.trim_end().trim_end_matches('}');
                let fields: Vec<&str> = fields.split_whitespace().collect();
                add(name, format!("a struct of {}", fields.join(" ")));
            }
            _ => {
                let (before, parameters) = head
                    .split_once('(')
                    .unwrap_or_else(|| panic!("what is `{head}`?"));
                assert!(words.contains(&"DEVICE"), "what is `{head}`?");
                let name = before.rsplit(|c| !is_part(c)).next().expect("a name");
                // Some functions take either float.
                let of = head.contains("f64 value") || head.contains("u64 bits");
                let name = format!("{name}{}", if of { " of a double" } else { "" });
                add(&name, called(parameters));
            }
        }
    }
    names
}

/// How many arguments a list of parameters asks for, the parenthesis in front of it left out.
fn called(parameters: &str) -> String {
    let (parameters, _) = parameters.split_once(')').expect("a list has an end");
    let count = match parameters.trim() {
        "" => 0,
        some => some.split(',').count(),
    };
    format!("called with {count}")
}

/// The declarations of a text without macros: up to a semicolon or the end of a body, outside of
/// braces.
fn declarations(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut depth = 0;
    for c in text.chars() {
        let last = found.last_mut().expect("there is one");
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        match (c, depth) {
            (';' | '}', 0) => {
                last.extend((c == '}').then_some(c));
                found.push(String::new());
            }
            _ => last.push(c),
        }
    }
    assert_eq!(depth, 0, "braces come in pairs");
    found.retain(|declaration| !declaration.trim().is_empty());
    found
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[test]
fn both_preludes_declare_the_same() {
    let (card, emulated) = (declared(CARD), declared(EMULATED));
    let only = |one: &BTreeMap<String, String>, other: &BTreeMap<String, String>| {
        let mut only = one.clone();
        only.retain(|name, what| other.get(name) != Some(what));
        only
    };
    assert_eq!(only(&card, &emulated), only(&emulated, &card));
}

#[test]
fn what_is_declared_is_seen() {
    let names = declared(CARD);
    for (name, what) in [
        ("f64", "double by another name"),
        ("usize", "unsigned long long by another name"),
        ("KERNEL", "called with 2"),
        ("DEVICE", "word"),
        ("BARRIER", "called with 0"),
        ("SHARED", "called with 3"),
        ("shfl_xor", "called with 2"),
        ("popcount", "called with 1"),
        ("last_block", "called with 1"),
        ("panic_at", "called with 6"),
        (
            "Panic",
            "a struct of u32 lock; u32 site; u64 launch; u64 point;",
        ),
    ] {
        assert_eq!(names.get(name).map(String::as_str), Some(what), "{name}");
    }
    assert_eq!(names.len(), 33, "{names:?}");
    // What one of them says otherwise is seen as well.
    let emulated = declared(EMULATED);
    for (before, after) in [
        ("popcount(u32 bits)", "popcount(u32 bits, u32 more)"),
        ("DEVICE u32 ballot(", "DEVICE u32 vote("),
        ("typedef int i32;", "typedef long i32;"),
        ("u64 point;", "u32 point;"),
        ("#define BARRIER()", "#define BARRIER(x)"),
    ] {
        let other = CARD.replace(before, after);
        assert_ne!(other, CARD, "{before}");
        assert_ne!(declared(&other), emulated, "{after}");
    }
}
