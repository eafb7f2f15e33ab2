//! The difference of two texts as a patch.
//!
//! In: the bytes before and after. Out: a unified diff that `patch` accepts, with three lines of
//! context; empty where nothing changed. The lines kept are the longest common run of lines that
//! Myers' algorithm finds; where two texts differ in too much, the whole middle is replaced.

use std::fmt::Write;

/// Lines shown around a change.
const CONTEXT: usize = 3;
/// Above this many inserted and deleted lines the shortest patch is no longer sought.
const MOST_CHANGES: usize = 2000;

/// One line of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Keep,
    Delete,
    Insert,
}

/// The unified diff from `before` to `after` of the file `name`.
///
/// It is a string for people and `patch`; bytes that are not UTF-8 become `U+FFFD`, so a patch of
/// such lines must not be applied.
pub fn unified_diff(name: &str, before: &[u8], after: &[u8]) -> String {
    let old: Vec<&[u8]> = before.split_inclusive(|it| *it == b'\n').collect();
    let new: Vec<&[u8]> = after.split_inclusive(|it| *it == b'\n').collect();
    let changes = changes(&old, &new);
    let mut diff = String::new();
    for hunk in hunks(&changes) {
        if diff.is_empty() {
            // Writing to a string cannot fail, here and below.
            let _ = writeln!(diff, "--- a/{name}\n+++ b/{name}");
        }
        write_hunk(&mut diff, &hunk, &changes, &old, &new);
    }
    diff
}

/// A run of changes with its context.
struct Hunk {
    /// Range of the list of changes.
    changes: std::ops::Range<usize>,
    /// Lines of the old and the new text before it.
    old: usize,
    new: usize,
}

/// Changes whose contexts would touch come together.
fn hunks(changes: &[Change]) -> Vec<Hunk> {
    let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
    for at in (0..changes.len()).filter(|it| changes.get(*it) != Some(&Change::Keep)) {
        let end = (at + 1 + CONTEXT).min(changes.len());
        match ranges.last_mut() {
            Some(last) if at.saturating_sub(CONTEXT) <= last.end => last.end = end,
            _ => ranges.push(at.saturating_sub(CONTEXT)..end),
        }
    }
    let (mut at, mut old, mut new) = (0, 0, 0);
    let hunk = |range: std::ops::Range<usize>| {
        for change in changes.get(at..range.start).unwrap_or_default() {
            old += usize::from(*change != Change::Insert);
            new += usize::from(*change != Change::Delete);
        }
        at = range.start;
        Hunk { changes: range, old, new }
    };
    ranges.into_iter().map(hunk).collect()
}

fn write_hunk(diff: &mut String, hunk: &Hunk, changes: &[Change], old: &[&[u8]], new: &[&[u8]]) {
    let part = changes.get(hunk.changes.clone()).unwrap_or_default();
    let old_count = part.iter().filter(|it| **it != Change::Insert).count();
    let new_count = part.iter().filter(|it| **it != Change::Delete).count();
    // An empty side names the line before it.
    let start = |before: usize, count: usize| before + usize::from(count > 0);
    let _ = writeln!(
        diff,
        "@@ -{},{old_count} +{},{new_count} @@",
        start(hunk.old, old_count),
        start(hunk.new, new_count),
    );
    let mut old = old.iter().skip(hunk.old);
    let mut new = new.iter().skip(hunk.new);
    for change in part {
        let (sign, line) = match change {
            Change::Keep => {
                new.next();
                (' ', old.next())
            }
            Change::Delete => ('-', old.next()),
            Change::Insert => ('+', new.next()),
        };
        let line = line.copied().unwrap_or_default();
        diff.push(sign);
        diff.push_str(&String::from_utf8_lossy(line));
        if !line.ends_with(b"\n") {
            diff.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// What to do with each line to come from `old` to `new`.
fn changes(old: &[&[u8]], new: &[&[u8]]) -> Vec<Change> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let old_rest = old.get(head..).unwrap_or_default();
    let new_rest = new.get(head..).unwrap_or_default();
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let old_middle = old_rest.get(..old_rest.len() - tail).unwrap_or_default();
    let new_middle = new_rest.get(..new_rest.len() - tail).unwrap_or_default();
    let mut list = vec![Change::Keep; head];
    list.extend(shortest(old_middle, new_middle).unwrap_or_else(|| {
        let mut all = vec![Change::Delete; old_middle.len()];
        all.extend(vec![Change::Insert; new_middle.len()]);
        all
    }));
    list.extend(vec![Change::Keep; tail]);
    list
}

/// Myers' greedy algorithm: for each number of changes, how far each diagonal gets; `None` where it
/// would take too many.
fn shortest(old: &[&[u8]], new: &[&[u8]]) -> Option<Vec<Change>> {
    let limit = (old.len() + new.len()).min(MOST_CHANGES);
    // With `number` changes of which `index` are deletions one is on the diagonal where
    // `x - y = 2 * index - number`; each round keeps the furthest `x` on each of its diagonals.
    let mut rounds: Vec<Vec<usize>> = Vec::new();
    for number in 0..=limit {
        let mut reached = Vec::with_capacity(number + 1);
        for index in 0..=number {
            let mut x = step_from(rounds.last(), number, index)?.1;
            // A point above the text counts as far outside it.
            let mut y = (x + number).checked_sub(2 * index).unwrap_or(usize::MAX);
            while let (Some(a), Some(b)) = (old.get(x), new.get(y)) {
                if a != b {
                    break;
                }
                (x, y) = (x + 1, y + 1);
            }
            reached.push(x);
            if x == old.len() && y == new.len() {
                rounds.push(reached);
                return trace(&rounds, old.len(), new.len());
            }
        }
        rounds.push(reached);
    }
    None
}

/// How the furthest point on a diagonal begins its round: the change that led there and its `x`.
fn step_from(before: Option<&Vec<usize>>, number: usize, index: usize) -> Option<(Change, usize)> {
    let Some(before) = before else { return Some((Change::Keep, 0)) };
    // Diagonals of the round before: `index` lies above (insert), `index - 1` below (delete).
    let insert = before.get(index).copied();
    let delete = index.checked_sub(1).and_then(|it| before.get(it)).map(|it| it + 1);
    debug_assert!(number > 0, "only the first round has none before it");
    match (insert, delete) {
        (Some(x), Some(other)) if x >= other => Some((Change::Insert, x)),
        (_, Some(x)) => Some((Change::Delete, x)),
        (Some(x), None) => Some((Change::Insert, x)),
        (None, None) => None,
    }
}

/// Walks back from the end through the rounds.
fn trace(rounds: &[Vec<usize>], old: usize, new: usize) -> Option<Vec<Change>> {
    let mut list = Vec::with_capacity(old + new);
    let (mut x, mut y) = (old, new);
    for number in (0..rounds.len()).rev() {
        let index = (x + number).checked_sub(y)? / 2;
        let before = number.checked_sub(1).and_then(|it| rounds.get(it));
        let (change, start) = step_from(before, number, index)?;
        let kept = x.checked_sub(start)?;
        list.extend(std::iter::repeat_n(Change::Keep, kept));
        (x, y) = (x - kept, y.checked_sub(kept)?);
        match change {
            Change::Keep => {}
            Change::Delete => x = x.checked_sub(1)?,
            Change::Insert => y = y.checked_sub(1)?,
        }
        if change != Change::Keep {
            list.push(change);
        }
    }
    list.reverse();
    Some(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;
    use proptest::prelude::*;
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    /// What `patch` makes of `before`; none where the machine has no `patch`.
    fn patched(before: &[u8], diff: &str) -> Option<Vec<u8>> {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("x.c");
        std::fs::write(&file, before).expect("written");
        let started = Command::new("patch")
            .args(["--silent", "--binary", "-p1"])
            .current_dir(dir.path())
            .stdin(Stdio::piped())
            .spawn();
        let mut child = started.ok()?;
        child.stdin.take().expect("piped").write_all(diff.as_bytes()).expect("read");
        assert!(child.wait().expect("ends").success(), "patch refused:\n{diff}");
        // `patch` removes a file that it empties.
        Some(std::fs::read(&file).unwrap_or_default())
    }

    #[track_caller]
    fn check(before: &str, after: &str) {
        let diff = unified_diff("x.c", before.as_bytes(), after.as_bytes());
        assert_eq!(diff.is_empty(), before == after);
        if let Some(found) = patched(before.as_bytes(), &diff) {
            assert_eq!(String::from_utf8_lossy(&found), after, "{diff}");
        }
    }

    #[test]
    fn patch_accepts_what_we_print() {
        check("a\nb\nc\n", "a\nB\nc\n");
        check("a\nb\n", "a\nb\nc\n");
        check("a\nb\n", "b\n");
        check("", "a\n");
        check("a\n", "");
        check("a", "a\n");
        check("a\nb", "a\nc");
        check("a\r\nb\r\n", "a\r\nc\r\n");
        let long: String = (0..100).map(|it| format!("line {it}\n")).collect();
        check(&long, &long.replace("line 5\n", "").replace("line 70\n", "x\ny\n"));
        check(&long, &long.replace("line 5\n", "5\n").replace("line 12\n", "12\n"));
    }

    #[test]
    fn a_hunk_has_three_lines_around_the_change() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let after = before.replace("5\n", "five\n");
        assert_snapshot!(unified_diff("x.c", before.as_bytes(), after.as_bytes()), @r##"
    --- a/x.c
    +++ b/x.c
    @@ -2,7 +2,7 @@
     2
     3
     4
    -5
    +five
     6
     7
     8
    "##);
    }

    #[test]
    fn nothing_changed_is_nothing_said() {
        check("a\n", "a\n");
        check("", "");
    }

    #[test]
    fn texts_with_nothing_in_common_are_replaced() {
        let before: String = (0..3000).map(|it| format!("a{it}\n")).collect();
        check(&before, &before.replace('a', "b"));
    }

    /// Carries out a list of changes.
    fn follow(changes: &[Change], old: &[&[u8]], new: &[&[u8]]) -> Vec<u8> {
        let (mut old, mut new) = (old.iter(), new.iter());
        let mut text = Vec::new();
        for change in changes {
            match change {
                Change::Keep => {
                    new.next();
                    text.extend_from_slice(old.next().expect("an old line"));
                }
                Change::Delete => drop(old.next().expect("an old line")),
                Change::Insert => text.extend_from_slice(new.next().expect("a new line")),
            }
        }
        text
    }

    proptest! {
        #[test]
        fn the_changes_lead_from_one_text_to_the_other(
            before in "([abc]\n){0,12}[abc]?",
            after in "([abc]\n){0,12}[abc]?",
        ) {
            let old: Vec<&[u8]> = before.as_bytes().split_inclusive(|it| *it == b'\n').collect();
            let new: Vec<&[u8]> = after.as_bytes().split_inclusive(|it| *it == b'\n').collect();
            let list = changes(&old, &new);
            prop_assert_eq!(follow(&list, &old, &new), after.as_bytes());
            let kept = list.iter().filter(|it| **it == Change::Keep).count();
            prop_assert_eq!(kept, common(&old, &new), "the shortest way keeps the most");
        }
    }

    /// Length of the longest common subsequence, the slow and plain way.
    fn common(old: &[&[u8]], new: &[&[u8]]) -> usize {
        let mut row = vec![0; new.len() + 1];
        for a in old {
            let mut diagonal = 0;
            for (at, b) in new.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if a == b { diagonal + 1 } else { above.max(row[at]) };
                diagonal = above;
            }
        }
        row[new.len()]
    }
}
