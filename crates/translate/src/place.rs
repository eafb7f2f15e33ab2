//! Puts what was planned into the files as written.
//!
//! A directive is replaced from its `#` to its last word: indentation, comments behind it and the end of
//! the line stay. One that goes takes its line with it if nothing else stands there. One that a macro or
//! `_Pragma` makes is changed where its text stands ([`made`]).

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use ir::program::{Program, StmtKind};
use rustc_hash::FxHashSet;
use source::{Edits, Locator, Span};

use super::made::{Done, Shared};
use super::spot::{
    Spot, blanks_of_next, clauses, contains, declaration_end, defined, directive_end, ends_line,
    first_include, guard_macro, is_our_header, keywords, line_end, logical_line, newline,
    statement_end,
};
use super::words::{PARAM, one_line, pieces};
use super::{
    Change, Fate, Keep, Line, Place, Plan, Record, Remark, Request, Target, Translation, codes,
};

pub(super) struct Pen<'a> {
    program: &'a Program,
    locator: &'a Locator<'a>,
    request: &'a Request,
    pub(super) made: Translation,
    /// Files whose directives use our header.
    users: Vec<Arc<str>>,
    /// Whether a line that includes another header has come to include ours.
    is_included: bool,
    /// Macros of which there are several definitions.
    several: OnceCell<Vec<String>>,
    /// Macros of the user's.
    names: OnceCell<FxHashSet<String>>,
    /// Where statements and directives begin that stand in blocks.
    in_blocks: OnceCell<FxHashSet<u32>>,
    /// Directives that stand in definitions, use by use.
    pub(super) shared: Vec<Shared>,
}

/// A change of a file.
pub(super) type Edit = (Arc<str>, Range<usize>, String);

impl<'a> Pen<'a> {
    pub(super) fn new(
        program: &'a Program,
        locator: &'a Locator<'a>,
        request: &'a Request,
    ) -> Pen<'a> {
        Pen {
            program,
            locator,
            request,
            made: Translation::default(),
            users: Vec::new(),
            is_included: false,
            several: OnceCell::new(),
            names: OnceCell::new(),
            in_blocks: OnceCell::new(),
            shared: Vec::new(),
        }
    }

    pub(super) fn finish(mut self) -> Translation {
        self.settle_shared();
        for file in std::mem::take(&mut self.users) {
            let text = self.locator.written(&file).unwrap_or_default();
            let header = match self.request.to == directive::DESCRIPTIVE {
                true => directive::BACK_HEADER,
                false => directive::TRANSLATION_HEADER,
            };
            if self.is_included || contains(&text, header.as_bytes()) {
                continue;
            }
            let at = first_include(&text);
            let newline = newline(&text);
            let line = format!("#include \"{header}\"{newline}");
            self.change(&file, at..at, line);
        }
        self.made.records.sort_by_key(|it| it.span.start);
        self.made
    }

    fn spot(&self, span: Span) -> Option<Spot> {
        let at = self.locator.locate(span).filter(|it| !it.in_system_header)?;
        let text = self.locator.written(&at.file)?;
        Some(Spot { file: at.file, text, range: at.written?, made: None })
    }

    /// The bytes of a written directive.
    pub(super) fn directive(&self, span: Span) -> Option<Spot> {
        if let Some(made) = self.locator.making(span) {
            let (file, range) = (Arc::clone(&made.file), made.whole.clone());
            let text = self.locator.written(&file)?;
            return Some(Spot { file, text, range, made: Some(made) });
        }
        let mut spot = self.spot(span)?;
        let start = logical_line(&spot.text, spot.range.start);
        let before = spot.text.get(start..spot.range.end)?;
        let hash = start + before.iter().position(|it| !it.is_ascii_whitespace())?;
        let words = one_line(&String::from_utf8_lossy(spot.text.get(hash..spot.range.end)?));
        let rest = words.strip_prefix('#')?.trim_start().strip_prefix("pragma")?;
        rest.starts_with(|it: char| it.is_whitespace()).then_some(())?;
        // Words at its end that macros make are not among those that were found.
        spot.range = hash..directive_end(&spot.text, hash);
        Some(spot)
    }

    /// Does what was planned, and remembers what became of the directive.
    pub(super) fn write(&mut self, target: Target, mut plan: Plan) {
        let found = match target {
            Target::Directive(span) => self.directive(span),
            Target::Loop(span) => self.spot(span),
        };
        let from = match (&found, target) {
            (Some(spot), Target::Directive(_)) => spot.words(),
            (None, Target::Directive(span)) => {
                let place = self.spot(span);
                place.map_or_else(String::new, |it| it.words())
            }
            (_, Target::Loop(_)) => String::new(),
        };
        let place = self.locator.locate(target.span());
        if place.is_some_and(|it| it.in_system_header || is_our_header(&it.file)) {
            return;
        }
        let Some(spot) = found else {
            let text = "how a macro makes it is not clear; write the directive itself";
            plan.remark(Fate::Refused, Some(codes::MADE_BY_MACRO), None, text);
            return self.record(target, from, Vec::new(), plan.remarks);
        };
        if matches!(target, Target::Loop(_)) && self.has_guarded_extra(&spot) {
            return;
        }
        if let Target::Directive(_) = target {
            self.see(&spot);
            if self.request.keep == Keep::Guard && !plan.is_own && self.is_guarded(&spot) {
                let text = "it is kept for its own compilers, and translated for others, already";
                let remark = Remark {
                    fate: Fate::Redundant,
                    clause: None,
                    code: None,
                    text: text.to_owned(),
                };
                return self.record(target, from, Vec::new(), vec![remark]);
            }
        }
        if let Some(body) = plan.body {
            let inside = std::mem::take(&mut plan.inside);
            plan.before.extend(inside.into_iter().map(|it| (Place::StartOf(body), it)));
        }
        let mut all = std::mem::take(&mut plan.first);
        let has_more = !all.is_empty() || !plan.last.is_empty();
        let is_plain = self.request.keep != Keep::Guard && spot.made.is_none();
        let is_free = is_plain && !plan.declares && self.stands_in_block(target.span());
        all.append(&mut plan.lines);
        let mut lines = self.spelled(&all, &mut plan.remarks);
        let mut last = std::mem::take(&mut plan.last);
        if has_more && !is_free {
            last.push(Line::Statement("}".to_owned()));
            lines.insert(0, "{".to_owned());
        }
        match plan.body {
            Some(body) => {
                plan.before.extend(last.into_iter().map(|it| (Place::Behind(body), it)));
            }
            None => lines.extend(self.spelled(&last, &mut plan.remarks)),
        }
        if matches!(target, Target::Loop(_)) && lines.is_empty() && !plan.is_refused() {
            return;
        }
        let changes = match plan.is_refused() {
            true => None,
            false => self.changes(target, &spot, &lines, &mut plan),
        };
        let to = match changes {
            Some(_) => lines.iter().map(|it| it.replace(PARAM, "")).collect(),
            None => Vec::new(),
        };
        let header = plan.uses_header.then(|| Arc::clone(&spot.file));
        let done = Done { target, from, to, remarks: plan.remarks, header };
        match spot.made.as_ref().filter(|it| it.is_shared || it.before.is_some()) {
            Some(made) => self.share(made, done, changes),
            None => self.finish_one(done, changes.unwrap_or_default()),
        }
    }

    /// Whether a statement or directive stands in a block, where others may stand beside it.
    fn stands_in_block(&self, span: Span) -> bool {
        let all = self.in_blocks.get_or_init(|| {
            let mut all = FxHashSet::default();
            for (_, stmt) in self.program.stmts.iter() {
                let StmtKind::Block(list) = &stmt.kind else { continue };
                for it in list {
                    let it = &self.program.stmts[*it];
                    all.insert(it.span.start);
                    if let StmtKind::Region(id) = it.kind {
                        all.insert(self.program.regions[id].construct.span.start);
                    }
                }
            }
            all
        });
        all.contains(&span.start)
    }

    /// Makes the changes for one directive, and remembers what became of it.
    pub(super) fn finish_one(&mut self, done: Done, changes: Vec<Edit>) {
        if !changes.is_empty()
            && let Some(file) = done.header
        {
            self.made.needs_header = true;
            if !self.users.contains(&file) {
                self.users.push(file);
            }
        }
        for (file, range, text) in changes {
            self.change(&file, range, text);
        }
        self.record(done.target, done.from, done.to, done.remarks);
    }

    /// What changes for a directive; none, and a remark, if it cannot be done.
    fn changes(
        &self,
        target: Target,
        spot: &Spot,
        lines: &[String],
        plan: &mut Plan,
    ) -> Option<Vec<Edit>> {
        let mut changes = self.elsewhere(spot, plan)?;
        let keep = match self.request.keep {
            // Readers of the old one read the new one.
            Keep::Guard if plan.is_own => Keep::Comment,
            keep => keep,
        };
        let own = match (target, &spot.made) {
            (Target::Loop(_), _) if !spot.begins_loop() => {
                Err("the loop that needs a directive is made by a macro")
            }
            (Target::Loop(_), _) => {
                let at = spot.range.start;
                let text = match keep {
                    Keep::Guard => {
                        let (indent, newline) = (spot.indent(), spot.newline());
                        let next = format!("{newline}{}", indent.unwrap_or_default());
                        let text = self.guarded_extra(&lines.join(&next), &next);
                        let before = if indent.is_some() { "" } else { newline };
                        format!("{before}{text}{next}")
                    }
                    Keep::Nothing | Keep::Comment => spot.before_loop(lines),
                };
                Ok(vec![(Arc::clone(&spot.file), at..at, text)])
            }
            (Target::Directive(_), Some(made)) => spot.remade(made, lines, keep),
            (Target::Directive(_), None) => {
                let (range, text) = spot.replacement(lines, keep);
                Ok(vec![(Arc::clone(&spot.file), range, text)])
            }
        };
        if let Some(word) = self.clash(spot, lines) {
            let text = format!("`{word}` is a macro here, and a word of the new directive");
            plan.remark(Fate::Refused, Some(codes::MADE_BY_MACRO), None, text);
            return None;
        }
        let own = own.and_then(|own| {
            if self.loses_choice(spot, lines) {
                return Err("a macro stands for clauses, and there are several definitions of it");
            }
            let is_open = changes.iter().chain(&own).any(|it| it.2.contains(PARAM));
            if is_open { Err("an argument of the macro is needed elsewhere too") } else { Ok(own) }
        });
        match own {
            Ok(own) => {
                changes.extend(own);
                Some(changes)
            }
            Err(text) => {
                plan.remark(Fate::Refused, Some(codes::MADE_BY_MACRO), None, text);
                None
            }
        }
    }

    /// Whether clauses would be written out that another definition of a macro says otherwise.
    fn loses_choice(&self, spot: &Spot, lines: &[String]) -> bool {
        let several = self.several.get_or_init(|| {
            let files = self.files();
            let names = files.iter().flat_map(|it| defined(&it.1)).collect::<Vec<_>>();
            let is_again = |it: &&String| names.iter().filter(|other| other == it).count() > 1;
            names.iter().filter(is_again).cloned().collect()
        });
        let range = spot.made.as_ref().map_or(spot.range.clone(), |it| it.text.clone());
        let old = spot.text.get(range).unwrap_or_default();
        let old = one_line(&String::from_utf8_lossy(old));
        let name = |it: &&str| pieces(it).first().is_some_and(|it| several.iter().any(|s| s == it));
        let mut macros = clauses(&old).into_iter().filter(name);
        macros.any(|it| {
            let name = pieces(it).first().copied().unwrap_or_default().to_owned();
            !lines.iter().any(|line| pieces(line).contains(&name.as_str()))
        })
    }

    /// What changes in other places for a directive.
    fn elsewhere(&self, spot: &Spot, plan: &mut Plan) -> Option<Vec<Edit>> {
        let mut remarks = Vec::new();
        let behind = self.spelled(&plan.behind, &mut remarks);
        let newline = spot.newline();
        let mut changes: Vec<Edit> = Vec::new();
        let is_shared = spot.made.as_ref().is_some_and(|it| it.is_shared);
        if let [line] = behind.as_slice() {
            let end = declaration_end(&spot.text, spot.range.end).filter(|_| !is_shared);
            let Some(end) = end else {
                let text = "where the declaration behind it ends is not clear";
                plan.remark(Fate::Refused, Some(codes::NO_COUNTERPART), None, text);
                return None;
            };
            let end = line_end(&spot.text, end);
            let text = self.apart(&spot.text, end, line, "");
            changes.push((Arc::clone(&spot.file), end..end, text));
        }
        for (place, line) in plan.before.clone() {
            let span = match place {
                Place::Statement(span)
                | Place::StartOf(span)
                | Place::EndOf(span)
                | Place::Behind(span) => span,
            };
            let text = self.spelled(std::slice::from_ref(&line), &mut remarks).join(newline);
            let other = self.spot(span).filter(|it| is_shared || it.file == spot.file);
            let Some(other) = other else {
                let text = "a place where data must be let go is made by a macro";
                plan.remark(Fate::Refused, Some(codes::MADE_BY_MACRO), None, text);
                return None;
            };
            let edit = |range: Range<usize>, text: String| (Arc::clone(&other.file), range, text);
            let indent = other.indent().unwrap_or_default();
            match place {
                Place::Statement(_) => {
                    let (start, end) = (other.range.start, other.range.end);
                    let end = statement_end(&other.text, end);
                    let is_free = other.indent().is_some() && self.stands_in_block(span);
                    let next = format!("{newline}{indent}");
                    let open = if is_free { String::new() } else { format!("{{{next}") };
                    if self.request.keep == Keep::Guard {
                        let text = self.guarded_extra(&format!("{open}{text}"), &next);
                        let before = if other.indent().is_some() { "" } else { next.as_str() };
                        changes.push(edit(start..start, format!("{before}{text}{next}")));
                    } else {
                        changes.push(edit(start..start, format!("{open}{text}{next}")));
                    }
                    if !is_free {
                        let text = self.apart(&other.text, end, "}", indent);
                        changes.push(edit(end..end, text));
                    }
                }
                Place::StartOf(_) => {
                    if other.text.get(other.range.start) != Some(&b'{') {
                        let text = "its body is no block";
                        plan.remark(Fate::Refused, Some(codes::NO_COUNTERPART), None, text);
                        return None;
                    }
                    let at = line_end(&other.text, other.range.start + 1);
                    let indent = blanks_of_next(&other.text, at);
                    changes.push(edit(at..at, self.apart(&other.text, at, &text, &indent)));
                }
                Place::Behind(_) => {
                    let end = statement_end(&other.text, other.range.end);
                    let end = line_end(&other.text, end);
                    let text = self.apart(&other.text, end, &text, indent);
                    // What comes behind one statement is one change: others may end there too.
                    match changes.last_mut().filter(|it| it.1 == (end..end)) {
                        Some((.., before)) => before.push_str(&text),
                        None => changes.push(edit(end..end, text)),
                    }
                }
                Place::EndOf(_) => {
                    let at = other.range.end.saturating_sub(1);
                    let brace = Spot { range: at..at + 1, ..other };
                    let text = self.guarded_extra(&text, newline);
                    let text = match brace.indent() {
                        Some(blanks) => {
                            let more = brace.deeper_before(blanks);
                            format!("{more}{text}{newline}{blanks}")
                        }
                        None => format!("{newline}{text}{newline}"),
                    };
                    changes.push((Arc::clone(&brace.file), at..at, text));
                }
            }
        }
        plan.remarks.extend(remarks);
        (!plan.is_refused()).then_some(changes)
    }

    /// Lines that come behind a byte, apart from what else stands there.
    pub(super) fn apart(&self, text: &[u8], at: usize, line: &str, indent: &str) -> String {
        let next = format!("{}{indent}", newline(text));
        let line = self.guarded_extra(line, &next);
        // A statement may have others behind it; a directive has its line for itself.
        let is_last = !line.contains('#') || ends_line(text, at);
        let rest = if is_last { "" } else { next.as_str() };
        format!("{next}{line}{rest}")
    }

    /// What comes besides the directives themselves, for those who do not read the old ones.
    pub(super) fn guarded_extra(&self, line: &str, next: &str) -> String {
        match self.request.keep {
            Keep::Guard => {
                let standard = match self.request.to == directive::DESCRIPTIVE {
                    true => directive::MACRO_OF_TEAMS,
                    false => directive::MACRO_OF_LEVELS,
                };
                format!("#ifndef {standard} {}{next}{line}{next}#endif", directive::TRANSLATED)
            }
            Keep::Nothing | Keep::Comment => line.to_owned(),
        }
    }

    pub(super) fn change(&mut self, file: &Arc<str>, range: Range<usize>, text: String) {
        let changes = self.made.changes.entry(Arc::clone(file)).or_default();
        changes.push(Change { range, text });
    }

    pub(super) fn record(
        &mut self,
        target: Target,
        from: String,
        to: Vec<String>,
        remarks: Vec<Remark>,
    ) {
        let fate = remarks.iter().map(|it| it.fate).max().unwrap_or(Fate::Translated);
        self.made.records.push(Record { span: target.span(), from, to, fate, remarks });
    }

    fn spelled(&self, lines: &[Line], remarks: &mut Vec<Remark>) -> Vec<String> {
        let mut texts = Vec::new();
        for line in lines {
            match line {
                Line::Statement(text) => texts.push(text.clone()),
                Line::Directive(it) => match directive::write(it, it.dialect) {
                    Ok(text) => texts.push(format!("#pragma {text}")),
                    Err(why) => remarks.push(Remark {
                        fate: Fate::Refused,
                        clause: None,
                        code: Some(codes::NO_COUNTERPART),
                        text: why.to_string(),
                    }),
                },
            }
        }
        texts
    }

    /// Whether a place is in a header that a translation has brought along.
    pub(super) fn is_ours(&self, span: Span) -> bool {
        self.locator.locate(span).is_some_and(|it| is_our_header(&it.file))
    }

    /// The files of the program that are not the system's, nor ours.
    fn files(&self) -> Vec<(Arc<str>, Rc<[u8]>)> {
        let mut names: Vec<Arc<str>> = Vec::new();
        let spans = self.program.functions.iter().map(|it| it.1.span);
        let spans = spans.chain(self.program.vars.iter().map(|it| it.1.span));
        let spans = spans.chain(self.program.regions.iter().map(|it| it.1.span));
        for span in spans {
            let Some(at) = self.locator.locate(span) else { continue };
            if !at.in_system_header && !is_our_header(&at.file) && !names.contains(&at.file) {
                names.push(at.file);
            }
        }
        names
            .into_iter()
            .filter_map(|it| {
                let text = self.locator.written(&it)?;
                Some((it, text))
            })
            .collect()
    }

    /// Whether a file of the program includes one of these headers, or ours.
    pub(super) fn includes(&self, headers: &[&str]) -> bool {
        let names = headers.iter().map(|it| it.trim_matches(['<', '>']));
        let names: Vec<&str> =
            names.chain([directive::TRANSLATION_HEADER, directive::BACK_HEADER]).collect();
        self.files().iter().any(|(_, text)| names.iter().any(|it| contains(text, it.as_bytes())))
    }

    /// Writes a call anew, if its text stands in a file: what was asked for, on one line.
    pub(super) fn rewrite_call(
        &mut self,
        span: Span,
        name: &str,
        count: usize,
        made: &directive::Rewritten,
    ) -> Option<String> {
        let spot = self.spot(span)?;
        if spot.text.get(spot.range.clone()) != Some(name.as_bytes()) {
            return None;
        }
        let parts = super::api::parts(&spot.text, spot.range.end)?;
        (parts.arguments.len() == count).then_some(())?;
        let written = |range: Range<usize>| {
            String::from_utf8_lossy(spot.text.get(range).unwrap_or_default()).into_owned()
        };
        let whole = spot.range.start..parts.end;
        let (head, kept, tail) = match made {
            directive::Rewritten::Call { head, kept, tail } => (*head, *kept, *tail),
            directive::Rewritten::Nothing => ("(void)0", 0, ""),
        };
        let kept = parts.arguments.get(..kept)?;
        match (kept.first(), kept.last()) {
            (Some(first), Some(last)) => {
                self.change(&spot.file, whole.start..first.start, head.to_owned());
                self.change(&spot.file, last.end..whole.end, tail.to_owned());
                Some(one_line(&format!("{head}{}{tail}", written(first.start..last.end))))
            }
            _ => {
                self.change(&spot.file, whole, format!("{head}{tail}"));
                Some(format!("{head}{tail}"))
            }
        }
    }

    /// Exchanges the beginning of a literal that stands in a file.
    pub(super) fn rename(&mut self, span: Span, old: &str, new: &str) -> bool {
        let Some(spot) = self.spot(span) else { return false };
        let start = spot.range.start + 1;
        let is_it = spot.text.get(start..start + old.len()) == Some(old.as_bytes());
        if is_it {
            self.change(&spot.file, start..start + old.len(), new.to_owned());
        }
        is_it
    }

    /// Whether something of the runtime that is left is still named once all changes are made.
    fn still_names(&self, of_levels: bool) -> bool {
        self.files().iter().any(|(file, text)| {
            let mut edits = Edits::new();
            for it in self.made.changes.get(file).into_iter().flatten() {
                if edits.replace(it.range.clone(), it.text.clone()).is_err() {
                    return true;
                }
            }
            edits.apply(text).map_or(true, |it| directive::names_runtime(&it, of_levels))
        })
    }

    /// Exchanges lines of the preprocessor: the header of the standard that is left for ours, and what its
    /// macro guards holds for the other standard too. `changes` answers where in a line, what goes, what
    /// comes. A program that names nothing of the runtime that is left gets the `plain` header of the other.
    /// What headers of the user's include is for other programs too.
    pub(super) fn exchange_headers(
        &mut self,
        changes: fn(&str) -> Vec<(usize, String, String)>,
        header: &str,
        plain: &str,
    ) {
        let of_levels = self.request.to != directive::DESCRIPTIVE;
        // A program that has nothing to translate stays as it is.
        if self.made.records.is_empty() && self.shared.is_empty() {
            return;
        }
        for (file, text) in self.files() {
            if let Some((at, name)) = directive::value_of_macro(&text, of_levels) {
                let line = 1 + text
                    .get(..at)
                    .unwrap_or_default()
                    .iter()
                    .filter(|it| **it == b'\n')
                    .count();
                let text = format!("{file}:{line}: the value of `{name}` has no counterpart there");
                let code = Some(codes::NO_COUNTERPART);
                let remark = Remark { fate: Fate::Refused, clause: None, code, text };
                self.record(
                    Target::Directive(Span::NONE),
                    name.to_owned(),
                    Vec::new(),
                    vec![remark],
                );
            }
        }
        let is_free = self.users.is_empty() && !self.still_names(of_levels);
        for (file, text) in self.files() {
            let mut start = 0usize;
            for line in text.split_inclusive(|it| *it == b'\n') {
                if self.is_guard(&text, start) {
                    start += line.len();
                    continue;
                }
                for (at, old, new) in changes(&String::from_utf8_lossy(line)) {
                    // Ours serves the readers of both.
                    if self.request.keep == Keep::Guard && is_our_header(old.trim_matches('"')) {
                        continue;
                    }
                    let range = start + at..start + at + old.len();
                    let (is_include, is_shared) = (new.contains(header), file.ends_with(".h"));
                    let is_plain = is_include && is_free && !is_shared;
                    let new = if is_plain { plain.to_owned() } else { new };
                    if is_include && !is_plain {
                        self.includes_header();
                    }
                    self.change(&file, range, new.clone());
                    let remarks = vec![Remark {
                        fate: Fate::Translated,
                        clause: None,
                        code: None,
                        text: "outside of directives".to_owned(),
                    }];
                    self.record(Target::Directive(Span::NONE), old, vec![new], remarks);
                }
                start += line.len();
            }
        }
    }

    /// Whether a line is a condition that has kept a directive for its own compilers.
    fn is_guard(&self, text: &[u8], start: usize) -> bool {
        let mut lines = text.get(start..).unwrap_or_default().split(|it| *it == b'\n');
        let line = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
        let next = lines.next().unwrap_or_default().trim_ascii_start();
        let keeps = self.request.keep == Keep::Guard
            && line.trim_start().starts_with("#ifdef ")
            && next.starts_with(b"#pragma");
        keeps || line.contains(directive::TRANSLATED)
    }

    /// Whether what comes before a loop stands there already, for those who do not read the old directives.
    fn has_guarded_extra(&self, spot: &Spot) -> bool {
        let before = spot.text.get(..spot.range.start).unwrap_or_default();
        let mut lines = before.rsplit(|it| *it == b'\n').map(<[u8]>::trim_ascii);
        let ends = lines.by_ref().find(|it| !it.is_empty()) == Some(b"#endif");
        let opens = lines.find(|it| it.starts_with(b"#if")).unwrap_or_default();
        ends && contains(opens, directive::TRANSLATED.as_bytes())
    }

    /// Whether a directive stands alone between a condition that keeps it and the one that has its translation.
    fn is_guarded(&self, spot: &Spot) -> bool {
        let text = &spot.text;
        let start = logical_line(text, spot.range.start);
        let before = text.get(..start.saturating_sub(1)).unwrap_or_default();
        let before = before.rsplit(|it| *it == b'\n').next().unwrap_or_default().trim_ascii();
        let behind = text.get(spot.range.end..).unwrap_or_default();
        let mut behind = behind.split(|it| *it == b'\n').skip(1);
        let behind = behind.next().unwrap_or_default().trim_ascii();
        let standard = guard_macro(&spot.words());
        before == format!("#ifdef {standard}").as_bytes()
            && (behind == b"#else" || behind == b"#endif")
    }

    /// Whether compilers of the standard that is left read the result too.
    pub(super) fn keeps_calls(&self) -> bool {
        self.request.keep == Keep::Guard
    }

    /// Whether the user has a macro of this name.
    pub(super) fn defines(&self, name: &str) -> bool {
        let names = self.names.get_or_init(|| {
            self.files().iter().flat_map(|it| defined(&it.1)).collect::<FxHashSet<String>>()
        });
        names.contains(name)
    }

    /// A word of the new directives that is a macro of the user's.
    fn clash(&self, spot: &Spot, lines: &[String]) -> Option<String> {
        let old = spot.words();
        let old = pieces(&old);
        let mut words = lines.iter().filter(|it| it.starts_with('#')).flat_map(|it| keywords(it));
        words.find(|it| !old.contains(it) && self.defines(it)).map(str::to_owned)
    }

    fn includes_header(&mut self) {
        self.made.needs_header = true;
        self.is_included = true;
    }
}
