//! Directives that a macro or `_Pragma` makes: they are changed where their text stands.
//!
//! A `_Pragma("…")` in code, and what is given to a macro that makes a pragma of it, are changed there. What stands in a
//! definition is changed there, once, if all uses of the macro come to the same; if one is refused or differs, all are.

use std::ops::Range;
use std::sync::Arc;

use source::{Making, Span};

use super::place::{Edit, Pen};
use super::spot::{Spot, definition, guard_macro, guarded};
use super::words::{PARAM, one_line, pieces};
use super::{Fate, Keep, Remark, Target, codes};

/// What became of a directive.
pub(super) struct Done {
    pub(super) target: Target,
    pub(super) from: String,
    pub(super) to: Vec<String>,
    pub(super) remarks: Vec<Remark>,
    /// The file that needs our header for it.
    pub(super) header: Option<Arc<str>>,
}

/// One use of a definition that says a directive.
pub(super) struct Shared {
    /// The bytes that all uses share.
    keys: Vec<(Arc<str>, Range<usize>)>,
    name: String,
    /// None if it stays as it is.
    changes: Option<Vec<Edit>>,
    /// None if nothing is to be told of it.
    done: Option<Done>,
}

impl Pen<'_> {
    /// Remembers that a directive was looked at.
    pub(super) fn see(&mut self, spot: &Spot) {
        self.made.seen.entry(Arc::clone(&spot.file)).or_default().push(spot.range.start);
        let Some(made) = &spot.made else { return };
        for (file, at) in &made.uses {
            self.made.macros.uses.entry(Arc::clone(file)).or_default().push(*at);
        }
        add(&mut self.made.macros.helpers, &made.helpers);
    }

    /// A directive that stays as it is: so must the definition that says it.
    pub(super) fn keep(&mut self, span: Span) {
        let Some(spot) = self.directive(span) else { return };
        self.see(&spot);
        if let Some(made) = spot.made.filter(|it| it.is_shared || it.before.is_some()) {
            let (keys, name) = (keys(&made), name(&made));
            self.shared.push(Shared { keys, name, changes: None, done: None });
        }
    }

    /// Puts a directive off whose text others share, until all of them are known.
    pub(super) fn share(&mut self, made: &Making, done: Done, changes: Option<Vec<Edit>>) {
        let keys = wider_keys(made, changes.as_deref().unwrap_or_default());
        let name = name(made);
        if changes.is_some() {
            add(&mut self.made.macros.changed, &made.names);
        }
        self.shared.push(Shared { keys, name, changes, done: Some(done) });
    }

    /// Changes definitions whose uses all come to the same.
    pub(super) fn settle_shared(&mut self) {
        let mut all = std::mem::take(&mut self.shared);
        drop_disputed_lanes(&mut all);
        while let Some(key) = dispute(&all) {
            for one in all.iter_mut().filter(|it| it.changes.is_some() && it.keys.contains(&key)) {
                one.changes = None;
                let Some(done) = &mut one.done else { continue };
                done.to.clear();
                let text = format!(
                    "`{}` makes it, and not all of its uses mean the same; write the directive itself",
                    one.name
                );
                let code = Some(codes::MADE_BY_MACRO);
                done.remarks.push(Remark { fate: Fate::Refused, clause: None, code, text });
            }
        }
        let mut changed: Vec<(Arc<str>, Range<usize>)> = Vec::new();
        for one in all {
            let Some(done) = one.done else { continue };
            let mut changes = one.changes.unwrap_or_default();
            changes.retain(|(file, range, _)| {
                let key = (Arc::clone(file), range.clone());
                let is_new = !changed.contains(&key);
                if is_new && one.keys.contains(&key) {
                    changed.push(key);
                }
                is_new
            });
            self.finish_one(done, changes);
        }
    }
}

/// Lanes are advice: where uses differ in that word alone, none of them gets it.
fn drop_disputed_lanes(all: &mut [Shared]) {
    let plain =
        |text: &str| text.replace(" simd ", " ").replace(" simd\"", "\"").replace(" simd)", ")");
    while let Some(key) = dispute(all) {
        let at_key = |it: &&Edit| (&it.0, &it.1) == (&key.0, &key.1);
        let changes = || all.iter().filter_map(|it| it.changes.as_ref()).flatten().filter(at_key);
        let first = changes().next().map(|it| plain(&it.2));
        let has_lanes = changes().any(|it| plain(&it.2) != it.2);
        if !has_lanes || changes().any(|it| Some(plain(&it.2)) != first) {
            return;
        }
        for one in all.iter_mut().filter(|it| it.keys.contains(&key)) {
            for change in one.changes.iter_mut().flatten() {
                if (&change.0, &change.1) == (&key.0, &key.1) {
                    change.2 = plain(&change.2);
                }
            }
            for line in one.done.iter_mut().flat_map(|it| &mut it.to) {
                *line = plain(&format!("{line} ")).trim_end().to_owned();
            }
        }
    }
}

/// Bytes that two uses want to be different, or that one cannot change.
fn dispute(all: &[Shared]) -> Option<(Arc<str>, Range<usize>)> {
    let mut keys = all.iter().filter(|it| it.changes.is_some()).flat_map(|it| &it.keys);
    keys.find(|key| {
        let uses = || all.iter().filter(|it| it.keys.contains(key));
        let changes = uses().filter_map(|it| it.changes.as_ref()).flatten();
        // What goes as a whole does not ask for the word that a macro puts before it.
        let mut texts = changes.filter(|it| (&it.0, &it.1) == (&key.0, &key.1)).map(|it| &it.2);
        let first = texts.next();
        uses().any(|it| it.changes.is_none()) || texts.any(|it| Some(it) != first)
    })
    .cloned()
}

fn keys(made: &Making) -> Vec<(Arc<str>, Range<usize>)> {
    let own = made.is_shared.then(|| (Arc::clone(&made.file), replaced(made)));
    own.into_iter().chain(made.before.clone()).collect()
}

/// The same where whole definitions are exchanged.
fn wider_keys(made: &Making, changes: &[Edit]) -> Vec<(Arc<str>, Range<usize>)> {
    let mut keys = keys(made);
    for (file, range, _) in changes {
        let holds = |it: &(Arc<str>, Range<usize>)| {
            it.0 == *file && range.start <= it.1.start && it.1.end <= range.end
        };
        let key = (Arc::clone(file), range.clone());
        if keys.iter().any(holds) && !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

fn name(made: &Making) -> String {
    made.names.first().cloned().unwrap_or_default()
}

/// The bytes that are exchanged.
fn replaced(made: &Making) -> Range<usize> {
    if made.is_alone { made.whole.clone() } else { made.text.clone() }
}

fn add(list: &mut Vec<String>, more: &[String]) {
    for name in more {
        if !list.contains(name) {
            list.push(name.clone());
        }
    }
}

impl Spot {
    /// What makes the new directives; or why nothing can.
    pub(super) fn remade(
        &self,
        made: &Making,
        lines: &[String],
        keep: Keep,
    ) -> Result<Vec<Edit>, &'static str> {
        let directive = |line: &str| line.strip_prefix("#pragma ").map(str::to_owned);
        let is_one = matches!(lines, [line] if directive(line).is_some());
        if !made.is_alone && !is_one {
            return Err("the macro makes more than the directive");
        }
        self.keeps_params(made, lines)?;
        let bytes = |range: Range<usize>| {
            String::from_utf8_lossy(self.text.get(range).unwrap_or_default()).into_owned()
        };
        let outer = replaced(made);
        let (head, tail) = (bytes(outer.start..made.text.start), bytes(made.text.end..outer.end));
        let mut first_word = None;
        let mut new = Vec::new();
        for line in lines {
            let line = line.replace(PARAM, "");
            let Some(mut words) = directive(&line) else {
                new.push(line);
                continue;
            };
            if made.before.is_some() {
                let (first, rest) = words.split_once(' ').unwrap_or((&words, ""));
                first_word = Some(first.to_owned());
                words = rest.to_owned();
            }
            if made.is_quoted {
                words = words.replace('\\', "\\\\").replace('"', "\\\"");
            }
            new.push(format!("{head}{words}{tail}"));
        }
        let standard = self.standard(made);
        let before = made.before.clone().zip(first_word);
        let before = match before {
            Some(((file, _), _)) if keep == Keep::Guard && file != self.file => {
                return Err("what macros of two files make cannot be kept beside its translation");
            }
            Some(((file, range), word)) if keep == Keep::Guard => {
                let (range, text) = self.guarded_definition(range, &word, &standard)?;
                Some((file, range, text))
            }
            Some(((file, range), word)) => Some((file, range, word)),
            None => None,
        };
        // A definition is one line; other lines have room for more if nothing stands before it.
        let (range, text) = match (made.is_shared || self.indent().is_none(), keep) {
            (true, Keep::Guard) if made.is_shared => {
                self.guarded_definition(outer, &new.join(" "), &standard)?
            }
            (_, Keep::Guard) if !self.is_alone_on_its_line(&outer) => {
                return Err(
                    "other code on its line would be kept with it; write it on a line of its own",
                );
            }
            (true, _) => {
                let kept = (keep == Keep::Comment).then(|| self.comment());
                (outer, kept.into_iter().chain(new).collect::<Vec<_>>().join(" "))
            }
            (false, Keep::Guard) => {
                let newline = self.newline();
                let separator = format!("{newline}{}", self.indent().unwrap_or(""));
                let old = bytes(outer.clone());
                (outer, guarded(&standard, old, &new, &separator))
            }
            (false, _) => {
                let (file, text) = (Arc::clone(&self.file), self.text.clone());
                Spot { range: outer, file, text, made: None }.replacement(&new, keep)
            }
        };
        let own = (Arc::clone(&self.file), range, text);
        Ok(std::iter::once(own).chain(before).collect())
    }

    /// The macro that compilers define which read the directive.
    fn standard(&self, made: &Making) -> String {
        let (file, range) =
            made.before.clone().unwrap_or((Arc::clone(&self.file), made.text.clone()));
        let words = if file == self.file { self.text.get(range) } else { None };
        let words = String::from_utf8_lossy(words.unwrap_or_default());
        guard_macro(&format!("#pragma {words}")).to_owned()
    }

    /// Whether nothing but blanks and comments stands beside these bytes.
    fn is_alone_on_its_line(&self, range: &Range<usize>) -> bool {
        let rest = self.text.get(range.end..).unwrap_or_default();
        let line = rest.split(|it| *it == b'\n').next().unwrap_or_default().trim_ascii();
        let is_comment = line.starts_with(b"//")
            || line.starts_with(b"/*")
                && line.windows(2).position(|it| it == b"*/") == Some(line.len() - 2);
        self.indent().is_some() && (line.is_empty() || is_comment)
    }

    /// A definition as it is for compilers of one standard, and with some bytes exchanged for all others.
    fn guarded_definition(
        &self,
        range: Range<usize>,
        new: &str,
        standard: &str,
    ) -> Result<(Range<usize>, String), &'static str> {
        let whole = definition(&self.text, range.start);
        let part = |range: Range<usize>| {
            String::from_utf8_lossy(self.text.get(range).unwrap_or_default()).into_owned()
        };
        let old = part(whole.clone());
        let is_definition = old
            .trim_start()
            .strip_prefix('#')
            .is_some_and(|it| it.trim_start().starts_with("define"));
        let dialect = match standard == directive::MACRO_OF_LEVELS {
            true => directive::DESCRIPTIVE,
            false => directive::PRESCRIPTIVE,
        };
        let is_only = directive::named_in(&old, dialect) == 1;
        if !is_definition || !is_only {
            return Err(
                "a definition with several directives cannot be kept beside its translation",
            );
        }
        let made = format!("{}{new}{}", part(whole.start..range.start), part(range.end..whole.end));
        Ok((whole, guarded(standard, old, &[made], self.newline())))
    }

    /// Whether parameters of the definition still say what they said.
    fn keeps_params(&self, made: &Making, lines: &[String]) -> Result<(), &'static str> {
        let old = self.text.get(made.text.clone()).unwrap_or_default();
        let old = String::from_utf8_lossy(old);
        for param in &made.params {
            let is_used = pieces(&old).contains(&param.as_str());
            let marked = format!("{PARAM}{param}");
            let is_kept = lines.iter().any(|it| it.contains(&marked));
            if is_used && !is_kept {
                return Err("what is given to the macro would have no effect");
            }
            let is_name = lines.iter().any(|line| {
                let all = pieces(line);
                let before = |at: usize| at.checked_sub(1).and_then(|it| all.get(it));
                (0..all.len()).any(|at| {
                    all.get(at) == Some(&param.as_str())
                        && !before(at).is_some_and(|it| it.ends_with(PARAM))
                })
            });
            if is_name {
                return Err("a variable has the name of a parameter of the macro");
            }
        }
        Ok(())
    }

    fn comment(&self) -> String {
        let old = self.text.get(self.range.clone()).unwrap_or_default();
        format!("/* {} */", one_line(&String::from_utf8_lossy(old)).replace("*/", "* /"))
    }
}
