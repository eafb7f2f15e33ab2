//! Which written token each token of a preprocessed line came from.
//!
//! In: the tokens as written and as the preprocessor printed them. Out: an [`Alignment`]. Both
//! sequences are equal but where a macro was expanded, so the cheapest way through both is sought
//! (dynamic programming): equal tokens cost nothing, a written word with or without its
//! parenthesised arguments may stand for any run of printed tokens, and all else is dear.
//!
//! The definitions of macros are not known here, and need not be.

use std::ops::Range;

use super::tokens::{self, Token};

/// Above this many cells a line is not aligned beyond what is plainly equal.
const LARGEST_TABLE: usize = 1 << 20;

/// What each step costs; only their order of size matters.
mod cost {
    /// A word is taken for a macro.
    pub(super) const MACRO: u32 = 10;
    /// A word is taken for a macro that begins with a pragma: two on a line come apart there.
    pub(super) const PRAGMA_MACRO: u32 = 9;
    /// A word is taken for a macro though it was printed as it stands.
    pub(super) const PRINTED_MACRO: u32 = 200;
    /// A macro that nothing was printed for.
    pub(super) const VANISHED: u32 = 1;
    /// A printed token comes from a macro.
    pub(super) const EXPANDED: u32 = 1;
    /// A printed bracket closes one that was opened before the macro: few macros do that.
    pub(super) const CLOSES_OTHERS: u32 = 30;
    /// A written token that ends a call begun on a line before.
    pub(super) const LEADING: u32 = 1;
    /// A written token that was not printed.
    pub(super) const UNPRINTED: u32 = 15;
    /// A written token of this line after the last printed one.
    pub(super) const TRAILING: u32 = 5;
    /// A printed token that nobody wrote.
    pub(super) const UNWRITTEN: u32 = 20;
}

/// Where the printed tokens of one line were written.
#[derive(Debug)]
pub(super) struct Alignment {
    /// One for each printed token.
    spots: Vec<Spot>,
    calls: Vec<Call>,
}

/// Where one printed token was written.
#[derive(Clone, Debug)]
struct Spot {
    /// Bytes of the written text.
    range: Range<usize>,
    /// The macro use it came from; its `range` is then an argument or the macro's name.
    call: Option<usize>,
    /// Whether nobody wrote it, as far as can be seen.
    is_lost: bool,
}

/// A macro use.
#[derive(Debug)]
struct Call {
    /// Bytes of the written text: the name and the arguments.
    written: Range<usize>,
    /// The printed tokens it expanded to.
    printed: Range<usize>,
}

/// The printed tokens asked about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    pub(super) first: usize,
    pub(super) last: usize,
    /// Whether the span began before the tokens of this alignment.
    pub(super) began_before: bool,
    /// Whether the span goes on after them.
    pub(super) goes_on: bool,
}

impl Alignment {
    /// Aligns two sequences; `None` where they have nothing in common. The first `own` written
    /// tokens are those of the line itself; those after it may be there or not.
    pub(super) fn of(
        written: &[Token<'_>],
        own: usize,
        printed: &[Token<'_>],
    ) -> Option<Alignment> {
        let same = written.iter().zip(printed).take_while(|(a, b)| a.is_same(b)).count();
        let mut steps: Vec<Step> = (0..same).map(Step::Same).collect();
        let (ahead, behind) = (written.get(same..)?, printed.get(same..)?);
        let mut calls = Vec::new();
        if !behind.is_empty() {
            let spill = if same == 0 { spill(written) } else { 0 };
            let table = Table::fill(ahead, own.saturating_sub(same), behind, spill);
            let (rest, found) = table.map_or_else(
                || (vec![Step::Lost; behind.len()], Vec::new()),
                |it| it.trace(behind.len()),
            );
            steps.extend(rest.into_iter().map(|step| step.shifted(same)));
            calls = found;
        }
        if steps.iter().all(|it| matches!(it, Step::Lost)) {
            return None;
        }
        Some(Alignment::settle(written, printed, &steps, &calls, same))
    }

    /// Turns steps over tokens into ranges of bytes.
    fn settle(
        written: &[Token<'_>],
        printed: &[Token<'_>],
        steps: &[Step],
        calls: &[Found],
        shift: usize,
    ) -> Alignment {
        let range_of = |it: usize| written.get(it).map(|it| it.range.clone());
        let mut spots: Vec<Spot> = Vec::with_capacity(steps.len());
        let mut arguments = Arguments::default();
        for (step, token) in steps.iter().zip(printed) {
            let (range, call) = match *step {
                Step::Same(at) => (range_of(at), None),
                Step::Expanded(call) => {
                    let uses = calls.get(call).and_then(|it| {
                        written.get(it.written.start + shift..it.written.end + shift)
                    });
                    (arguments.find(call, uses.unwrap_or_default(), token), Some(call))
                }
                Step::Lost => (None, None),
            };
            // A token of no origin is shown where the one before it is.
            let before = || spots.last().map_or(0..0, |it| it.range.clone());
            let is_lost = range.is_none();
            let range = range.unwrap_or_else(before);
            spots.push(Spot { range, call, is_lost });
        }
        let calls = calls.iter().map(|it| {
            let first = range_of(it.written.start + shift).unwrap_or_default();
            let last = range_of(it.written.end + shift - 1).unwrap_or_else(|| first.clone());
            Call {
                written: first.start..last.end,
                printed: it.printed.start + shift..it.printed.end + shift,
            }
        });
        Alignment { calls: calls.collect(), spots }
    }

    /// The written bytes behind a run of printed tokens.
    pub(super) fn cover(&self, ask: Ask) -> Option<Range<usize>> {
        let (first, last) = (self.spots.get(ask.first)?, self.spots.get(ask.last)?);
        let within_one = !ask.began_before && !ask.goes_on && first.call == last.call;
        let call_of = |spot: &Spot| spot.call.and_then(|it| self.calls.get(it));
        if within_one && let Some(call) = call_of(first) {
            let covered = ask.first <= call.printed.start && call.printed.end <= ask.last + 1;
            if covered && call.printed.len() > 1 {
                return Some(call.written.clone());
            }
            let inside = self.spots.get(ask.first..=ask.last)?;
            let start = inside.iter().map(|it| it.range.start).min()?;
            let end = inside.iter().map(|it| it.range.end).max()?;
            return Some(start..end);
        }
        // A span that leaves a macro's expansion covers the whole use of the macro.
        let start = call_of(first).map_or(first.range.start, |it| it.written.start);
        let end = call_of(last).map_or(last.range.end, |it| it.written.end);
        Some(start..end.max(start))
    }
}

impl Alignment {
    /// Whether every printed token was written somewhere.
    pub(super) fn is_complete(&self) -> bool {
        self.spots.iter().all(|it| !it.is_lost)
    }

    /// The macro use that a printed token came from: the written bytes, and the printed tokens.
    pub(super) fn call_of(&self, token: usize) -> Option<(Range<usize>, Range<usize>)> {
        let call = self.calls.get(self.spots.get(token)?.call?)?;
        Some((call.written.clone(), call.printed.clone()))
    }

    /// The written bytes that say just what a range of the printed text says; none where only the definition of a
    /// macro says it. `tokens` are those of the printed text that are aligned here.
    pub(super) fn exact(
        &self,
        tokens: &[Range<usize>],
        range: &Range<usize>,
        printed: &[u8],
        written: &[u8],
    ) -> Option<Range<usize>> {
        let first = tokens.partition_point(|it| it.end <= range.start);
        let last = tokens.partition_point(|it| it.start < range.end).checked_sub(1)?;
        let spots = self.spots.get(first..=last)?;
        let found = self.cover(Ask { first, last, began_before: false, goes_on: false })?;
        let is_inside = |spot: &Spot| {
            let call = spot.call.and_then(|it| self.calls.get(it));
            call.is_none_or(|it| first <= it.printed.start && it.printed.end <= last + 1)
        };
        if spots.iter().all(|it| is_inside(it) && !it.is_lost) {
            return Some(found);
        }
        // A part of what a macro stands for: an argument, word by word.
        let words = tokens::printed(written, found.clone());
        let mut both = words.iter().zip(tokens.get(first..=last)?);
        let is_same = words.len() == spots.len()
            && both.all(|(word, it)| printed.get(it.clone()) == Some(word.text));
        is_same.then_some(found)
    }
}

/// Finds printed tokens again among the arguments of a macro use.
#[derive(Default)]
struct Arguments {
    call: Option<usize>,
    /// The candidate after the last one found.
    cursor: usize,
    /// Whether the printed token before was found.
    adjacent: bool,
}

impl Arguments {
    /// The argument that reads like `token`, sought onwards from the last one found and then from
    /// the beginning; else the macro's name.
    fn find(&mut self, call: usize, uses: &[Token<'_>], token: &Token<'_>) -> Option<Range<usize>> {
        if self.call.replace(call) != Some(call) {
            *self = Arguments { call: Some(call), ..Arguments::default() };
        }
        let name = uses.first()?;
        // `_Pragma("...")` is printed as what its string holds.
        let literal = uses.get(2).filter(|it| name.text == b"_Pragma" && it.text.len() > 2);
        let inside = literal.map(|it| {
            let within = it.range.start + 1..it.range.end - 1;
            let text = it.text.get(1..it.text.len() - 1).unwrap_or_default();
            let mut pieces = tokens::printed(text, 0..text.len());
            for piece in &mut pieces {
                piece.range = within.start + piece.range.start..within.start + piece.range.end;
            }
            pieces
        });
        let between = || uses.get(2..uses.len().saturating_sub(1));
        let candidates = inside.as_deref().or_else(between).unwrap_or_default();
        let telling = is_telling(token.text);
        let fits = |it: &Token<'_>| it.text == token.text;
        let next = candidates.get(self.cursor).filter(|it| self.adjacent && fits(it));
        let onwards = || candidates.iter().skip(self.cursor).position(fits);
        let found = next
            .map(|_| self.cursor)
            .or_else(|| onwards().filter(|_| telling).map(|it| it + self.cursor))
            .or_else(|| candidates.iter().position(fits).filter(|_| telling));
        self.adjacent = found.is_some();
        let Some(found) = found else { return Some(name.range.clone()) };
        self.cursor = found + 1;
        candidates.get(found).map(|it| it.range.clone())
    }
}

/// Whether a token is rare enough to be recognised; punctuation is in every macro's own text.
fn is_telling(text: &[u8]) -> bool {
    text.first().is_some_and(|it| {
        it.is_ascii_alphanumeric() || !it.is_ascii() || matches!(it, b'_' | b'"' | b'\'')
    })
}

/// How a printed token came about.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The written token of this index.
    Same(usize),
    /// The macro use of this index.
    Expanded(usize),
    Lost,
}

impl Step {
    fn shifted(self, by: usize) -> Step {
        match self {
            Step::Same(at) => Step::Same(at + by),
            Step::Expanded(_) | Step::Lost => self,
        }
    }
}

/// A macro use: written and printed tokens.
struct Found {
    written: Range<usize>,
    printed: Range<usize>,
}

/// The cheapest ways to each pair of a written and a printed position.
///
/// `level` cells stand between tokens, `inside` cells in a macro that ends at that written position.
struct Table {
    width: usize,
    level: Vec<Cell<From>>,
    inside: Vec<Cell<Inside>>,
    /// The written position where the cheapest way has read all that was printed.
    end: usize,
}

#[derive(Clone, Copy)]
struct Cell<T> {
    cost: u32,
    from: T,
}

#[derive(Clone, Copy)]
enum From {
    Start,
    Same,
    Unprinted,
    Unwritten,
    Macro,
}

#[derive(Clone, Copy)]
enum Inside {
    /// One printed token earlier, in the same macro, which has opened so many brackets since.
    Expanded(u32),
    /// The macro's name is the written token of this index.
    Entered(usize),
}

const FAR: u32 = u32::MAX / 2;

impl Table {
    /// `None` where the table would be too large. The first `spill` written tokens may belong to a
    /// line before.
    fn fill(
        written: &[Token<'_>],
        own: usize,
        printed: &[Token<'_>],
        spill: usize,
    ) -> Option<Table> {
        let width = printed.len() + 1;
        let cells = width.checked_mul(written.len() + 1).filter(|it| *it <= LARGEST_TABLE)?;
        let mut table = Table {
            width,
            level: vec![Cell { cost: FAR, from: From::Start }; cells],
            inside: vec![Cell { cost: FAR, from: Inside::Expanded(0) }; cells],
            end: 0,
        };
        let ends = closing(written);
        for row in 0..=written.len() {
            table.fill_inside(row, printed);
            table.fill_level(row, written, printed, spill)?;
            let Some(token) = written.get(row) else { continue };
            if token.is_word() {
                table.enter(row, row + 1, token, printed);
                if let Some(end) = ends.get(row).copied().flatten() {
                    table.enter(row, end, token, printed);
                }
            }
        }
        let last = printed.len();
        let cost = |row: &usize| {
            let trailing = u32::try_from(own.saturating_sub(*row)).unwrap_or(FAR);
            let cost = table.level.get(row * width + last).map_or(FAR, |it| it.cost);
            cost.saturating_add(trailing.saturating_mul(cost::TRAILING))
        };
        // Of equal ways the longest: a macro's arguments belong to it.
        table.end = (0..=written.len()).rev().min_by_key(cost)?;
        Some(table)
    }

    /// Reads on inside macros that end at `row`.
    fn fill_inside(&mut self, row: usize, printed: &[Token<'_>]) {
        let start = row * self.width;
        let Some(cells) = self.inside.get_mut(start..start + self.width) else { return };
        let mut before = (FAR, 0);
        let tokens = std::iter::once(None).chain(printed.iter().map(Some));
        for (cell, token) in cells.iter_mut().zip(tokens) {
            let (cost, open) = match token.map(|it| it.text) {
                Some(b"(" | b"[" | b"{") => (before.0, before.1 + 1),
                Some(b")" | b"]" | b"}") if before.1 == 0 => (before.0 + cost::CLOSES_OTHERS, 0),
                Some(b")" | b"]" | b"}") => (before.0, before.1 - 1),
                _ => before,
            };
            if cost + cost::EXPANDED < cell.cost {
                *cell = Cell { cost: cost + cost::EXPANDED, from: Inside::Expanded(open) };
            }
            let open = match cell.from {
                Inside::Expanded(open) => open,
                Inside::Entered(_) => 0,
            };
            before = (cell.cost.min(FAR), open);
        }
    }

    fn fill_level(
        &mut self,
        row: usize,
        written: &[Token<'_>],
        printed: &[Token<'_>],
        spill: usize,
    ) -> Option<()> {
        for column in 0..self.width {
            let at = row * self.width + column;
            let mut best = Cell { cost: FAR, from: From::Start };
            if at == 0 {
                best.cost = 0;
            }
            let mut offer = |cost: u32, from: From| {
                if cost < best.cost {
                    best = Cell { cost, from };
                }
            };
            if row > 0 && column > 0 && written.get(row - 1)?.is_same(printed.get(column - 1)?) {
                offer(self.level.get(at - self.width - 1)?.cost, From::Same);
            }
            let inside = self.inside.get(at)?;
            let vanished = u32::from(matches!(inside.from, Inside::Entered(_)));
            offer(inside.cost + vanished * cost::VANISHED, From::Macro);
            if row > 0 {
                let leading = column == 0 && row <= spill;
                let step = if leading { cost::LEADING } else { cost::UNPRINTED };
                offer(self.level.get(at - self.width)?.cost + step, From::Unprinted);
            }
            if column > 0 {
                offer(self.level.get(at - 1)?.cost + cost::UNWRITTEN, From::Unwritten);
            }
            *self.level.get_mut(at)? = best;
        }
        Some(())
    }

    /// Takes the written token `row` for a macro whose use ends before the written token `end`.
    fn enter(&mut self, row: usize, end: usize, name: &Token<'_>, printed: &[Token<'_>]) {
        for column in 0..self.width {
            let Some(from) = self.level.get(row * self.width + column) else { continue };
            let as_it_stands = printed.get(column).is_some_and(|it| name.is_same(it));
            let begins_line = printed.get(column).is_some_and(|it| it.text == b"#");
            let cost = from.cost
                + match (as_it_stands, begins_line) {
                    (true, _) => cost::PRINTED_MACRO,
                    (false, true) => cost::PRAGMA_MACRO,
                    (false, false) => cost::MACRO,
                };
            if let Some(cell) = self.inside.get_mut(end * self.width + column)
                && cost < cell.cost
            {
                *cell = Cell { cost, from: Inside::Entered(row) };
            }
        }
    }

    /// Walks the cheapest way backwards.
    fn trace(&self, printed: usize) -> (Vec<Step>, Vec<Found>) {
        let mut steps = vec![Step::Lost; printed];
        let mut calls = Vec::new();
        let (mut row, mut column) = (self.end, printed);
        while let Some(cell) = self.level.get(row * self.width + column) {
            match cell.from {
                From::Start => break,
                From::Same => {
                    (row, column) = (row - 1, column - 1);
                    set(&mut steps, column, Step::Same(row));
                }
                From::Unprinted => row -= 1,
                From::Unwritten => column -= 1,
                From::Macro => {
                    let last = (row, column);
                    while let Some(cell) = self.inside.get(last.0 * self.width + column) {
                        match cell.from {
                            Inside::Expanded(_) if column > 0 => {
                                column -= 1;
                                set(&mut steps, column, Step::Expanded(calls.len()));
                            }
                            Inside::Expanded(_) => break,
                            Inside::Entered(name) => {
                                row = name;
                                break;
                            }
                        }
                    }
                    if row == last.0 {
                        break;
                    }
                    calls.push(Found { written: row..last.0, printed: column..last.1 });
                }
            }
        }
        (steps, calls)
    }
}

fn set(steps: &mut [Step], at: usize, step: Step) {
    if let Some(place) = steps.get_mut(at) {
        *place = step;
    }
}

/// How many tokens end calls that were begun before: up to the last `)` that nothing here opened.
fn spill(written: &[Token<'_>]) -> usize {
    let (mut depth, mut spilt) = (0usize, 0);
    for (index, token) in written.iter().enumerate() {
        match token.text {
            b"(" => depth += 1,
            b")" if depth == 0 => spilt = index + 1,
            b")" => depth -= 1,
            _ => {}
        }
    }
    spilt
}

/// For each token that is followed by `(`, the index after the matching `)`; the end of all tokens
/// where it is not closed.
pub(super) fn closing(written: &[Token<'_>]) -> Vec<Option<usize>> {
    let mut ends = vec![None; written.len()];
    let mut open = Vec::new();
    for (index, token) in written.iter().enumerate() {
        match token.text {
            b"(" => open.push(index),
            b")" => {
                let opened = open.pop().and_then(|it: usize| it.checked_sub(1));
                if let Some(end) = opened.and_then(|it| ends.get_mut(it)) {
                    *end = Some(index + 1);
                }
            }
            _ => {}
        }
    }
    for index in open {
        if let Some(end) = index.checked_sub(1).and_then(|it| ends.get_mut(it)) {
            *end = Some(written.len());
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `asked` is the printed text with the tokens asked about between `«` and `»`.
    #[track_caller]
    fn check(written: &str, asked: &str, expect: &str) {
        let start = asked.find('«').expect("marked");
        let end = asked.find('»').expect("marked") - '«'.len_utf8();
        let text = asked.replace(['«', '»'], "");
        let printed = tokens::printed(text.as_bytes(), 0..text.len());
        let inside = |it: &Token<'_>| start <= it.range.start && it.range.end <= end;
        let first = printed.iter().position(inside).expect("a token");
        let last = printed.iter().rposition(inside).expect("a token");
        let source = tokens::printed(written.as_bytes(), 0..written.len());
        let alignment = Alignment::of(&source, source.len(), &printed).expect("alike");
        let ask = Ask { first, last, began_before: false, goes_on: false };
        let range = alignment.cover(ask).expect("known");
        assert_eq!(&written[range], expect, "{written} // {asked}");
    }

    #[test]
    fn equal_tokens_stand_for_one_another() {
        check("a  =   b;", "a = «b»;", "b");
        check("a = b + a;", "a = b + «a»;", "a");
    }

    #[test]
    fn an_expansion_leads_to_the_name_of_its_macro() {
        check("v[N] = x;", "v[«100»] = x;", "N");
        check("v[N] = x;", "v[100] = «x»;", "x");
        check("p = NULL;", "p = ((void «*»)0);", "NULL");
        check("y = SQ(a) + (b);", "y = ((a)«*»(a)) + (b);", "SQ");
        check("y = SQ(a) + (b);", "y = ((a)*(a)) + («b»);", "b");
    }

    #[test]
    fn an_argument_is_found_in_the_call() {
        check("y = SQ(a) + b;", "y = ((«a»)*(a)) + b;", "a");
        check("y = MAX(n, m);", "y = ((n) > («m») ? (n) : (m));", "m");
        check("y = MAX(v[i], m);", "y = ((v[i]) > (m) ? («v[i]») : (m));", "v[i]");
    }

    #[test]
    fn a_whole_expansion_is_the_whole_call() {
        check("y = SQ(a) + b;", "y = «((a)*(a))» + b;", "SQ(a)");
        check("y = SQ(a) + b;", "y = «((a)*(a)) + b»;", "SQ(a) + b");
        check("y = b + SQ(a);", "y = «b + ((a)*(a))»;", "b + SQ(a)");
    }

    #[test]
    fn a_call_of_several_arguments_is_told_from_a_name_alone() {
        check("a CL(v[0:N]) b(N)", "a map(to: v[0:100]) «b»(100)", "b");
        check("a CL(v[0:N]) b(N)", "a map(to: v[0:100]) b(«100»)", "N");
        check("a CL(v[0:N]) b(N)", "a map(to: «v[0»:100]) b(100)", "v[0");
    }

    #[test]
    fn macros_of_one_value_are_told_apart() {
        let written = "g(N) c(a[N:M], b[M:N]) d(M)";
        check(written, "g(«8») c(a[8:8], b[8:8]) d(8)", "N");
        check(written, "g(8) c(a[8:«8»], b[8:8]) d(8)", "M");
        check(written, "g(8) c(a[8:8], b[8:«8»]) d(8)", "N");
        check(written, "g(8) «c»(a[8:8], b[8:8]) d(8)", "c");
    }

    #[test]
    fn a_word_printed_as_it_stands_is_no_macro() {
        check("f(N, M, K);", "f(1, «2», 3);", "M");
        check("S V *b = NIL, *c = NIL;", "«static» V *b = ((V *)0), *c = ((V *)0);", "S");
        check("if (norm(x) >= EPS) y;", "if (_norm(x,((V *)0)) >= ((double)«1e-16»)) y;", "EPS");
    }

    #[test]
    fn macros_may_vanish_or_nest() {
        check("y = EMPTY x;", "y = «x»;", "x");
        check("return MAX(MAX(x, y), N) + z;", "return ((((x)>(y)?(x):(y)))>(100)) + «z»;", "z");
    }

    #[test]
    fn pragma_operators_lead_into_their_string() {
        check(r#"_Pragma("one two(N)") x = y;"#, "#pragma one «two»(N)\n x = y;", "two");
        check(r#"_Pragma("one two") x = y;"#, "#pragma one two\n «x» = y;", "x");
    }

    #[test]
    fn two_calls_on_a_line_are_told_apart() {
        let printed = "#pragma x a c(b[0:16])\n#pragma x «s» c(b[0:16])";
        check("L(a c(b[0:16])) L(s c(b[0:16]))", printed, "s");
        let printed = "#pragma x a c(b[0:16])\n#pragma x «s c(b[0:16])»";
        check("L(a c(b[0:16])) L(s c(b[0:16]))", printed, "s c(b[0:16])");
    }

    #[test]
    fn a_call_from_the_line_before_does_not_confuse() {
        check("y) + c;", "+ «c»;", "c");
    }

    #[test]
    fn nothing_in_common_is_no_alignment() {
        let of = |text: &'static str| tokens::printed(text.as_bytes(), 0..text.len());
        assert!(Alignment::of(&of("+"), 1, &of("- -")).is_none());
        assert!(Alignment::of(&of(""), 0, &of("a")).is_none());
    }
}
