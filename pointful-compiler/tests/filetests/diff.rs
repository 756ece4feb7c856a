//! Differences between two texts, line by line.

/// A unified diff that turns `old` into `new`; empty if they are equal.
pub(crate) fn diff(old: &str, new: &str) -> String {
    const CONTEXT: usize = 3;
    let old: Vec<&str> = old.lines().collect();
    let new: Vec<&str> = new.lines().collect();
    let edits = edits(&old, &new);
    let mut text = String::new();
    let mut shown = 0;
    while let Some(first) = (shown..edits.len()).find(|&i| edits[i].mark != ' ') {
        let start = first.saturating_sub(CONTEXT).max(shown);
        // A hunk goes on as long as the next change is within reach of the context of the one before.
        let mut end = first + 1;
        while let Some(next) =
            (end..edits.len().min(end + 2 * CONTEXT + 1)).find(|&i| edits[i].mark != ' ')
        {
            end = next + 1;
        }
        shown = edits.len().min(end + CONTEXT);
        let hunk = &edits[start..shown];
        let count = |mark: char| hunk.iter().filter(|edit| edit.mark != mark).count();
        text += &format!(
            "@@ -{},{} +{},{} @@\n",
            hunk[0].old + 1,
            count('+'),
            hunk[0].new + 1,
            count('-')
        );
        for edit in hunk {
            text += &format!("{}{}\n", edit.mark, edit.line);
        }
    }
    text
}

struct Edit<'t> {
    /// ` ` kept, `-` only in the old text, `+` only in the new.
    mark: char,
    line: &'t str,
    /// Lines of either text before this one.
    old: usize,
    new: usize,
}

/// By the longest common subsequence; the texts are short.
fn edits<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Edit<'t>> {
    // common[i][j]: the length of the longest common subsequence of old[i..] and new[j..].
    let mut common = vec![vec![0u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i][j] = if old[i] == new[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut edits = Vec::new();
    while i < old.len() || j < new.len() {
        let removed = j == new.len() || i < old.len() && common[i + 1][j] >= common[i][j + 1];
        let (mark, line) = if i < old.len() && j < new.len() && old[i] == new[j] {
            (' ', old[i])
        } else if removed {
            ('-', old[i])
        } else {
            ('+', new[j])
        };
        edits.push(Edit {
            mark,
            line,
            old: i,
            new: j,
        });
        i += usize::from(mark != '+');
        j += usize::from(mark != '-');
    }
    edits
}

#[test]
fn equal_texts_do_not_differ() {
    assert_eq!(diff("a\nb\n", "a\nb\n"), "");
    assert_eq!(diff("", ""), "");
}

#[test]
fn a_changed_line_stands_in_its_context() {
    assert_eq!(
        diff("1\n2\n3\n4\n5\nx\n7\n", "1\n2\n3\n4\n5\ny\n7\n"),
        "@@ -3,5 +3,5 @@\n 3\n 4\n 5\n-x\n+y\n 7\n"
    );
}

#[test]
fn texts_may_be_empty() {
    assert_eq!(diff("", "a\n"), "@@ -1,0 +1,1 @@\n+a\n");
    assert_eq!(diff("a\n", ""), "@@ -1,1 +1,0 @@\n-a\n");
}

#[test]
fn distant_changes_are_shown_apart() {
    let old: String = (0..40).map(|i| format!("{i}\n")).collect();
    let new = old.replace("\n5\n", "\nfive\n").replace("\n30\n", "\n");
    assert_eq!(diff(&old, &new).matches("@@ -").count(), 2);
}
