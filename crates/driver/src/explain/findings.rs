//! What was found of loops, in words: proven independent, or what stood in the way.

use ir::construct::Leaf;
use ir::program::{RegionId, VarId};
use opt::dependence::{Carried, DependenceKind, Fact, Finding, Obstacle, Verdict};

use super::collect::Collect;
use super::records::{AccessRecord, FindingRecord, ReductionRecord};

impl Collect<'_> {
    /// All loops of a region in which the compiler looks for parallelism; of any other region those
    /// that it marks, unless a region around it has told of them.
    pub(super) fn findings(&self, id: RegionId) -> Vec<FindingRecord> {
        let region = &self.program.regions[id];
        let seeks = |id: RegionId| self.program.regions[id].construct.has(Leaf::Kernels);
        if seeks(id) {
            return self.analysis.region(id).iter().map(|it| self.finding(it)).collect();
        }
        let mut around = region.parent;
        while let Some(outer) = around {
            if seeks(outer) {
                return Vec::new();
            }
            around = self.program.regions[outer].parent;
        }
        let examined = region.loops.iter().enumerate().map(|(depth, it)| {
            let finding = self.analysis.examine(it.stmt);
            self.finding(&Finding { depth, ..finding })
        });
        examined.collect()
    }

    fn finding(&self, it: &Finding) -> FindingRecord {
        let names = |vars: &[VarId]| vars.iter().map(|&it| self.var_name(it)).collect::<Vec<_>>();
        let mut record = FindingRecord {
            place: self.place(it.span),
            variable: it.var.map(|it| self.var_name(it)),
            depth: it.depth,
            verdict: "parallel",
            message: String::new(),
            private: Vec::new(),
            last_private: Vec::new(),
            reductions: Vec::new(),
            facts: Vec::new(),
            reason: None,
            distance: None,
            disjoint: Vec::new(),
            accesses: Vec::new(),
        };
        match &it.verdict {
            Verdict::Parallel => {
                record.private = names(&it.private);
                record.last_private = names(&it.last_private);
                let reductions = it.reductions.iter().map(|(var, op)| ReductionRecord {
                    operator: self.operator(op),
                    variable: self.var_name(*var),
                });
                record.reductions = reductions.collect();
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
                record.message = dependence(carried, &record.accesses);
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
            }
        }
        record
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
        let name = it
            .name
            .map_or_else(String::new, |name| format!(" (`{}`)", self.program.names.text(name)));
        let places: Vec<String> = record.accesses.iter().map(quoted).collect();
        let mut text = format!("not proven: {}{name}: {}", it.reason.text(), places.join(" and "));
        let pairs: Vec<String> =
            record.disjoint.iter().map(|(a, b)| format!("`{a}` and `{b}`")).collect();
        if !pairs.is_empty() {
            text += &format!("; independent if no memory is shared by {}", pairs.join(", by "));
        }
        text
    }
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
    let later = match carried.distance {
        Some(1) => "1 iteration later".to_owned(),
        Some(distance) => format!("{distance} iterations later"),
        None => "in a later iteration".to_owned(),
    };
    let mut places = accesses.iter().map(quoted);
    let (first, second) = (places.next().unwrap_or_default(), places.next().unwrap_or_default());
    format!("carried: {first} {done} {later} by {second}")
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
