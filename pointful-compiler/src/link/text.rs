//! The text of a file, as far as a macro that sees one item may ask about what stands around it.

/// A piece of a text.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Piece<'t> {
    Word(&'t str),
    Mark(u8),
}

/// The words and marks of a text, without comments, literals and lifetimes.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    placed(text).into_iter().map(|(_, piece)| piece).collect()
}

/// The same, each with the byte at which it begins.
pub(super) fn placed(text: &str) -> Vec<(usize, Piece<'_>)> {
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'/' if bytes.get(at) == Some(&b'/') => {
                at = text[at..].find('\n').map_or(bytes.len(), |end| at + end);
            }
            b'/' if bytes.get(at) == Some(&b'*') => {
                let mut depth = 1;
                at += 1;
                while depth > 0 && at < bytes.len() {
                    match &bytes[at..] {
                        [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
                        [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
                        _ => at += 1,
                    }
                }
            }
            b'"' => at = end_of_string(bytes, at),
            // A character, or a lifetime.
            b'\'' => {
                at = match bytes.get(at) {
                    Some(b'\\') => {
                        let close = text.get(at + 2..).and_then(|rest| rest.find('\''));
                        close.map_or(at, |end| at + end + 3)
                    }
                    _ => {
                        let next = text[at..].chars().next().map_or(0, char::len_utf8);
                        match bytes.get(at + next) {
                            Some(b'\'') => at + next + 1,
                            _ => at,
                        }
                    }
                };
            }
            byte if is_word(byte) => {
                while bytes.get(at).is_some_and(|&byte| is_word(byte)) {
                    at += 1;
                }
                let word = &text[start..at];
                let hashes = bytes[at..].iter().take_while(|&&b| b == b'#').count();
                let raw = matches!(word, "r" | "br" | "cr");
                if raw && bytes.get(at + hashes) == Some(&b'"') {
                    let close = format!("\"{}", "#".repeat(hashes));
                    let inside = at + hashes + 1;
                    let end = text[inside..].find(&close);
                    at = end.map_or(bytes.len(), |end| inside + end + close.len());
                } else {
                    found.push((start, Piece::Word(word)));
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            mark => found.push((start, Piece::Mark(mark))),
        }
    }
    found
}

fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'\\' => at += 1,
            b'"' => break,
            _ => {}
        }
    }
    at.min(bytes.len())
}

/// Behind the bracket that closes the one here.
pub(super) fn closing(pieces: &[Piece<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, piece) in pieces.iter().enumerate().skip(open) {
        match piece {
            Piece::Mark(b'{' | b'[' | b'(') => depth += 1,
            Piece::Mark(b'}' | b']' | b')') => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return at + 1;
        }
    }
    pieces.len()
}
