//! The files that a translation changes, and where they go.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use ir::construct::Dialect;
use source::{Edits, Locator, unified_diff};
use translate::{Change, Translation};

use super::conditions::{self, Settings, blanked};
use crate::input;
use crate::options::TranslateOptions;
use crate::report::{Stream, deliver, named, show};

/// Files as they are and what changes in them.
#[derive(Default)]
pub(super) struct Files {
    list: BTreeMap<Arc<str>, One>,
    /// Those that were asked for, changed or not.
    asked: Vec<Arc<str>>,
    needs_header: bool,
    /// Macros whose definitions have changed.
    changed: Vec<String>,
    /// Macros that make a directive of what they are given.
    helpers: Vec<String>,
    /// Lines of directives that stand outside of any function, where they mean nothing.
    outside: Vec<(Arc<str>, u32)>,
}

struct One {
    old: Vec<u8>,
    /// The same without comments and literals.
    clean: Vec<u8>,
    changes: Vec<Change>,
    /// Where directives begin that were read.
    seen: Vec<usize>,
    /// Where macros are used that make directives.
    uses: Vec<usize>,
    /// Code that directives are about.
    bodies: Vec<Range<usize>>,
    readings: Vec<Reading>,
}

/// What one way of compiling makes of a file.
struct Reading {
    changes: Vec<Change>,
    /// The lines that it has compiled.
    lines: BTreeSet<u32>,
}

/// A directive that no reading has met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unread {
    pub(super) file: Arc<str>,
    pub(super) at: usize,
    pub(super) line: u32,
    pub(super) text: String,
    /// The macro that makes it.
    pub(super) name: Option<String>,
    /// Whether it stands in a definition that nothing uses.
    pub(super) is_unused: bool,
    /// Whether it stands where nothing is executed.
    pub(super) is_outside: bool,
    /// Whether it stands in a header, for programs that were not asked for.
    pub(super) is_shared: bool,
    /// Whether it is code of a region, and no directive.
    pub(super) is_code: bool,
    /// Whether no compiler of the standard that is written would read it.
    pub(super) is_never: bool,
}

impl Files {
    /// Adds what one reading of a file changes; what another reading has changed so already stays. Nothing is added if
    /// one changes what the other has read and left as it was.
    pub(super) fn add(
        &mut self,
        path: &Path,
        translation: &Translation,
        locator: &Locator<'_>,
    ) -> Result<(), String> {
        let name: Arc<str> = match path == Path::new("-") {
            true => input::STDIN.into(),
            false => path.display().to_string().into(),
        };
        let names: BTreeSet<Arc<str>> =
            translation.changes.keys().cloned().chain([Arc::clone(&name)]).collect();
        let mut read: Vec<(Arc<str>, Rc<[u8]>, Reading)> = Vec::new();
        for file in names {
            let Some(text) = locator.written(&file) else { continue };
            let changes = translation.changes.get(&file).cloned().unwrap_or_default();
            let reading = Reading { changes, lines: locator.lines_read(&file) };
            if let Some(line) = self.list.get(&file).and_then(|it| it.contradicts(&reading)) {
                return Err(format!("{file}:{line}: two readings of the file differ"));
            }
            read.push((file, text, reading));
        }
        if !self.asked.contains(&name) {
            self.asked.push(name);
        }
        for (file, text, reading) in read {
            let one = self.list.entry(Arc::clone(&file)).or_insert_with(|| One {
                old: text.to_vec(),
                clean: blanked(&text),
                changes: Vec::new(),
                seen: Vec::new(),
                uses: Vec::new(),
                bodies: Vec::new(),
                readings: Vec::new(),
            });
            reading.changes.iter().for_each(|it| one.add(it));
            one.readings.push(reading);
            one.seen.extend(translation.seen.get(&file).into_iter().flatten());
            one.uses.extend(translation.macros.uses.get(&file).into_iter().flatten());
            one.bodies.extend(translation.bodies.get(&file).into_iter().flatten().cloned());
        }
        let macros = &translation.macros;
        self.changed.extend(macros.changed.iter().cloned());
        self.helpers.extend(macros.helpers.iter().cloned());
        self.needs_header |= translation.needs_header;
        Ok(())
    }

    /// The text of a file as it is.
    pub(super) fn text(&self, name: &str) -> &[u8] {
        self.list.get(name).map(|it| it.old.as_slice()).unwrap_or_default()
    }

    /// Notes a directive that stands outside of any function.
    pub(super) fn add_outside(&mut self, file: Arc<str>, line: u32) {
        self.outside.push((file, line));
    }

    /// Directives of the standard that is left which no reading has met, and code that they are about.
    pub(super) fn unread(&self, to: Dialect, fixed: &Settings) -> Vec<Unread> {
        let from = match to == directive::PRESCRIPTIVE {
            true => directive::DESCRIPTIVE,
            false => directive::PRESCRIPTIVE,
        };
        let mut found = Vec::new();
        for (file, one) in &self.list {
            let mut places: Vec<(usize, Option<String>)> = directive::directives_in(&one.old, from)
                .into_iter()
                .filter(|at| !one.seen.contains(at))
                // What of the other standard is for the host alone stays, read or not.
                .filter(|at| from == directive::DESCRIPTIVE || is_for_devices(&one.old, *at))
                .map(|at| (at, None))
                .collect();
            for name in self.changed.iter().collect::<BTreeSet<_>>() {
                let uses = self
                    .uses(name)
                    .into_iter()
                    .filter(|(it, at)| it == file && !one.uses.contains(at));
                places.extend(uses.map(|(_, at)| (at, Some(name.clone()))));
            }
            for name in self.helpers.iter().collect::<BTreeSet<_>>() {
                let uses = uses_of(&one.clean, name).into_iter().filter(|at| {
                    let given = one.old.get(at + name.len()..).unwrap_or_default();
                    !one.uses.contains(at) && directive::is_given(given, from)
                });
                places.extend(uses.map(|at| (at, Some(name.clone()))));
            }
            let code = one.unread_code();
            let code = code.into_iter().filter(|at| {
                let conditions = conditions::around(&one.old, *at);
                !conditions::is_never(&conditions, fixed)
            });
            let code: Vec<usize> = code.collect();
            places.extend(code.iter().map(|at| (*at, None)));
            for (at, name) in places {
                let is_code = code.contains(&at);
                let is_never = !is_code && one.is_never(at, to, fixed);
                let (line, text) = (one.line_of(at), line_at(&one.old, at));
                let owner = definition_at(&one.clean, at);
                let is_unused = owner.is_some_and(|it| self.uses(&it).is_empty());
                let is_outside = self.outside.iter().any(|it| it.0 == *file && it.1 == line);
                let is_shared = !self.asked.contains(file) && name.is_none();
                let file = Arc::clone(file);
                found.push(Unread {
                    file,
                    at,
                    line,
                    text,
                    name,
                    is_unused,
                    is_outside,
                    is_shared,
                    is_code,
                    is_never,
                });
            }
        }
        found.sort_by(|a, b| (&a.file, a.at).cmp(&(&b.file, b.at)));
        found.dedup_by(|a, b| (&a.file, a.at) == (&b.file, b.at));
        found
    }

    /// Where a macro is used in code, by itself or by others whose definitions use it.
    fn uses(&self, name: &str) -> Vec<(Arc<str>, usize)> {
        let mut names = vec![name.to_owned()];
        let mut found = Vec::new();
        let mut next = 0;
        while let Some(name) = names.get(next).cloned() {
            next += 1;
            for (file, one) in &self.list {
                for at in uses_of(&one.clean, &name) {
                    match definition_at(&one.clean, at) {
                        None => found.push((Arc::clone(file), at)),
                        Some(owner) if !names.contains(&owner) => names.push(owner),
                        Some(_) => {}
                    }
                }
            }
        }
        found
    }

    /// Writes, or shows, the files.
    pub(super) fn deliver(&self, options: &TranslateOptions) -> Result<(), String> {
        let mut made: Vec<(&Arc<str>, &[u8], Vec<u8>)> = Vec::new();
        for (name, one) in &self.list {
            made.push((name, &one.old, one.new_text(name)?));
        }
        if options.diff {
            let mut text = String::new();
            for (name, old, new) in &made {
                text.push_str(&unified_diff(name, old, new));
            }
            return show(&text, Stream::Out);
        }
        if let Some(folder) = &options.out_dir {
            let mut folders = BTreeSet::from([folder.clone()]);
            for (name, _, new) in &made {
                let path = folder.join(inside(name));
                folders.extend(path.parent().filter(|_| includes_ours(new)).map(Path::to_owned));
                write(&path, new)?;
            }
            return folders.iter().try_for_each(|it| self.header(it, options));
        }
        if options.in_place {
            let mut folders = BTreeSet::new();
            for (name, old, new) in &made {
                let path = Path::new(&***name);
                if *old != new.as_slice() {
                    folders.extend(path.parent().filter(|_| includes_ours(new)));
                    write(path, new)?;
                }
            }
            return folders.iter().try_for_each(|it| self.header(it, options));
        }
        let others: Vec<&str> = made
            .iter()
            .filter(|it| !self.asked.contains(it.0) && it.1 != it.2.as_slice())
            .map(|it| &**it.0)
            .collect();
        if !others.is_empty() {
            let names = others.join(", ");
            return Err(format!("{names} would change too: give --in-place, --out-dir or --diff"));
        }
        let asked: Vec<_> = made.iter().filter(|it| self.asked.contains(it.0)).collect();
        match (asked.as_slice(), &options.output) {
            ([(.., new)], output) => {
                let text = String::from_utf8(new.clone());
                let Ok(text) = text else {
                    return Err("the text is not UTF-8: give --in-place or --out-dir".to_owned());
                };
                deliver(&text, output.as_deref(), Stream::Out)?;
                match named(output.as_deref()).and_then(Path::parent) {
                    Some(folder) => self.header(folder, options),
                    None => Ok(()),
                }
            }
            _ => Err("several files: give --in-place, --out-dir or --diff".to_owned()),
        }
    }

    /// Puts our header beside the program, if it is included.
    fn header(&self, folder: &Path, options: &TranslateOptions) -> Result<(), String> {
        if !self.needs_header {
            return Ok(());
        }
        let (name, text) =
            match directive::standard_called(&options.to) == Some(directive::DESCRIPTIVE) {
                true => (directive::BACK_HEADER, directive::BACK_HEADER_TEXT),
                false => (directive::TRANSLATION_HEADER, directive::TRANSLATION_HEADER_TEXT),
            };
        write(&folder.join(name), text.as_bytes())
    }
}

impl One {
    /// The line that one of two readings changes and the other reads as it was. Which header stands for a
    /// runtime is no matter of meaning.
    fn contradicts(&self, new: &Reading) -> Option<u32> {
        let is_alike = |a: &Change, b: &Change| {
            a == b || a.range == b.range && is_header(&a.text) && is_header(&b.text)
        };
        let differs = |a: &Reading, b: &Reading| {
            let only =
                a.changes.iter().filter(|it| !b.changes.iter().any(|other| is_alike(it, other)));
            only.map(|it| self.line_of(it.range.start)).find(|it| b.lines.contains(it))
        };
        self.readings.iter().find_map(|old| differs(new, old).or_else(|| differs(old, new)))
    }

    /// Branches of conditional groups, in code that directives are about, which no reading has compiled.
    fn unread_code(&self) -> Vec<usize> {
        let mut found = Vec::new();
        for branch in self.bodies.iter().flat_map(|it| conditions::branches(&self.clean, it)) {
            let lines = self.line_of(branch.start)..self.line_of(branch.end);
            let is_read =
                self.readings.iter().any(|it| it.lines.range(lines.clone()).next().is_some());
            let mut at = branch.start;
            let text = self.clean.get(branch.clone()).unwrap_or_default();
            for line in text.split_inclusive(|it| *it == b'\n') {
                let words = line.trim_ascii();
                if !is_read && !words.is_empty() && !words.starts_with(b"#") {
                    found.push(at + line.len() - line.trim_ascii_start().len());
                    break;
                }
                at += line.len();
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether a directive is for nobody, or for those alone who do not read the standard that is written and for whom another
    /// branch has such a directive.
    fn is_never(&self, at: usize, to: Dialect, fixed: &Settings) -> bool {
        let conditions = conditions::around(&self.old, at);
        if !conditions::is_never(&conditions, fixed) {
            return false;
        }
        let names = [directive::MACRO_OF_LEVELS, directive::MACRO_OF_TEAMS];
        let is_choice = conditions.iter().any(|it| names.iter().any(|name| it.0.contains(name)));
        let group = conditions::group(&self.clean, at);
        let has_other =
            || directive::directives_in(&self.old, to).iter().any(|it| group.contains(it));
        !is_choice || has_other()
    }

    fn line_of(&self, at: usize) -> u32 {
        let before = self.old.get(..at).unwrap_or_default();
        u32::try_from(1 + before.iter().filter(|it| **it == b'\n').count()).unwrap_or(u32::MAX)
    }

    /// Adds a change, unless another reading has made it. Of two headers for one line ours has all that the
    /// other has.
    fn add(&mut self, change: &Change) {
        let ours = [directive::TRANSLATION_HEADER, directive::BACK_HEADER];
        let is_ours = |it: &Change| ours.iter().any(|name| it.text.contains(name));
        let same = self.changes.iter_mut().find(|it| {
            it.range == change.range && !it.range.is_empty() && is_ours(it) != is_ours(change)
        });
        match same {
            Some(it) if is_ours(change) => *it = change.clone(),
            Some(_) => {}
            None => {
                if !self.changes.contains(change) {
                    self.changes.push(change.clone());
                }
            }
        }
    }

    fn new_text(&self, name: &str) -> Result<Vec<u8>, String> {
        let mut edits = Edits::new();
        for change in &self.changes {
            edits
                .replace(change.range.clone(), change.text.clone())
                .map_err(|error| format!("{name}: two readings of the file differ: {error}"))?;
        }
        edits.apply(&self.old).map_err(|error| format!("{name}: {error}"))
    }
}

/// The rest of a line.
fn line_at(text: &[u8], at: usize) -> String {
    let rest = text.get(at..).unwrap_or_default();
    let line = rest.split(|it| *it == b'\n').next().unwrap_or_default();
    String::from_utf8_lossy(line).trim().to_owned()
}

fn is_for_devices(text: &[u8], at: usize) -> bool {
    directive::is_for_devices(&line_at(text, at))
}

/// The macro in whose definition a byte stands.
fn definition_at(text: &[u8], at: usize) -> Option<String> {
    let line_start = |at: usize| {
        let before = text.get(..at).unwrap_or_default();
        before.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1)
    };
    let mut start = line_start(at);
    while start > 0 && text.get(..start)?.trim_ascii_end().ends_with(b"\\") {
        start = line_start(start - 1);
    }
    let head = String::from_utf8_lossy(text.get(start..)?);
    let rest = head.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
    let name = rest.trim_start();
    let end = name.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(name.len());
    rest.starts_with(char::is_whitespace).then(|| name.get(..end).unwrap_or_default().to_owned())
}

/// Where a name stands in a text without comments, but for lines of the preprocessor that are about it.
fn uses_of(text: &[u8], name: &str) -> Vec<usize> {
    let is_word = |it: Option<&u8>| it.is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_');
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive(|it| *it == b'\n') {
        let words = line.trim_ascii_start().strip_prefix(b"#").unwrap_or_default();
        let words = words.trim_ascii_start();
        let own = ["define", "undef", "ifdef", "ifndef"].iter().find_map(|it| {
            let rest = words.strip_prefix(it.as_bytes())?.trim_ascii_start();
            rest.starts_with(name.as_bytes()).then_some(line.len() - rest.len())
        });
        for (at, part) in line.windows(name.len()).enumerate() {
            let is_whole = part == name.as_bytes()
                && !is_word(at.checked_sub(1).and_then(|it| line.get(it)))
                && !is_word(line.get(at + name.len()));
            if is_whole && own != Some(at) {
                found.push(start + at);
            }
        }
        start += line.len();
    }
    found
}

/// Whether a text is what a line includes of a runtime, or of ours that stands for it.
fn is_header(text: &str) -> bool {
    let names = [directive::TRANSLATION_HEADER, directive::BACK_HEADER];
    let plain = [directive::HEADER_OF_TEAMS, directive::HEADER_OF_LEVELS];
    plain.contains(&text) || names.iter().any(|it| text == format!("\"{it}\""))
}

/// Whether a text includes a header of ours.
fn includes_ours(text: &[u8]) -> bool {
    let names = [directive::TRANSLATION_HEADER, directive::BACK_HEADER];
    names.iter().any(|name| text.windows(name.len()).any(|it| it == name.as_bytes()))
}

/// The path below a folder: from the current folder on if it is there, without its root and without leading out of it.
fn inside(name: &str) -> PathBuf {
    use std::path::Component;
    let here = std::env::current_dir().ok();
    let below = here.as_deref().and_then(|it| Path::new(name).strip_prefix(it).ok());
    below
        .unwrap_or(Path::new(name))
        .components()
        .filter(|it| matches!(it, Component::Normal(_)))
        .collect()
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    crate::report::write_file(path, bytes)
}
