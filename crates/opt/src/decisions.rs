//! Decisions on mappings as a text that people can read, change and keep.
//!
//! ```toml
//! ["jacobi.c:step:12"]
//! hash = "91f0c3…"            # of the text of the nest
//! device = "cpu"
//! teams = ["i:12"]            # loops by counter and line, outermost first
//! threads = ["i:12"]
//! lanes = ["j:14"]
//! pinned = false              # true: take this one, whatever costs less
//! ```
//!
//! In: the text of the last build. Out: [`Decisions`], asked by nest, and the text for the next. Who decides, and what it
//! means if a nest has changed since, is the caller's.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Deserialize;

/// What was decided for one nest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// Of the text of the nest.
    pub hash: String,
    /// The device that it was decided for.
    pub device: String,
    /// Loops that every thread runs whole.
    #[serde(default)]
    pub whole: Vec<String>,
    /// Loops that teams share.
    #[serde(default)]
    pub teams: Vec<String>,
    /// Loops that threads share.
    #[serde(default)]
    pub threads: Vec<String>,
    /// Loops that lanes share.
    #[serde(default)]
    pub lanes: Vec<String>,
    /// Whether it is to stay.
    #[serde(default)]
    pub pinned: bool,
    /// Why it is so, for people.
    #[serde(default)]
    pub why: String,
}

/// What was decided, by file, function and line of the outermost loop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decisions {
    /// In order.
    pub nests: BTreeMap<String, Decision>,
}

impl Decisions {
    /// Reads a text; what is wrong with it, if it is none of ours.
    pub fn read(text: &str) -> Result<Decisions, String> {
        let nests = toml::from_str(text).map_err(|it| it.to_string().trim_end().to_owned())?;
        Ok(Decisions { nests })
    }

    /// Puts what was decided now in place of what was decided for the same file before. What is pinned
    /// stays, used or not: only people take it out.
    pub fn renew(&mut self, file: &str, now: Vec<(String, Decision)>) {
        let is_of_file =
            |key: &str| key.strip_prefix(file).is_some_and(|rest| rest.starts_with(':'));
        self.nests.retain(|key, it| it.pinned || !is_of_file(key));
        for (key, decision) in now {
            if !self.nests.get(&key).is_some_and(|it| it.pinned) {
                self.nests.insert(key, decision);
            }
        }
    }

    /// As text.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "# Who runs which loop, as ferry decided. Change a nest and set `pinned = true` to have it your way.\n",
        );
        for (key, it) in &self.nests {
            let list =
                |items: &[String]| items.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(", ");
            let whole = match it.whole.is_empty() {
                true => String::new(),
                false => format!("whole = [{}]\n", list(&it.whole)),
            };
            // Writing to a string does not fail.
            let _ = write!(
                text,
                "\n[{}]\nhash = {}\ndevice = {}\n{}teams = [{}]\nthreads = [{}]\nlanes = [{}]\npinned = {}\n",
                quoted(key),
                quoted(&it.hash),
                quoted(&it.device),
                whole,
                list(&it.teams),
                list(&it.threads),
                list(&it.lanes),
                it.pinned
            );
            if !it.why.is_empty() {
                let _ = writeln!(text, "why = {}", quoted(&it.why));
            }
        }
        text
    }
}

/// A string of the language.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for it in text.chars() {
        match it {
            '"' | '\\' => quoted.extend(['\\', it]),
            _ if it.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(it));
            }
            _ => quoted.push(it),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(why: &str, pinned: bool) -> Decision {
        let loops = vec!["i:3".to_owned()];
        Decision {
            hash: "1f".to_owned(),
            device: "cpu".to_owned(),
            whole: vec!["h:2".to_owned()],
            teams: loops.clone(),
            threads: loops,
            lanes: Vec::new(),
            pinned,
            why: why.to_owned(),
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut all = Decisions::default();
        let key = "a \"b\"\\\n.c:f:3".to_owned();
        all.renew("a", vec![(key, decision("lanes on j: 1.2 ms\t\"x\"", true))]);
        all.renew("b.c", vec![("b.c:g:1".to_owned(), decision("", false))]);
        assert_eq!(Decisions::read(&all.text()), Ok(all));
    }

    #[test]
    fn what_is_pinned_stays_and_the_rest_of_a_file_is_replaced() {
        let mut all = Decisions::default();
        let now = |line: u32, pinned| (format!("a.c:f:{line}"), decision("", pinned));
        all.renew(
            "a.c",
            vec![now(1, true), now(2, false), ("ab.c:f:9".to_owned(), decision("", false))],
        );
        all.renew("a.c", vec![now(1, false), now(3, false)]);
        let keys: Vec<&str> = all.nests.keys().map(String::as_str).collect();
        assert_eq!(keys, ["a.c:f:1", "a.c:f:3", "ab.c:f:9"]);
        assert!(all.nests["a.c:f:1"].pinned);
    }

    #[test]
    fn other_texts_are_refused() {
        assert!(Decisions::read("[\"a\"]\nhash = 3").is_err());
        assert!(Decisions::read("[\"a\"]\nhash = \"\"\ndevice = \"\"\nthreats = []").is_err());
        assert_eq!(Decisions::read(""), Ok(Decisions::default()));
    }
}
