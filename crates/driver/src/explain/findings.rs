//! What was found of loops, in words: proven independent, taken for it, or what stood in the way.

use emit::About;
use ir::construct::Leaf;
use ir::program::{RegionId, StmtKind, VarId};
use opt::dependence::{Carried, DependenceKind, Fact, Finding, Obstacle, Reason, Verdict};
use opt::marks::{Check, LoopMark, LoopTree, No, Parallel};
use opt::shape::{self, Respect, Terms};
use source::{Diagnostic, Diagnostics, Span};

use super::collect::Collect;
use super::records::{AccessRecord, FindingRecord, MappingRecord, ReductionRecord};

/// The profile of the host's cores.
pub(super) const CORES: &str = "cpu";

impl Collect<'_> {
    /// All loops in the body of a region, unless a region around tells of them.
    pub(super) fn tree(&self, id: RegionId) -> LoopTree {
        let tells = |id: RegionId| {
            let construct = &self.program.regions[id].construct;
            !construct.leaves.iter().all(|it| matches!(it, Leaf::DataRegion | Leaf::HostData))
        };
        let parent = |it: &RegionId| self.program.regions[*it].parent;
        let mut around = std::iter::successors(parent(&id), parent);
        if !tells(id) || around.any(tells) {
            return LoopTree::default();
        }
        self.analysis.marks(id, self.marks)
    }

    /// Who would run the loops, on each device that is asked about.
    pub(super) fn mapping(&self, id: RegionId, tree: &LoopTree) -> Vec<MappingRecord> {
        let mut found = Vec::new();
        let span = self.program.regions[id].construct.span;
        let blocks = self.notes.iter().filter(|it| it.about == About::Blocks && it.region == span);
        let blocks: Vec<&str> = blocks.map(|it| it.text.as_str()).collect();
        for profile in self.profiles {
            let blocks: &[&str] = if profile.name == CORES { &blocks } else { &[] };
            let may_share_inside = blocks.is_empty();
            let terms = Terms { may_share_inside, ..Terms::all(Respect::Written, &[]) };
            for choice in shape::choose_with(self.program, tree, profile, terms) {
                let line = tree.loop_at(choice.root).map(|it| self.place(it.finding.span).line);
                found.push(MappingRecord {
                    profile: profile.name.clone(),
                    line: line.unwrap_or_default(),
                    shape: choice.shape.text(self.program, tree),
                    why: [&[choice.why.as_str()], blocks].concat().join("; "),
                });
            }
        }
        found
    }

    pub(super) fn finding(&self, mark: &LoopMark, remarks: &mut Diagnostics) -> FindingRecord {
        let it = &mark.finding;
        let names = |vars: &[VarId]| vars.iter().map(|&it| self.var_name(it)).collect::<Vec<_>>();
        let mut record = FindingRecord {
            place: self.place(it.span),
            variable: it.var.map(|it| self.var_name(it)),
            depth: it.depth,
            verdict: "parallel",
            message: String::new(),
            parallel: parallel(&mark.parallel),
            assumed: self.assumed(mark),
            trips: mark.trips.count.as_ref().map(|it| it.text(self.program)),
            private: Vec::new(),
            last_private: Vec::new(),
            reductions: Vec::new(),
            facts: Vec::new(),
            reason: None,
            distance: None,
            disjoint: Vec::new(),
            conditions: Vec::new(),
            accesses: Vec::new(),
        };
        if it.is_settled || it.is_parallel() {
            record.private = names(&it.private);
            record.last_private = names(&it.last_private);
            let reductions = it.reductions.iter().map(|(var, op)| ReductionRecord {
                operator: self.operator(op),
                variable: self.var_name(*var),
            });
            record.reductions = reductions.collect();
        }
        match &it.verdict {
            Verdict::Parallel => {
                record.facts = it.facts.iter().map(|it| self.fact(it)).collect();
                record.message = proven(&record);
            }
            Verdict::Carried(carried) => {
                record.verdict = "carried";
                record.reason = Some(match carried.kind {
                    DependenceKind::Flow => "flow",
                    DependenceKind::Anti => "anti",
                    DependenceKind::Output => "output",
                });
                record.distance = carried.distance;
                let spans = [carried.first.span, carried.second.span];
                record.accesses = spans.iter().map(|&it| self.access(it)).collect();
                record.conditions = it.apart.iter().map(|it| it.text(self.program)).collect();
                record.message = dependence(carried, &record.accesses);
                if !record.conditions.is_empty() {
                    let conditions = record.conditions.join("; and ");
                    record.message += &format!("; independent if {conditions}");
                }
                remarks.push(self.carried(mark, carried));
            }
            Verdict::Unknown(obstacle) => {
                record.verdict = "unknown";
                record.reason = Some(obstacle.reason.word());
                let spans = [Some(obstacle.span), obstacle.other];
                record.accesses = spans.into_iter().flatten().map(|it| self.access(it)).collect();
                for condition in &it.conditions {
                    let (a, b) = (condition.first.var, condition.second.var);
                    let pair = (self.var_name(a.min(b)), self.var_name(a.max(b)));
                    if !record.disjoint.contains(&pair) {
                        record.disjoint.push(pair);
                    }
                }
                record.message = self.unproven(obstacle, &record);
                remarks.push(self.unproven_loop(mark, obstacle, &record));
            }
        }
        if let Some(words) = who_says(&mark.parallel) {
            record.message = format!("{words}{}", record.message);
        }
        record
    }

    /// What this loop's verdict rests on that only the user can know.
    fn assumed(&self, mark: &LoopMark) -> Vec<String> {
        let mut found = Vec::new();
        if let Parallel::User(check) = mark.parallel
            && check != Check::Confirmed
        {
            let directives = mark.said.regions.iter().map(|it| &self.program.regions[*it]);
            let written = directives.map(|it| {
                let line = self.place(it.construct.span).line;
                format!("`{}`, line {line}", directive::directive_name(&it.construct))
            });
            let written: Vec<String> = written.collect();
            found.push(format!("iterations are independent: {}", written.join(" and ")));
        }
        for fact in &mark.finding.facts {
            match fact {
                Fact::Restrict(_) => found.push(self.fact(fact)),
                Fact::Compared(_) | Fact::PointsApart(..) => {}
            }
        }
        found
    }

    fn fact(&self, fact: &Fact) -> String {
        match fact {
            Fact::Compared(pairs) => format!("{pairs} pairs of accesses compared"),
            Fact::Restrict(var) => format!("`{}` is restrict", self.var_name(*var)),
            Fact::PointsApart(a, b) => {
                format!(
                    "`{}` and `{}` lead to different objects",
                    self.var_name(*a),
                    self.var_name(*b)
                )
            }
        }
    }

    /// `not proven: the loop may be left early: line 12, break;`
    fn unproven(&self, it: &Obstacle, record: &FindingRecord) -> String {
        let name = self.about(it);
        let places: Vec<String> = record.accesses.iter().map(quoted).collect();
        let mut text = format!("not proven: {}{name}: {}", it.reason.text(), places.join(" and "));
        let pairs = pairs(record);
        if !pairs.is_empty() {
            text += &format!("; independent if no memory is shared by {pairs}");
        }
        text
    }

    /// `` (`f`) ``
    fn about(&self, it: &Obstacle) -> String {
        let name = it.name.map(|name| format!(" (`{}`)", self.program.names.text(name)));
        name.unwrap_or_default()
    }

    /// `for (i = 0; i < n; i++`, without what is inside.
    fn head(&self, it: &Finding) -> Span {
        let StmtKind::For(parts) = &self.program.stmts[it.stmt].kind else { return it.span };
        let ends = [parts.cond, parts.step].into_iter().flatten();
        let end = ends.map(|it| self.program.exprs[it].span.end).max().unwrap_or(it.span.start);
        Span { start: it.span.start, end: end.max(it.span.start) }
    }

    /// Two accesses that meet in different iterations.
    fn carried(&self, mark: &LoopMark, it: &Carried) -> Diagnostic {
        let name = mark.name(self.program);
        let message = format!("iterations of the loop over `{name}` depend on each other");
        let (first, second) = match it.kind {
            DependenceKind::Flow => ("written here", "read here"),
            DependenceKind::Anti => ("read here", "written here"),
            DependenceKind::Output => ("written here", "written again here"),
        };
        let diagnostic = match mark.parallel {
            Parallel::User(_) | Parallel::No(No::Distrusted) => {
                Diagnostic::warning("F0902", message)
            }
            Parallel::Proved | Parallel::ProvedIf | Parallel::Ordered | Parallel::No(_) => {
                Diagnostic::info("F0902", message)
            }
        };
        let mut found = match it.first.span == it.second.span {
            true => diagnostic.at(it.first.span, format!("{first}, and {second} {}", later(it))),
            false => diagnostic
                .at(it.first.span, first)
                .label(it.second.span, format!("{second}, {}", later(it))),
        };
        found = found.label(self.head(&mark.finding), "this loop");
        if !mark.finding.apart.is_empty() {
            let conditions = mark.finding.apart.iter().map(|it| it.text(self.program));
            let conditions = conditions.collect::<Vec<_>>().join("; and ");
            found = found.help(format!(
                "they are independent if {conditions}; if you know that, say so: nothing asks it at run time"
            ));
        }
        match mark.parallel {
            Parallel::User(_) => {
                found.note("the directive says that it is independent: it is believed")
            }
            Parallel::No(No::Distrusted) => {
                found.note("the directive says that it is independent; it runs in order")
            }
            Parallel::Proved | Parallel::ProvedIf | Parallel::Ordered | Parallel::No(_) => found,
        }
    }

    /// Something that stood in the way of a proof.
    fn unproven_loop(&self, mark: &LoopMark, it: &Obstacle, record: &FindingRecord) -> Diagnostic {
        let name = mark.name(self.program);
        let message = format!("iterations of the loop over `{name}` are not proven independent");
        let other = it.other.filter(|other| *other != it.span);
        let why = match (it.reason, other) {
            (Reason::Subscript, None) => {
                "this access may reach any element, that of another iteration too".to_owned()
            }
            (reason, _) => format!("{}{}", reason.text(), self.about(it)),
        };
        let mut found = Diagnostic::info("F0903", message).at(it.span, why);
        if let Some(other) = other {
            found = found.label(other, "and this one");
        }
        // What is about the loop as a whole has no other place.
        if it.span != mark.finding.span {
            found = found.label(self.head(&mark.finding), "this loop");
        } else if let Some(primary) = &mut found.primary {
            primary.span = self.head(&mark.finding);
        }
        let pairs = pairs(record);
        if !pairs.is_empty() {
            found = found.help(format!(
                "they are independent if no memory is shared by {pairs}: `restrict`"
            ));
        }
        match mark.parallel {
            Parallel::User(_) => found.note("the directive says that they are: it is believed"),
            Parallel::Proved | Parallel::ProvedIf | Parallel::Ordered | Parallel::No(_) => found,
        }
    }
}

fn parallel(it: &Parallel) -> &'static str {
    match it {
        Parallel::Proved | Parallel::User(Check::Confirmed) => "proven",
        Parallel::ProvedIf => "if",
        Parallel::User(_) => "user",
        Parallel::Ordered => "ordered",
        Parallel::No(_) => "no",
    }
}

/// What comes before the finding.
fn who_says(it: &Parallel) -> Option<&'static str> {
    match it {
        Parallel::Proved | Parallel::ProvedIf | Parallel::No(No::Carried | No::Unknown) => None,
        Parallel::User(Check::Confirmed) => Some("the directive says so, and it is proven: "),
        Parallel::User(Check::Incomplete) => {
            Some("the directive says so, without all of these terms: ")
        }
        Parallel::User(Check::Open) => Some("the directive says that it is independent; "),
        Parallel::User(Check::Doubtful) => {
            Some("the directive says that it is independent, but it looks ")
        }
        Parallel::User(Check::Refuted) => {
            Some("the directive says that it is independent, but it is ")
        }
        Parallel::Ordered => Some("the directive wants it in order; "),
        Parallel::No(No::Rounding) => Some("in order, since sums would round otherwise; else "),
        Parallel::No(No::Distrusted) => {
            Some("the directive says that it is independent, but it runs in order: ")
        }
    }
}

/// `` `x` and `y`, by `x` and `z` ``
fn pairs(record: &FindingRecord) -> String {
    let pairs: Vec<String> =
        record.disjoint.iter().map(|(a, b)| format!("`{a}` and `{b}`")).collect();
    pairs.join(", by ")
}

/// `independent; private t; reduction + s; x is restrict`
fn proven(record: &FindingRecord) -> String {
    let mut message = "independent".to_owned();
    let counter = record.variable.as_ref();
    let own: Vec<&str> =
        record.private.iter().filter(|it| Some(*it) != counter).map(String::as_str).collect();
    if !own.is_empty() {
        message += &format!("; private {}", own.join(", "));
    }
    if !record.last_private.is_empty() {
        message += &format!("; last value of {} is used", record.last_private.join(", "));
    }
    for it in &record.reductions {
        message += &format!("; reduction {} {}", it.operator, it.variable);
    }
    message
}

/// `carried: line 12, a[i] = x, is read 1 iteration later by line 13, a[i - 1]`
fn dependence(carried: &Carried, accesses: &[AccessRecord]) -> String {
    let done = match carried.kind {
        DependenceKind::Flow => "writes what is read",
        DependenceKind::Anti => "reads what is written",
        DependenceKind::Output => "writes what is written again",
    };
    let mut places = accesses.iter().map(quoted);
    let (first, second) = (places.next().unwrap_or_default(), places.next().unwrap_or_default());
    format!("carried: {first} {done} {} by {second}", later(carried))
}

fn later(carried: &Carried) -> String {
    match carried.distance {
        Some(1) => "1 iteration later".to_owned(),
        Some(distance) => format!("{distance} iterations later"),
        None => "in a later iteration".to_owned(),
    }
}

/// `` `a[i]` (line 12, column 9) ``
fn quoted(it: &AccessRecord) -> String {
    const LONG: usize = 60;
    let mut text: String = it.text.chars().take(LONG).collect();
    if it.text.chars().count() > LONG {
        text.push('…');
    }
    format!("`{text}` (line {}, column {})", it.place.line, it.place.column)
}
