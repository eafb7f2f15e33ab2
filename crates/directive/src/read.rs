//! Reads a directive by the tables of its standard: heading, arguments, clauses.
//!
//! Every fault is reported where it is, and reading goes on behind it: a bad clause does not hide
//! the next one. Only a heading that cannot be understood ends the reading.

use ir::construct::{Args, Clause, ClauseKind, Construct, DeviceGroup, Leaf, Rules};
use source::Span;
use syntax::ast::ExprId;
use syntax::pragma::Shape;
use syntax::{Parser, TokenKind};

use crate::cursor::{Read, Reader, Reported};
use crate::subscript::Numbered;
use crate::suggest::nearest;
use crate::table::{ClauseRow, DirectiveRow, Heading, Often, ReadClause, Standard};
use crate::{Written, messages};

/// Directives inside clauses may nest so deep.
const MAX_DEPTH: u32 = 16;

/// Reads the directive that stands behind the sentinel, to the end of the line.
pub(crate) fn pragma(
    parser: &mut Parser<'_>,
    standard: &'static Standard,
) -> Option<(Construct<Written>, Shape)> {
    parser.scoped(|p| {
        let what_span = p.prev_span();
        let mut reader = Reader {
            p,
            standard,
            what: standard.sentinel.to_owned(),
            what_span,
            leaves: Vec::new(),
            depth: 0,
        };
        reader.directive().ok()
    })
}

/// A clause that was read, for counting.
struct Seen {
    row: &'static ClauseRow,
    word: String,
    on: Option<Leaf>,
    group: Option<u16>,
    dimension: Option<u8>,
    span: Span,
}

/// A clause that was read.
struct Taken {
    clause: Clause<Written>,
    opens_group: bool,
    /// Its word and subscript, if it has one.
    subscript: Option<(String, u8)>,
}

/// What a clause says, with the part it is for and what may switch it off.
struct Said {
    kind: ClauseKind<Written>,
    on: Option<Leaf>,
    switch: Option<ExprId>,
}

impl Said {
    fn plain(kind: ClauseKind<Written>) -> Said {
        Said { kind, on: None, switch: None }
    }
}

impl Reader<'_, '_> {
    /// A directive: to the end of the line, or to the parenthesis that closes around it.
    pub(crate) fn directive(&mut self) -> Read<(Construct<Written>, Shape)> {
        let start = self.p.span();
        let heading = self.heading()?;
        let head_span = start.to(self.p.prev_span());
        let outer = std::mem::replace(&mut self.leaves, heading.leaves());
        let what = std::mem::replace(&mut self.what, heading.name());
        let what_span = std::mem::replace(&mut self.what_span, head_span);
        let result = self.body(&heading, start);
        self.leaves = outer;
        self.what = what;
        self.what_span = what_span;
        let construct = result?;
        let shape = heading.shape(&construct);
        Ok((construct, shape))
    }

    /// A directive inside a clause.
    pub(crate) fn nested_directive(&mut self) -> Read<Construct<Written>> {
        if self.depth == MAX_DEPTH {
            let fault = messages::nested_too_deeply(self.p.span());
            return Err(self.report(fault));
        }
        self.depth += 1;
        let result = self.directive();
        self.depth -= 1;
        Ok(result?.0)
    }

    /// The words of a directive, inside a clause that speaks of directives.
    pub(crate) fn construct_name(&mut self) -> Read<Heading> {
        self.heading()
    }

    /// One clause of another directive.
    pub(crate) fn clause_of(&mut self, heading: &Heading) -> Read<Clause<Written>> {
        let allowed = heading.clauses(self.standard);
        Ok(self.clause(heading, &allowed, None, &mut Vec::new())?.clause)
    }

    fn body(&mut self, heading: &Heading, start: Span) -> Read<Construct<Written>> {
        let head_span = self.what_span;
        let args = match heading.rows.last().and_then(|it| it.args) {
            Some(row) => self.args(heading, row.read),
            None => Ok(Args::None),
        };
        let mut construct = Construct {
            dialect: self.standard.dialect,
            leaves: heading.leaves(),
            args: Args::None,
            clauses: Vec::new(),
            groups: Vec::new(),
            rules: Rules::NONE,
            span: head_span,
        };
        let is_whole = self.clauses(heading, head_span, &mut construct) && args.is_ok();
        construct.args = args.unwrap_or(Args::None);
        construct.span = start.to(self.p.prev_span());
        construct.rules = (self.standard.rules)(&construct);
        if self.depth > 0 && !is_whole { Err(Reported) } else { Ok(construct) }
    }

    /// What stands behind the words; on a fault it is skipped, as far as it can be told from clauses.
    fn args(
        &mut self,
        heading: &Heading,
        read: fn(&mut Reader<'_, '_>) -> Read<Args<Written>>,
    ) -> Read<Args<Written>> {
        let open = self.p.span();
        if !self.p.at(TokenKind::LParen) {
            let args = read(self);
            // A word that is wrong here is not a clause as well.
            let word = self.word().to_owned();
            let is_clause = heading.clauses(self.standard).iter().any(|it| it.is_spelt(&word));
            if args.is_err() && self.p.span() == open && !is_clause && !word.is_empty() {
                self.p.bump();
            }
            return args;
        }
        let Some(close) = self.closing() else {
            let fault = messages::unclosed(&self.what, open);
            self.skip_line_after(fault);
            return Err(Reported);
        };
        let args = read(self);
        if args.is_err() {
            self.skip_to(close);
            self.p.eat(TokenKind::RParen);
        }
        args
    }

    fn skip_line_after(&mut self, fault: source::Diagnostic) {
        self.report(fault);
        self.skip_line();
    }

    // ------------------------------------------------------------ heading

    /// The words of a directive: the longest row that fits, then the rows that may follow it.
    fn heading(&mut self) -> Read<Heading> {
        let Some(first) = self.row(|_| true) else { return Err(self.no_directive()) };
        let mut heading = Heading { rows: vec![first] };
        while let Some(before) = heading.rows.last().copied()
            && !before.then.is_empty()
        {
            let standard = self.standard;
            if let Some(next) = self.row(|it| standard.may_follow(before, it)) {
                heading.rows.push(next);
                continue;
            }
            // A word that is a part of other directives, and no clause of this one.
            let word = self.word().to_owned();
            let is_clause = heading.clauses(standard).iter().any(|it| it.is_spelt(&word));
            let place = self.p.span();
            if !is_clause && let Some(wrong) = self.row(|it| is_part(standard, it)) {
                let names: Vec<&str> = standard
                    .directives
                    .iter()
                    .filter(|it| standard.may_follow(before, it))
                    .map(|it| it.name())
                    .collect();
                let fault = messages::cannot_follow(wrong.name(), &heading.name(), &names, place);
                return Err(self.report(fault));
            }
            if !is_clause && let Some(fault) = self.misspelt_part(&heading, before, place) {
                return Err(self.report(fault));
            }
            break;
        }
        Ok(heading)
    }

    /// A word that is meant as a part of the directive: nearer to one that may follow than to any clause.
    fn misspelt_part(
        &self,
        heading: &Heading,
        before: &DirectiveRow,
        place: Span,
    ) -> Option<source::Diagnostic> {
        let (word, next) = (self.word(), self.word_at(1));
        let has_arguments = self.p.peek_at(1) == TokenKind::LParen;
        if word.is_empty() || has_arguments {
            return None;
        }
        let standard = self.standard;
        let parts = standard.directives.iter().filter(|it| standard.may_follow(before, it));
        let parts: Vec<&str> = parts.flat_map(|it| it.words).copied().collect();
        // `target enter dta` begins as `target enter data`.
        let longer = standard.directives.iter().flat_map(|it| it.words);
        let rests: Vec<&str> =
            longer.filter_map(|it| it.strip_prefix(before.name())?.strip_prefix(' ')).collect();
        let clauses = heading.clauses(standard);
        let clauses: Vec<&str> = clauses.iter().map(|it| it.word).collect();
        let one = nearest(word, parts.iter().chain(&rests).chain(&clauses).copied());
        let two = format!("{word} {next}");
        let pairs =
            || parts.iter().chain(&rests).copied().filter(|it| it.matches(' ').count() == 1);
        let begins = rests.iter().any(|it| it.starts_with(&format!("{word} ")));
        let (said, near) = match one {
            _ if begins => (two.as_str(), nearest(&two, rests.iter().copied())?),
            Some(clause) if clauses.contains(&clause) => return None,
            Some(one) => (word, one),
            // `distribute paralel for`: there the part is two words, of which only one may have been said.
            None => match nearest(&two, pairs()) {
                Some(near) => (two.as_str(), near),
                None => {
                    let meant = |it: &&str| nearest(word, it.split(' ').next()).is_some();
                    (word, pairs().find(meant)?)
                }
            },
        };
        let name = heading.name();
        let (wrong, right) = (format!("{name} {said}"), format!("{name} {near}"));
        Some(messages::unknown_directive(wrong.trim_end(), standard.name, Some(&right), place))
    }

    /// Takes the words of the longest row that fits and is `wanted`.
    fn row(&mut self, wanted: impl Fn(&DirectiveRow) -> bool) -> Option<&'static DirectiveRow> {
        let mut best: Option<(usize, bool, &'static DirectiveRow)> = None;
        for row in self.standard.directives.iter().filter(|it| wanted(it)) {
            let Some(tokens) = row.words.iter().filter_map(|it| self.matches(it)).max() else {
                continue;
            };
            let next = self.word_at(tokens);
            let is_picked = row.if_followed_by.contains(&next);
            if !row.if_followed_by.is_empty() && !is_picked {
                continue;
            }
            if best.is_none_or(|(longest, picked, _)| (longest, picked) < (tokens, is_picked)) {
                best = Some((tokens, is_picked, row));
            }
        }
        let (tokens, _, row) = best?;
        for _ in 0..tokens {
            self.p.bump();
        }
        Some(row)
    }

    /// How many tokens spell `phrase` here.
    fn matches(&self, phrase: &str) -> Option<usize> {
        // `#define` is two tokens.
        let hash = usize::from(phrase.starts_with('#'));
        if hash == 1 && !self.p.at(TokenKind::Hash) {
            return None;
        }
        let mut rest = phrase.get(hash..)?;
        for tokens in hash.. {
            let word = self.word_at(tokens);
            if word.is_empty() {
                return None;
            }
            let may_join = self.standard.underscores_join && word.contains('_');
            let joined = may_join.then(|| word.replace('_', " "));
            let taken = [Some(word), joined.as_deref()].into_iter().flatten().find(|it| {
                rest.strip_prefix(it).is_some_and(|it| it.is_empty() || it.starts_with(' '))
            });
            rest = rest.get(taken?.len()..)?;
            match rest.strip_prefix(' ') {
                Some(more) => rest = more,
                None => return Some(tokens + 1),
            }
        }
        None
    }

    fn no_directive(&mut self) -> Reported {
        let place = self.p.span();
        let fault = if self.p.word().is_none() {
            messages::missing_directive(&self.what, self.standard.name, place)
        } else {
            let known: Vec<&str> =
                self.standard.directives.iter().flat_map(|it| it.words).copied().collect();
            // `enter dta` is nearer to `enter data` than `enter` to anything.
            let two = format!("{} {}", self.word(), self.word_at(1));
            let is_two = known.iter().any(|it| it.starts_with(&format!("{} ", self.word())));
            let word = if is_two { two.trim_end() } else { self.word() };
            let near = nearest(word, known.iter().copied());
            messages::unknown_directive(word, self.standard.name, near, place)
        };
        self.report(fault)
    }

    // ------------------------------------------------------------ clauses

    /// All clauses; whether none was at fault.
    fn clauses(
        &mut self,
        heading: &Heading,
        head_span: Span,
        construct: &mut Construct<Written>,
    ) -> bool {
        let allowed = heading.clauses(self.standard);
        let mut seen: Vec<Seen> = Vec::new();
        let mut numbered: Vec<Numbered> = Vec::new();
        let mut is_whole = true;
        loop {
            let had_comma = self.p.at(TokenKind::Comma);
            if had_comma && self.depth > 0 && self.is_directive_ahead(1, &allowed) {
                break;
            }
            self.p.eat(TokenKind::Comma);
            if self.p.at_end() || (self.depth > 0 && self.p.at(TokenKind::RParen)) {
                if had_comma {
                    let fault = messages::expected_clause(
                        &self.found(),
                        &heading.name(),
                        self.p.prev_span(),
                    );
                    self.report(fault);
                }
                break;
            }
            if self.depth > 0 && self.is_directive_ahead(0, &allowed) {
                break;
            }
            let last_group = construct.groups.len().checked_sub(1);
            let group = last_group.map(|it| u16::try_from(it).unwrap_or(u16::MAX));
            match self.clause(heading, &allowed, group, &mut seen) {
                Ok(Taken { clause, opens_group: true, .. }) => {
                    if let ClauseKind::DeviceTypes(types) = clause.kind {
                        construct.groups.push(DeviceGroup { types, span: clause.span });
                        seen.retain(|it| it.group.is_none());
                    }
                }
                Ok(Taken { clause, subscript: Some((word, dimension)), .. }) => {
                    numbered.push(Numbered { word, dimension, clause });
                }
                Ok(Taken { clause, .. }) => construct.clauses.push(clause),
                Err(Reported) => is_whole = false,
            }
        }
        if !numbered.is_empty() {
            self.without_subscripts(numbered, &mut construct.clauses);
        }
        let required =
            heading.rows.iter().flat_map(|row| row.required.iter().map(|it| (it, row.forgives)));
        for (needed, forgives) in required {
            let is_there =
                seen.iter().any(|it| needed.iter().any(|row| std::ptr::eq(*row, it.row)));
            if !is_there && is_whole {
                let words: Vec<&str> = needed.iter().map(|it| it.word).collect();
                let fault = if forgives {
                    messages::clause_advised(&heading.name(), &words, head_span)
                } else {
                    messages::clause_required(&heading.name(), &words, head_span)
                };
                self.report(fault);
                is_whole = forgives;
            }
        }
        is_whole
    }

    /// Whether the word `n` tokens further begins a directive and is no clause of this one.
    fn is_directive_ahead(&self, n: usize, allowed: &[&'static ClauseRow]) -> bool {
        let word = self.word_at(n);
        !word.is_empty()
            && !allowed.iter().any(|it| it.is_spelt(word))
            && !self.standard.clauses.iter().any(|it| it.is_spelt(word))
            && self
                .standard
                .directives
                .iter()
                .any(|it| it.words.iter().any(|it| it.split(' ').next() == Some(word)))
    }

    /// One clause. After a fault the reader stands behind it.
    fn clause(
        &mut self,
        heading: &Heading,
        allowed: &[&'static ClauseRow],
        group: Option<u16>,
        seen: &mut Vec<Seen>,
    ) -> Read<Taken> {
        let start = self.p.span();
        let Some(name) = self.p.word() else {
            let found = self.found();
            let fault = messages::expected_clause(&found, &heading.name(), start);
            self.report(fault);
            self.p.skip_balanced();
            return Err(Reported);
        };
        let word = self.p.text(name).to_owned();
        self.p.bump();
        let outer = (std::mem::replace(&mut self.what, word.clone()), self.what_span);
        self.what_span = start;
        let is_extension =
            self.standard.extension_prefix.is_some_and(|prefix| word.starts_with(prefix));
        let result = match allowed.iter().find(|it| it.is_spelt(&word)) {
            Some(row) if self.p.at(TokenKind::LBracket) => self
                .subscript(row)
                .and_then(|it| Ok((self.arguments(row, heading)?, Some(*row), Some(it)))),
            Some(row) => self.arguments(row, heading).map(|it| (it, Some(*row), None)),
            None if is_extension => self.extension(name).map(|it| (Said::plain(it), None, None)),
            None => Err(self.stranger(&word, heading, allowed, start)),
        };
        (self.what, self.what_span) = outer;
        let (Said { kind, on, switch }, row, dimension) = result?;
        let subscript = dimension.map(|it| (word.clone(), it));
        let span = start.to(self.p.prev_span());
        let opens_group = row.is_some_and(|it| it.opens_group);
        if let Some(row) = row {
            let now = Seen { row, word, on, group, dimension, span: start };
            if let Some(fault) = excess(&now, seen, heading) {
                self.report(fault);
            }
            if group.is_some() && !row.per_device && !opens_group {
                let fault = messages::not_per_device(&now.word, start);
                self.report(fault);
            }
            // Each kind once, so that a long line takes linear time.
            let is_new = |it: &Seen| {
                !std::ptr::eq(it.row, now.row)
                    || (it.on, it.group, it.dimension) != (now.on, now.group, now.dimension)
            };
            if seen.iter().all(is_new) {
                seen.push(now);
            }
        }
        Ok(Taken { clause: Clause { kind, on, group, switch, span }, opens_group, subscript })
    }

    fn stranger(
        &mut self,
        word: &str,
        heading: &Heading,
        allowed: &[&'static ClauseRow],
        place: Span,
    ) -> Reported {
        let words: Vec<&str> = allowed.iter().map(|it| it.word).collect();
        let known = self.standard.clauses.iter().find(|it| it.is_spelt(word));
        let fault = match known {
            Some(row) => {
                let why = (self.standard.forbids)(&heading.rows, row);
                messages::clause_not_allowed(word, &heading.name(), &words, why, place)
            }
            None => messages::unknown_clause(word, &heading.name(), &words, place),
        };
        self.report(fault);
        if self.p.at(TokenKind::LParen) {
            self.p.skip_balanced();
        }
        Reported
    }

    /// What stands behind the word of a clause.
    fn arguments(&mut self, row: &'static ClauseRow, heading: &Heading) -> Read<Said> {
        let has_parens = self.p.at(TokenKind::LParen);
        match row.read {
            ReadClause::Bare(make) => {
                if has_parens {
                    let fault = messages::takes_no_argument(&self.what, self.p.span());
                    self.report(fault);
                    self.p.skip_balanced();
                }
                Ok(Said::plain(make()))
            }
            ReadClause::Switch(bare) | ReadClause::Maybe(bare, _) if !has_parens => {
                Ok(Said::plain(bare()))
            }
            ReadClause::Switch(bare) => {
                let (on, switch) = self.in_parens(|r| Ok((r.part(heading)?, r.expr()?)))?;
                Ok(Said { kind: bare(), on, switch: Some(switch) })
            }
            ReadClause::Own(read) => Ok(Said::plain(read(self)?)),
            ReadClause::Args(_) if !has_parens => {
                let fault = messages::argument_missing(&self.what, self.what_span);
                Err(self.report(fault))
            }
            ReadClause::Args(read) | ReadClause::Maybe(_, read) => {
                let (on, kind) = self.in_parens(|r| Ok((r.part(heading)?, read(r)?)))?;
                Ok(Said { kind, on, switch: None })
            }
        }
    }

    /// Runs `read` between the parentheses that stand here; afterwards stands behind them in any
    /// case.
    fn in_parens<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let open = self.p.span();
        let Some(close) = self.closing() else {
            let fault = messages::unclosed(&self.what, open);
            self.skip_line_after(fault);
            return Err(Reported);
        };
        self.p.bump();
        let mut result = read(self);
        if result.is_ok() && self.p.span() != close {
            let fault = messages::unexpected_text(&self.found(), self.p.span(), &self.what);
            self.report(fault);
            result = Err(Reported);
        }
        self.skip_to(close);
        self.p.eat(TokenKind::RParen);
        result
    }

    /// `parallel:`, or `parallel,` before other modifiers, at the start of a clause's arguments: the
    /// part that the clause is for.
    fn part(&mut self, heading: &Heading) -> Read<Option<Leaf>> {
        if self.p.word().is_none() || !(self.standard.names_part)(&self.what, self.word()) {
            return Ok(None);
        }
        let place = self.p.span();
        let find = |row: &&'static DirectiveRow| {
            let tokens = row.words.iter().filter_map(|it| self.matches(it)).max()?;
            let separator = self.p.peek_at(tokens);
            let is_name =
                row.leaves.len() == 1 && matches!(separator, TokenKind::Colon | TokenKind::Comma);
            // In `if` nothing else can be meant; elsewhere it may be a modifier or an item.
            let is_own = row.leaves.iter().all(|it| self.leaves.contains(it));
            let is_meant = self.what == "if" || (is_own && is_part(self.standard, row));
            (is_name && is_meant).then_some((tokens, separator, *row))
        };
        let Some((tokens, separator, row)) = self.standard.directives.iter().find_map(find) else {
            return Ok(None);
        };
        if separator == TokenKind::Comma && !self.colon_ahead() {
            return Ok(None);
        }
        let leaf = row.leaves.first().copied().filter(|it| self.leaves.contains(it));
        if leaf.is_none() {
            let parts: Vec<&str> = heading.rows.iter().map(|it| it.name()).collect();
            let fault = messages::not_a_part(row.name(), &heading.name(), &parts, place);
            return Err(self.report(fault));
        }
        for _ in 0..=tokens {
            self.p.bump();
        }
        Ok(leaf)
    }

    /// A clause that only an extension knows: its name, and expressions if there are any.
    fn extension(&mut self, name: source::Name) -> Read<ClauseKind<Written>> {
        if !self.p.at(TokenKind::LParen) {
            return Ok(ClauseKind::Extension(name, None));
        }
        let args =
            self.in_parens(|r| if r.p.at(TokenKind::RParen) { Ok(Vec::new()) } else { r.exprs() })?;
        Ok(ClauseKind::Extension(name, Some(args)))
    }
}

/// Whether a row takes part in combined directives.
fn is_part(standard: &Standard, row: &DirectiveRow) -> bool {
    let first = row.leaves.first();
    !row.then.is_empty()
        || standard.directives.iter().any(|it| first.is_some_and(|leaf| it.then.contains(leaf)))
}

/// What is wrong with one clause more, if it may not stand so often.
fn excess(now: &Seen, seen: &[Seen], heading: &Heading) -> Option<source::Diagnostic> {
    // `num_gangs[0]` and `num_gangs[1]` are two clauses; beside `num_gangs` neither has a meaning.
    let differs = |it: &Seen| {
        it.dimension.is_some() && now.dimension.is_some() && it.dimension != now.dimension
    };
    let mut near = seen.iter().filter(|it| it.group == now.group && !differs(it));
    let before = near.find(|it| match now.row.often {
        Often::Any => false,
        Often::Once => std::ptr::eq(it.row, now.row),
        Often::OncePerPart => std::ptr::eq(it.row, now.row) && it.on == now.on,
        Often::OneOf(_) => it.row.often == now.row.often && it.on == now.on,
    })?;
    Some(if before.word == now.word {
        messages::clause_given_twice(&now.word, &heading.name(), before.span, now.span)
    } else {
        messages::clauses_exclude(&now.word, &before.word, before.span, now.span)
    })
}
