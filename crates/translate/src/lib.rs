//! Directives of one standard become directives of the other, in the user's own text.
//!
//! In: a checked program, the places of its directives in the files as written, and a [`Profile`] of the
//! compiler that will read the result. Out: edits of those files, and a [`Record`] for each directive
//! that says what became of it and of each of its clauses: translated, redundant, approximated or
//! refused. Nothing is dropped in silence: what has no counterpart is refused by name.
//!
//! Both standards have rules for what no clause says. Meaning is translated, not words: what a rule
//! of the one standard gives is written out where the other has no such rule, and left out where it
//! has ([`league`] for what leaves the host, [`data`] for the rest).
#![allow(clippy::wildcard_enum_match_arm, reason = "a rule names the clauses it is about")]

mod api;
mod calls;
mod codes;
mod copies;
mod data;
mod declared;
mod descriptive;
mod gathered;
mod league;
mod made;
mod maps;
mod nests;
mod order;
mod own;
mod place;
mod profile;
mod rows;
mod spot;
mod words;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use ir::construct::{Args, Clause, ClauseKind, Construct, Dialect, Leaf, Rules, Spelled};
use ir::program::{Program, RegionId};
use opt::decisions::{Decision, Decisions};
use source::{Diagnostics, Locator, Span};

use levels::Leveled;
use levels::mapping::Mapping;
use levels::reshape::{self, Reshaped};
use rows::Unsaid;

pub use profile::{PROFILES, Profile, Reads, profile};

/// What a translation is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The standard to write.
    pub to: Dialect,
    /// Who will read the result.
    pub profile: &'static Profile,
    /// What becomes of the directives that are translated.
    pub keep: Keep,
    /// How far directives are believed that say that iterations are independent.
    pub trust: opt::marks::Trust,
    /// Queues become dependences; otherwise what is queued is done at once.
    pub queues: bool,
}

/// A device for which loops are mapped anew, and what that rests on.
#[derive(Clone, Debug)]
pub struct Optimize<'a> {
    /// The device.
    pub profile: &'a opt::profile::Profile,
    /// What marks of loops rest on.
    pub marks: opt::marks::Options,
    /// What was decided before, if that is kept.
    pub decisions: Option<&'a Decisions>,
    /// The preprocessed text, and where it begins.
    pub text: (&'a [u8], u32),
}

/// What becomes of a directive that has been translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// It is replaced.
    Nothing,
    /// It stays as a comment.
    Comment,
    /// It stays for compilers of its own standard.
    Guard,
}

/// What became of a directive or clause, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// It is said in the other standard's words.
    Translated,
    /// The other standard means it anyway.
    Redundant,
    /// Something like it is said; the remark tells the difference.
    Approximated,
    /// It stays as it was: there is no counterpart.
    Refused,
}

impl Fate {
    /// For reports.
    pub fn word(self) -> &'static str {
        match self {
            Fate::Translated => "translated",
            Fate::Redundant => "redundant",
            Fate::Approximated => "approximated",
            Fate::Refused => "refused",
        }
    }
}

/// What became of one clause, or what else is to be said of a directive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// What became of it.
    pub fate: Fate,
    /// The clause as written, where it is about one.
    pub clause: Option<String>,
    /// The kind of remark; none where nothing is to be said.
    pub code: Option<&'static str>,
    /// What a user should know.
    pub text: String,
}

/// What became of one directive, or of one call.
#[derive(Clone, Debug)]
pub struct Record {
    /// Where it stands.
    pub span: Span,
    /// As written.
    pub from: String,
    /// What stands there now, line by line; as written if it is refused.
    pub to: Vec<String>,
    /// The worst of all remarks.
    pub fate: Fate,
    /// What became of its parts.
    pub remarks: Vec<Remark>,
}

/// A change of a written file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The bytes that go; none for what comes in between.
    pub range: Range<usize>,
    /// What comes.
    pub text: String,
}

/// The result.
#[derive(Debug, Default)]
pub struct Translation {
    /// Changes, by written file.
    pub changes: BTreeMap<Arc<str>, Vec<Change>>,
    /// What became of each directive, in the order of the text.
    pub records: Vec<Record>,
    /// Where directives begin that were looked at, by written file.
    pub seen: BTreeMap<Arc<str>, Vec<usize>>,
    /// The code that directives are about, by written file.
    pub bodies: BTreeMap<Arc<str>, Vec<Range<usize>>>,
    /// Whether the result includes our header.
    pub needs_header: bool,
    /// The mapping of each nest by its name, if decisions are kept.
    pub decisions: Vec<(String, Decision)>,
    /// What is wrong with decisions that are kept.
    pub faults: Diagnostics,
    /// Macros that make directives.
    pub macros: Macros,
}

/// Macros that make directives, and where they do.
#[derive(Debug, Default)]
pub struct Macros {
    /// Those whose definitions have changed: what they make is changed wherever they are used.
    pub changed: Vec<String>,
    /// Those that make a directive of what they are given.
    pub helpers: Vec<String>,
    /// Where their names stand that were looked at, by written file.
    pub uses: BTreeMap<Arc<str>, Vec<usize>>,
}

/// Translates the directives of a program.
pub fn translate(
    program: &Program,
    locator: &Locator<'_>,
    request: &Request,
    optimize: Option<&Optimize<'_>>,
) -> Translation {
    let to_levels = request.to == directive::DESCRIPTIVE;
    let reshaped = optimize.map(|it| reshaped(program, locator, request, it));
    let shaped = reshaped.as_ref().map_or(program, |it| &it.program);
    let none = BTreeSet::new();
    let without_lanes = reshaped.as_ref().map_or(&none, |it| &it.without_lanes);
    let mut leveled = match to_levels {
        true => None,
        false => levels::assign_league(shaped, request.trust, without_lanes),
    };
    let within = reshaped.as_ref().map(|it| it.within.clone()).unwrap_or_default();
    if let Some(leveled) = &mut leveled {
        leveled.share_inside(&within);
    }
    let made = leveled.as_ref().map_or(shaped, |it| &it.program);
    let translator = Translator {
        program,
        made,
        leveled: leveled.as_ref(),
        reshaped: reshaped.as_ref(),
        words: words::Words::new(program, made, locator),
        request,
        sequences: OnceCell::new(),
        takers: OnceCell::new(),
        uses: OnceCell::new(),
    };
    let mut pen = place::Pen::new(program, locator, request);
    pen.made.bodies = bodies(program, locator, request.to);
    if to_levels {
        descriptive::translate(&translator, shaped, locator, &mut pen);
        return finished(pen, reshaped);
    }
    let mut plans: Vec<(Target, Plan)> = Vec::new();
    for (id, region) in made.regions.iter() {
        let is_written = program.regions.find(id).is_some();
        let dialect = program.regions.find(id).map(|it| it.construct.dialect);
        let is_own = translator.is_own(id);
        if !is_own && (dialect == Some(request.to) || is_written && dialect.is_none()) {
            continue;
        }
        let plan = if is_own { translator.own_region(id) } else { translator.region(id) };
        let target = match is_written {
            true => Target::Directive(region.construct.span),
            false => Target::Loop(region.span),
        };
        plans.push((target, plan));
    }
    for (at, declaration) in program.declarations.iter().enumerate() {
        if declaration.construct.dialect != request.to {
            let plan = translator.declaration(at);
            plans.push((Target::Directive(declaration.construct.span), plan));
        }
    }
    plans.sort_by_key(|it| it.0.span().start);
    for (target, plan) in plans {
        pen.write(target, plan);
    }
    translator.calls(&mut pen);
    finished(pen, reshaped)
}

/// The code that directives of the standard that is left are about: bodies, and functions called there.
fn bodies(
    program: &Program,
    locator: &Locator<'_>,
    to: Dialect,
) -> BTreeMap<Arc<str>, Vec<Range<usize>>> {
    let mut found: BTreeMap<Arc<str>, Vec<Range<usize>>> = BTreeMap::new();
    let regions = program.regions.iter().map(|it| it.1).filter(|it| it.construct.dialect != to);
    for region in
        regions.filter(|it| it.construct.has(Leaf::Offload) || it.construct.has(Leaf::Kernels))
    {
        let called = region.reaches.iter().filter_map(|it| program.functions[*it].body);
        for body in region.body.into_iter().chain(called) {
            let place = locator.locate(program.stmts[body].span).filter(|it| !it.in_system_header);
            let Some((file, range)) = place.and_then(|it| Some((it.file, it.written?))) else {
                continue;
            };
            let list = found.entry(file).or_default();
            if !list.contains(&range) {
                list.push(range);
            }
        }
    }
    // Declarations between two directives are said one by one.
    for declaration in program.declarations.iter().filter(|it| it.construct.dialect != to) {
        let start = locator.locate(declaration.construct.span);
        let end = declaration.ended.and_then(|it| locator.locate(it));
        let Some((start, end)) = start.zip(end).filter(|it| it.0.file == it.1.file) else {
            continue;
        };
        if let Some((from, to)) = start.written.zip(end.written) {
            found.entry(start.file).or_default().push(from.end..to.start);
        }
    }
    found
}

/// The program with its nests in the shapes that suit a device.
fn reshaped(
    program: &Program,
    locator: &Locator<'_>,
    request: &Request,
    optimize: &Optimize<'_>,
) -> Reshaped {
    let mapping = Mapping {
        profile: optimize.profile,
        marks: optimize.marks.clone(),
        decisions: optimize.decisions,
        locator,
        text: optimize.text,
        blocked: None,
    };
    let words = match (request.to == directive::DESCRIPTIVE, request.profile.names_lanes) {
        (false, _) => reshape::Levels::Named,
        (true, true) => reshape::Levels::Three,
        (true, false) => reshape::Levels::Two,
    };
    let mut made = reshape::reshape(program, &mapping, words);
    made.share_inside();
    made
}

fn finished(pen: place::Pen<'_>, reshaped: Option<Reshaped>) -> Translation {
    let mut made = pen.finish();
    if let Some(reshaped) = reshaped {
        made.decisions = reshaped.decisions;
        made.faults = reshaped.faults;
    }
    made
}

/// What a plan is for.
#[derive(Clone, Copy, Debug)]
enum Target {
    /// A directive that is written.
    Directive(Span),
    /// A loop that gets one.
    Loop(Span),
}

impl Target {
    fn span(self) -> Span {
        match self {
            Target::Directive(span) | Target::Loop(span) => span,
        }
    }
}

/// What is to stand in the place of a directive.
#[derive(Debug, Default)]
struct Plan {
    /// Statements that come first; all gets braces then, if it does not stand in a block.
    first: Vec<Line>,
    /// Data of it that no clause can say.
    unsaid: Unsaid,
    /// Whether a variable is declared before: it needs braces anyway.
    declares: bool,
    /// Directives and statements; none if it goes.
    lines: Vec<Line>,
    /// Statements that come first in the body.
    inside: Vec<Line>,
    /// Statements that come last, behind the body if there is one.
    last: Vec<Line>,
    /// The body, which what comes last stands behind.
    body: Option<Span>,
    /// Whether our header is needed.
    uses_header: bool,
    /// What comes behind the declaration that the directive stands in front of.
    behind: Vec<Line>,
    /// What comes before these statements, which get braces, or before the ends of these blocks.
    before: Vec<(Place, Line)>,
    /// What became of its parts.
    remarks: Vec<Remark>,
    /// It stays in its own standard: compilers have no need of the old one beside it.
    is_own: bool,
}

impl Plan {
    fn of(construct: Construct<Spelled>) -> Plan {
        Plan { lines: vec![Line::Directive(Box::new(construct))], ..Plan::default() }
    }

    fn is_refused(&self) -> bool {
        self.remarks.iter().any(|it| it.fate == Fate::Refused)
    }

    /// Whether a directive of it says how many iterations a team takes at a time.
    fn deals_in_chunks(&self) -> bool {
        self.lines.iter().chain(&self.first).any(|it| match it {
            Line::Directive(it) => it
                .kinds()
                .any(|it| matches!(it, ClauseKind::DistSchedule(_) | ClauseKind::Schedule(_))),
            Line::Statement(_) => false,
        })
    }

    fn refused(text: impl Into<String>) -> Plan {
        let mut plan = Plan::default();
        plan.remark(Fate::Refused, Some(codes::NO_COUNTERPART), None, text);
        plan
    }

    fn remark(
        &mut self,
        fate: Fate,
        code: Option<&'static str>,
        clause: Option<String>,
        text: impl Into<String>,
    ) {
        self.remarks.push(Remark { fate, clause, code, text: text.into() });
    }
}

/// Where a line goes that does not stand in the directive's place.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Before a statement; both get braces if that does not stand in a block.
    Statement(Span),
    /// Before the brace that ends a block.
    EndOf(Span),
    /// Behind the brace that begins a block.
    StartOf(Span),
    /// Behind a statement.
    Behind(Span),
}

/// One line of what is written.
#[derive(Clone, Debug)]
enum Line {
    Directive(Box<Construct<Spelled>>),
    Statement(String),
}

struct Translator<'a> {
    /// As checked.
    program: &'a Program,
    /// With levels given to loops.
    made: &'a Program,
    leveled: Option<&'a Leveled>,
    /// With its nests in other shapes, if that is asked for.
    reshaped: Option<&'a Reshaped>,
    words: words::Words<'a>,
    request: &'a Request,
    /// Sequences of loops, found when first asked for.
    sequences: OnceCell<nests::Sequences>,
    /// Who makes the copies of loops that run in order, likewise.
    takers: OnceCell<copies::Takers>,
    /// Where variables are used, likewise.
    uses: OnceCell<copies::Uses>,
}

impl Translator<'_> {
    fn profile(&self) -> &Profile {
        self.request.profile
    }

    fn region(&self, id: RegionId) -> Plan {
        let leaves = match self.program.regions.find(id) {
            Some(it) => it.construct.leaves.as_slice(),
            // Found by analysis.
            None => {
                let mut plan = self.league_loop(id);
                self.mapped(id, &mut plan);
                return plan;
            }
        };
        let mut plan = match leaves.first() {
            Some(Leaf::Offload | Leaf::Kernels) => self.league(id),
            Some(Leaf::Loop) => self.league_loop(id),
            Some(Leaf::DataRegion) => self.data_region(id),
            Some(Leaf::EnterData) => self.enter_data(id),
            Some(Leaf::ExitData) => self.exit_data(id),
            Some(Leaf::Update) => self.update(id),
            Some(Leaf::HostData) => self.host_data(id),
            Some(Leaf::Atomic) => self.atomic(id),
            Some(Leaf::Cache) => self.hint(id),
            Some(Leaf::Wait) => self.wait(id),
            Some(Leaf::Init | Leaf::Shutdown) => self.control(id),
            Some(Leaf::Set) => self.set(id),
            _ => Plan::refused("it has no counterpart"),
        };
        if let Some(it) = self.program.regions.find(id) {
            self.say_unsaid(id, self.condition_text(&it.construct), &mut plan);
        }
        self.mapped(id, &mut plan);
        self.fates(id, &mut plan);
        plan
    }

    fn own_region(&self, id: RegionId) -> Plan {
        let mut plan = self.own(id);
        self.fates(id, &mut plan);
        plan
    }

    /// Says of each clause of which nothing has been said that it is translated.
    fn fates(&self, id: RegionId, plan: &mut Plan) {
        let Some(region) = self.program.regions.find(id) else { return };
        plan.body = region.body.map(|it| self.program.stmts[it].span);
        if plan.is_refused() {
            return;
        }
        let made = self.made.regions.find(id).map_or(&[][..], |it| &it.construct.clauses);
        let gave_way = |at: usize| made.get(at).is_some_and(|it| it.group.is_some());
        let mut said: BTreeSet<String> =
            plan.remarks.iter().filter_map(|it| it.clause.clone()).collect();
        for (at, clause) in region.construct.clauses.iter().enumerate() {
            let text = self.words.written(clause.span);
            if !said.insert(text.clone()) {
                continue;
            }
            let group = clause.group.and_then(|it| region.construct.groups.get(usize::from(it)));
            let (fate, code, why) = match &clause.kind {
                _ if group.is_some_and(|it| !it.types.is_empty()) => {
                    let why = "it is for one type of device, and the new directive for all";
                    (Fate::Approximated, Some(codes::SIZES), why)
                }
                _ if clause.group.is_none() && gave_way(at) => {
                    (Fate::Redundant, None, "the one for all other types of devices holds")
                }
                ClauseKind::Gang(parts) if !parts.is_empty() && !plan.deals_in_chunks() => {
                    let why = "how teams share the iterations is left to the compiler";
                    (Fate::Approximated, Some(codes::SIZES), why)
                }
                ClauseKind::Map(map)
                    if map.flags.close && self.request.to == directive::DESCRIPTIVE =>
                {
                    (
                        Fate::Approximated,
                        Some(codes::ADVICE),
                        "where memory lies cannot be asked for",
                    )
                }
                ClauseKind::Extension(..) => {
                    (Fate::Refused, Some(codes::NO_COUNTERPART), EXTENSION)
                }
                ClauseKind::Default(..) => (
                    Fate::Redundant,
                    None,
                    "what it asks for is said for each variable that needs it",
                ),
                _ => (Fate::Translated, None, ""),
            };
            plan.remark(fate, code, Some(text), why);
        }
    }

    /// A directive of the standard that is written.
    fn directive(&self, leaves: Vec<Leaf>, span: Span) -> Construct<Spelled> {
        Construct {
            dialect: self.request.to,
            leaves,
            args: Args::None,
            clauses: Vec::new(),
            groups: Vec::new(),
            rules: Rules::NONE,
            span,
        }
    }
}

/// What is said of clauses that no standard has.
const EXTENSION: &str = "an extension of one compiler has no counterpart";

/// A clause for the whole directive.
fn clause(kind: ClauseKind<Spelled>) -> Clause<Spelled> {
    Clause { kind, on: None, group: None, switch: None, span: Span::NONE }
}
