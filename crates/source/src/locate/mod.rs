//! Where a span was written: file, line and column, as the user sees them.
//!
//! In: a [`SourceMap`], and [`Files`] to read written files from. Out: a [`Location`]. A span in
//! preprocessed text goes back through the line markers to the written line; there the preprocessor
//! has moved the columns (macros, squeezed blanks, joined lines), so both lines are cut into tokens
//! ([`tokens`]) and aligned ([`align`]) to find the bytes the user wrote. What came out of a macro
//! is found at the use of the macro. All of it is done only for spans somebody asks about.
//!
//! Where the written file cannot be read, or is not the one that was preprocessed, file and line
//! are still right and the column is that of the preprocessed text.

mod align;
mod expand;
mod macros;
mod made;
mod text;
mod tokens;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use crate::lines::{Lines, offset};
use crate::marker::{Origin, is_marker};
use crate::{FileId, SourceMap, Span};
use align::{Alignment, Ask};
use macros::{Definition, Definitions};
use made::Maker;
pub use made::Making;
pub(crate) use text::Text;

/// How far around a line its neighbours are sought, so that odd input costs no more than its size.
const REACH: u32 = 64;
/// Macros in macros are followed so far.
const DEEPEST: usize = 16;

/// Gives the text of a written file.
pub trait Files {
    /// The bytes of the file that a line marker calls `name`; none where it cannot be read.
    fn read(&self, name: &str) -> Option<Vec<u8>>;
}

/// No written files are at hand.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _name: &str) -> Option<Vec<u8>> {
        None
    }
}

impl<F: Fn(&str) -> Option<Vec<u8>>> Files for F {
    fn read(&self, name: &str) -> Option<Vec<u8>> {
        self(name)
    }
}

/// A place in a written file.
///
/// Lines and columns count from 1. A column counts characters (Unicode code points; each run of
/// invalid bytes counts as one, a tab as one), and the end is the column after the last character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file, as its line marker or its owner named it.
    pub file: Arc<str>,
    /// Line of the first character.
    pub line: u32,
    /// Column of the first character.
    pub column: u32,
    /// Line where it ends.
    pub end_line: u32,
    /// Column after the last character.
    pub end_column: u32,
    /// Whether the file is a system header.
    pub in_system_header: bool,
    /// The bytes in the written file, for edits; none where that file was not at hand.
    pub written: Option<Range<usize>>,
}

/// A location and the text that shows it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) location: Location,
    pub(crate) text: Rc<Text>,
    /// Bytes of `text`.
    pub(crate) range: Range<usize>,
}

type Makings = HashMap<(FileId, u32), Option<Rc<Making>>>;

/// Finds locations; remembers the written files and lines it has looked at.
pub struct Locator<'a> {
    map: &'a SourceMap,
    files: &'a dyn Files,
    texts: RefCell<HashMap<Arc<str>, Option<Rc<Text>>>>,
    /// By text and first line.
    groups: RefCell<BTreeMap<(FileId, u32), Rc<Group>>>,
    /// Preprocessed lines shown for want of written ones.
    printed: RefCell<HashMap<(FileId, u32), Rc<Text>>>,
    definitions: RefCell<HashMap<FileId, Rc<Definitions>>>,
    /// What makes pragmas, by the line they are printed on.
    makings: RefCell<Makings>,
}

/// How a span is said in a written file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worded {
    /// The words.
    pub text: String,
    /// Words that are not what they say: the parameters of the definition they stand in.
    pub params: Vec<String>,
}

/// The lines of a preprocessed text that came from one written line, and how they align with it.
#[derive(Debug)]
struct Group {
    /// Lines of the preprocessed text, from 0.
    lines: Range<u32>,
    /// Ranges of the tokens in the preprocessed text.
    tokens: Vec<Range<usize>>,
    written: Option<(Rc<Text>, Alignment)>,
}

impl<'a> Locator<'a> {
    /// A locator for the spans of `map`.
    pub fn new(map: &'a SourceMap, files: &'a dyn Files) -> Locator<'a> {
        Locator {
            map,
            files,
            texts: RefCell::default(),
            groups: RefCell::default(),
            printed: RefCell::default(),
            definitions: RefCell::default(),
            makings: RefCell::default(),
        }
    }

    /// Where `span` was written; none for [`Span::NONE`] and spans that lie in no text.
    pub fn locate(&self, span: Span) -> Option<Location> {
        self.place(span).map(|it| it.location)
    }

    /// The bytes of a written file, if it is in the map or can be read.
    pub fn written(&self, name: &str) -> Option<Rc<[u8]>> {
        self.text(&name.into()).map(|it| Rc::clone(&it.bytes))
    }

    /// The words that say `span`, where it stands in a written file or in a definition; none where no words say just
    /// that.
    pub fn worded(&self, span: Span) -> Option<Worded> {
        let (file, range) = self.map.place(span)?;
        let lines = self.map.lines(file)?;
        self.map.origin(file, 0)?;
        if let Some(making) = self.making(span) {
            return making.worded(self.map.bytes(file), &range);
        }
        let group = self.group(file, lines, lines.line_of(offset(range.start)))?;
        let last = range.end.saturating_sub(1).max(range.start);
        group.lines.contains(&lines.line_of(offset(last))).then_some(())?;
        let (text, alignment) = group.written.as_ref()?;
        let bytes = self.map.bytes(file);
        let worded = |text: &[u8]| {
            let text = String::from_utf8_lossy(text).into_owned();
            Worded { text, params: Vec::new() }
        };
        if let Some(said) = alignment.exact(&group.tokens, &range, bytes, &text.bytes) {
            return text.bytes.get(said).map(worded);
        }
        self.worded_in_macros(file, lines, &group, &range).map(|it| worded(&it))
    }

    /// The words that say a part of a pragma in the definitions of the macros that its line uses.
    fn worded_in_macros(
        &self,
        file: FileId,
        lines: &Lines,
        group: &Group,
        range: &Range<usize>,
    ) -> Option<Vec<u8>> {
        let bytes = self.map.bytes(file);
        let start = lines.content(group.lines.start, bytes).start;
        let origin = self.map.origin(file, group.lines.start)?;
        let text = self.text(&origin.name)?;
        let line = macros::logical_line(&text, origin.line.checked_sub(1)?);
        let mut line = text.bytes.get(line)?.to_vec();
        line.trim_ascii_start().starts_with(b"#").then_some(())?;
        let pieces: Vec<_> = group.lines.clone().map(|it| lines.content(it, bytes)).collect();
        let printed: Vec<_> =
            pieces.into_iter().flat_map(|it| tokens::printed(bytes, it)).collect();
        let definition = |name: &[u8]| self.definition(file, lines, name, start);
        for _ in 0..DEEPEST {
            line = expand::step(&line, &definition)?;
            let words = tokens::printed(&line, 0..line.len());
            let Some(alignment) = Alignment::of(&words, words.len(), &printed) else { continue };
            if let Some(said) = alignment.exact(&group.tokens, range, bytes, &line) {
                return line.get(said).map(<[u8]>::to_vec);
            }
        }
        None
    }

    /// The text of `span` itself: as preprocessed, if it was.
    pub fn printed(&self, span: Span) -> Option<String> {
        let (file, range) = self.map.place(span)?;
        Some(String::from_utf8_lossy(self.map.bytes(file).get(range)?).into_owned())
    }

    /// What makes the pragma on whose line `span` was printed; none if it is a line of its own, or if that is not clear.
    pub fn making(&self, span: Span) -> Option<Rc<Making>> {
        let (file, range) = self.map.place(span)?;
        let lines = self.map.lines(file)?;
        let line = lines.line_of(offset(range.start));
        let key = (file, line);
        if let Some(known) = self.makings.borrow().get(&key) {
            return known.clone();
        }
        let found = self.find_making(file, lines, line).map(Rc::new);
        self.makings.borrow_mut().insert(key, found.clone());
        found
    }

    fn find_making(&self, file: FileId, lines: &Lines, line: u32) -> Option<Making> {
        let bytes = self.map.bytes(file);
        let content = lines.content(line, bytes);
        let printed = tokens::printed(bytes, content.clone());
        let [hash, word, rest @ ..] = printed.as_slice() else { return None };
        ((hash.text, word.text) == (b"#", b"pragma")).then_some(())?;
        let group = self.group(file, lines, line)?;
        let (text, alignment) = group.written.as_ref()?;
        let index = group.tokens.partition_point(|it| it.start < hash.range.start);
        let (written, inside) = alignment.call_of(index)?;
        // Of several pragmas that one use makes, which is it?
        let token = |it: usize| group.tokens.get(it).and_then(|it| bytes.get(it.clone()));
        let begins = |it: &usize| token(*it) == Some(b"#") && token(*it + 1) == Some(b"pragma");
        let nth = (inside.start..index).filter(begins).count();
        let definition = |name: &[u8]| self.definition(file, lines, name, content.start);
        let makings = Maker { definition: &definition }.makings(text, written);
        let mut making = makings.into_iter().nth(nth)?;
        let before = making
            .before
            .as_ref()
            .and_then(|(name, range)| Some(self.text(name)?.bytes.get(range.clone())?.to_vec()));
        making.align(rest, &before.unwrap_or_default())?;
        Some(making)
    }

    /// What a name stands for at a byte of a preprocessed text, if it is defined in a written file.
    fn definition(
        &self,
        file: FileId,
        lines: &Lines,
        name: &[u8],
        at: usize,
    ) -> Option<Definition> {
        let known = self.definitions.borrow().get(&file).cloned();
        let all = known.unwrap_or_else(|| {
            let all = Rc::new(Definitions::of(self.map.bytes(file), lines));
            self.definitions.borrow_mut().insert(file, Rc::clone(&all));
            all
        });
        let origin = self.map.origin(file, all.line_at(name, at)?)?;
        // What the system defines is not ours to follow.
        (!origin.system).then_some(())?;
        Definition::read(&self.text(&origin.name)?, origin.line.checked_sub(1)?, name)
    }

    /// The lines of a written file, from 1, from which anything was printed.
    pub fn lines_read(&self, name: &str) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        for file in self.map.files() {
            let Some(lines) = self.map.lines(file) else { continue };
            let view = View { map: self.map, file, text: self.map.bytes(file), lines };
            let read = (0..lines.count()).filter(|it| view.has_text(*it));
            let origins = read.filter_map(|it| self.map.origin(file, it));
            found.extend(origins.filter(|it| *it.name == *name).map(|it| it.line));
        }
        found
    }

    /// Where `span` was written, with the text around it.
    pub(crate) fn place(&self, span: Span) -> Option<Place> {
        let (file, range) = self.map.place(span)?;
        let lines = self.map.lines(file)?;
        if self.map.origin(file, 0).is_none() {
            let text = self.text(&self.map.shared_name(file)?)?;
            return Some(text.place(range, false, true));
        }
        let first = self.group(file, lines, lines.line_of(offset(range.start)))?;
        let last_byte = range.end.saturating_sub(1).max(range.start);
        let last = self.group(file, lines, lines.line_of(offset(last_byte)))?;
        if let Some(place) = written_place(&first, &last, &range, self.map.in_system_header(span)) {
            return Some(place);
        }
        self.printed_place(file, lines, range)
    }

    /// The place in the preprocessed line itself, under the name and number of the written line.
    fn printed_place(&self, file: FileId, lines: &Lines, range: Range<usize>) -> Option<Place> {
        let line = lines.line_of(offset(range.start));
        let origin = self.map.origin(file, line)?;
        let bytes = self.map.bytes(file);
        let shown = lines.content(line, bytes);
        let known = self.printed.borrow().get(&(file, line)).cloned();
        let text = known.unwrap_or_else(|| {
            let shown = bytes.get(shown.clone()).unwrap_or_default().to_vec();
            Rc::new(Text::new(origin.name, shown, origin.line))
        });
        self.printed.borrow_mut().insert((file, line), Rc::clone(&text));
        let here = range.start.saturating_sub(shown.start)..range.end.saturating_sub(shown.start);
        Some(text.place(here, origin.system, false))
    }

    /// A written text by its name.
    fn text(&self, name: &Arc<str>) -> Option<Rc<Text>> {
        if let Some(known) = self.texts.borrow().get(name) {
            return known.clone();
        }
        let bytes = match self.map.written(name) {
            Some(file) => Some(self.map.bytes(file).to_vec()),
            None => self.files.read(name),
        };
        // Positions have 32 bits; a longer file is not one we compiled.
        let bytes = bytes.filter(|it| u32::try_from(it.len()).is_ok());
        let text = bytes.map(|it| Rc::new(Text::new(Arc::clone(name), it, 1)));
        self.texts.borrow_mut().insert(Arc::clone(name), text.clone());
        text
    }

    /// The group that holds a line of a preprocessed text.
    fn group(&self, file: FileId, lines: &Lines, line: u32) -> Option<Rc<Group>> {
        let known =
            self.groups.borrow().range(..=(file, line)).next_back().map(|((owner, _), group)| {
                (*owner == file && group.lines.contains(&line), Rc::clone(group))
            });
        if let Some((true, group)) = known {
            return Some(group);
        }
        let group = Rc::new(self.build_group(file, lines, line)?);
        self.groups.borrow_mut().insert((file, group.lines.start), Rc::clone(&group));
        Some(group)
    }

    fn build_group(&self, file: FileId, lines: &Lines, line: u32) -> Option<Group> {
        let text = self.map.bytes(file);
        let view = View { map: self.map, file, text, lines };
        let origin = self.map.origin(file, line)?;
        let (group, next) = view.neighbours(line, &origin);
        let mut pieces = Vec::new();
        for line in group.clone().filter(|it| view.has_text(*it)) {
            pieces.extend(tokens::printed(text, lines.content(line, text)));
        }
        let written = self.text(&origin.name).and_then(|written| {
            let first = origin.line.checked_sub(1).filter(|it| *it < written.lines.count())?;
            let comment = written.begins_in_comment(first);
            let keep_on = |line: u32, depth: u32| {
                line.saturating_add(1) < next || (depth > 0 && line - first < REACH)
            };
            let (source, own) =
                tokens::written(&written.bytes, &written.lines, first, comment, keep_on);
            let alignment = Alignment::of(&source, own, &pieces)?;
            Some((written, alignment))
        });
        let tokens = pieces.into_iter().map(|it| it.range).collect();
        Some(Group { lines: group, tokens, written })
    }
}

/// A preprocessed text, line by line.
struct View<'a> {
    map: &'a SourceMap,
    file: FileId,
    text: &'a [u8],
    lines: &'a Lines,
}

impl View<'_> {
    /// Whether a line holds text of the program.
    fn has_text(&self, line: u32) -> bool {
        let bytes = self.text.get(self.lines.content(line, self.text)).unwrap_or_default();
        !bytes.trim_ascii().is_empty() && !is_marker(bytes)
    }

    /// The lines around `line` that were written on the same line, and the written line of what
    /// comes after them.
    fn neighbours(&self, line: u32, origin: &Origin) -> (Range<u32>, u32) {
        // What a system header's macro expanded to is marked as the system's, on lines of its own.
        let is_same = |it: u32| {
            let other = self.map.origin(self.file, it);
            other.is_some_and(|it| it.name == origin.name && it.line == origin.line)
        };
        let mut first = line;
        for other in (line.saturating_sub(REACH)..line).rev().filter(|it| self.has_text(*it)) {
            if !is_same(other) {
                break;
            }
            first = other;
        }
        let mut last = line;
        let mut next = origin.line.saturating_add(1);
        let end = line.saturating_add(REACH).min(self.lines.count());
        for other in (line + 1..end).filter(|it| self.has_text(*it)) {
            if is_same(other) {
                last = other;
                continue;
            }
            let after = self.map.origin(self.file, other);
            if let Some(after) = after.filter(|it| it.name == origin.name) {
                next = next.max(after.line);
            }
            break;
        }
        (first..last + 1, next)
    }
}

/// The written bytes behind a range of preprocessed text that starts and ends in the groups given.
fn written_place(first: &Group, last: &Group, range: &Range<usize>, system: bool) -> Option<Place> {
    let (text, alignment) = first.written.as_ref()?;
    let begin = first.tokens.partition_point(|it| it.end <= range.start);
    let is_in_token = first.tokens.get(begin).is_some_and(|it| it.start < range.end);
    if range.is_empty() || (!is_in_token && first.lines == last.lines) {
        // Between tokens: right after the one before, or before the first.
        let before = first.tokens.partition_point(|it| it.start < range.start).checked_sub(1);
        let near = before.unwrap_or(0);
        let ask = Ask { first: near, last: near, began_before: true, goes_on: true };
        let found = alignment.cover(ask)?;
        let at = if before.is_some() { found.end } else { found.start };
        return Some(text.place(at..at, system, true));
    }
    let last_of = |it: &Group| it.tokens.partition_point(|it| it.start < range.end).checked_sub(1);
    let goes_on = first.lines != last.lines;
    let end_here = if goes_on { first.tokens.len().checked_sub(1) } else { last_of(first) }?;
    let begin = begin.min(end_here);
    let ask = Ask { first: begin, last: end_here, began_before: false, goes_on };
    let mut found = alignment.cover(ask)?;
    // A span that ends in another file is shown where it begins.
    if goes_on
        && let Some((other, ending)) = &last.written
        && Rc::ptr_eq(text, other)
        && let Some(end) = last_of(last)
        && let Some(tail) =
            ending.cover(Ask { first: 0, last: end, began_before: true, goes_on: false })
        && tail.end >= found.start
    {
        found.end = tail.end;
    }
    Some(text.place(found, system, true))
}

#[cfg(test)]
mod tests;
