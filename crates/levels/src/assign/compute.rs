//! Constructs that leave the host: who runs them.
//!
//! A construct with loops for teams is run by the threads of the device, each a team. Where the user
//! says how many teams there are and that can be seen, exactly so many are counted and dealt to the
//! threads. Without loops for teams one team is enough.

use ir::construct::{ClauseKind, Leaf};
use ir::program::{ExprId, ExprKind, Level, Program, RegionId, StmtId, StmtKind};
use ir::region::{Attribute, Mapping, Sharing};
use rustc_hash::{FxHashMap, FxHashSet};

use super::asked::Asked;
use super::choose::{How, Why};
use super::proof::{Judged, only_statement};
use super::{About, Machine, Note, Pass, effects};

/// Who runs a construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Crew {
    /// One thread, loops included.
    Serial,
    /// One thread, which starts others for loops.
    One,
    /// All threads, each a team.
    Threads,
    /// As many teams as the user says, dealt to threads.
    Counted,
}

/// A construct that leaves the host, while its loops are decided on.
#[derive(Debug)]
pub(super) struct Region {
    pub(super) id: RegionId,
    pub(super) crew: Crew,
    /// Independence is not taken for granted.
    pub(super) proves: bool,
    /// A loop that teams share is all that others see of it: no team waits for what another one does.
    pub(super) is_one_loop: bool,
    /// Its loops, outer ones first; itself among them if it is one.
    pub(super) loops: Vec<RegionId>,
    pub(super) chosen: FxHashMap<RegionId, How>,
}

impl Pass<'_> {
    pub(super) fn compute(&mut self, id: RegionId) {
        let inside = self.inside(id);
        let program = self.program();
        let construct = &program.regions[id].construct;
        let is_loop = |it: &RegionId| {
            let construct = &program.regions[*it].construct;
            construct.has(Leaf::Loop) && construct.dialect != directive::HOST_DIALECT
        };
        let loops: Vec<RegionId> =
            std::iter::once(id).chain(inside).filter(|it| is_loop(it)).collect();
        let mut region = Region {
            id,
            crew: Crew::Serial,
            proves: construct.has(Leaf::Kernels),
            is_one_loop: false,
            loops,
            chosen: FxHashMap::default(),
        };
        self.own_pointers(id);
        self.imply_data(id);
        self.judge(&region);
        region.crew = self.crew(&region);
        region.is_one_loop = region.crew == Crew::Threads && self.is_one_loop(&region);
        for at in region.loops.clone() {
            let how = self.choose(&region, at);
            if region.crew != Crew::Serial && self.is_vouched(&region, at) {
                self.warn_refuted(at);
            }
            if matches!(how, How::NewThreads { .. }) || region.proves && how.is_dealt() {
                self.keep_terms(at);
            }
            let how = self.with_lanes(at, how);
            region.chosen.insert(at, how);
            self.done.insert(at);
        }
        if self.machine == Machine::League {
            self.share_inside(&mut region);
        }
        for at in region.loops.clone() {
            let Some(how) = region.chosen.get(&at).copied() else { continue };
            self.note(id, at, how);
            // What a loop inside of one that is dealt sums up is for who runs that iteration.
            let is_within = self.around(&region, at).iter().any(|it| it.1.is_dealt());
            if how == How::Teams || how.is_dealt() && !is_within {
                self.bring_sums(&region, at);
            }
            if at != id {
                self.restate_loop(Some(&region), at, how);
            }
        }
        if region.proves && !region.chosen.get(&id).is_some_and(|it| it.is_dealt()) {
            self.unmarked(&region);
        }
        self.restate_compute(&region);
    }

    /// Pointers that come as arguments are each team's own, like all that comes so, wherever they lead.
    fn own_pointers(&mut self, id: RegionId) {
        let region = &mut self.leveled.program.regions[id];
        if !region.construct.rules.copies_per_team {
            return;
        }
        for var in &mut region.vars {
            let mapping = var.mappings.iter().find(|it| it.value == Mapping::PointerToMapped);
            let is_shared = var.sharing.as_ref().is_some_and(|it| it.value == Sharing::Shared);
            if let (Some(it), true) = (mapping, is_shared) {
                var.sharing = Some(Attribute { value: Sharing::FirstPrivate, origin: it.origin });
            }
        }
    }

    fn crew(&self, region: &Region) -> Crew {
        let program = self.program();
        let construct = &program.regions[region.id].construct;
        if construct.has(Leaf::Kernels) {
            return if self.is_for_league(region) { Crew::Threads } else { Crew::One };
        }
        if !construct.has(Leaf::Teams) {
            return Crew::Serial;
        }

        if construct.has(Leaf::Loop) {
            // All its effects are those of its loop, and that is run once.
            let asked = Asked::of(construct);
            let is_unknown = asked.auto && !self.is_shown(region.id) || self.is_denied(region.id);
            return match asked.seq || is_unknown || !self.is_for_teams(region, region.id, &asked) {
                true => Crew::One,
                false => Crew::Threads,
            };
        }
        let calls_teams = program.regions[region.id]
            .reaches
            .iter()
            .any(|it| program.functions[*it].device.level == Some(Level::Team));
        if calls_teams {
            // What functions do with their teams is theirs to know: one is right for all of them.
            return match counts(program, region.id) {
                _ if self.machine == Machine::League => Crew::Counted,
                None => Crew::One,
                Some([one]) if is_one(program, *one) => Crew::One,
                Some(_) => Crew::Counted,
            };
        }
        let dealt = self.for_teams(region);
        // What is to be done in order is to be done once, not by every team.
        let is_shared = |it: &RegionId| {
            let up = program.around(*it);
            up.take_while(|it| *it != region.id).any(|it| dealt.contains(&it))
        };
        if region.loops.iter().any(|it| self.is_denied(*it) && !is_shared(it)) {
            return Crew::One;
        }
        // What stands between loops for several dimensions of teams is run by many of them.
        let innermost = |it: &&RegionId| {
            let inside = self.inside(**it);
            !inside.iter().any(|it| Asked::of(&program.regions[*it].construct).teams)
        };
        let innermost: FxHashSet<RegionId> = match counts(program, region.id) {
            Some([_, _, ..]) => {
                self.teams_asked(region).iter().filter(innermost).copied().collect()
            }
            _ => dealt.clone(),
        };
        match counts(program, region.id) {
            // What every team would do as well is done once, as by one of them.
            None if dealt.is_empty()
                || !effects::is_quiet_around(program, region.id, &innermost) =>
            {
                Crew::One
            }
            None => Crew::Threads,
            Some([one]) if is_one(program, *one) => Crew::One,
            Some(_) if effects::is_quiet(program, region.id, &innermost) => {
                match dealt.is_empty() {
                    true => Crew::One,
                    false => Crew::Threads,
                }
            }
            Some(_) => Crew::Counted,
        }
    }

    /// Whether one loop is all that a construct has, and teams may share it: none of them has to wait for another then.
    fn is_for_league(&self, region: &Region) -> bool {
        let Some(id) = self.only_loop(region) else { return false };
        let asked = Asked::of(&self.program().regions[id].construct);
        let is_trusted = asked.independent && !asked.auto || self.is_shown(id);
        self.machine == Machine::League
            && self.is_ours
            && is_trusted
            && !asked.seq
            && !self.is_denied(id)
            && !self.assigns_shared(id)
            && !self.program().regions[id].loops.is_empty()
            && self.is_for_teams(region, id, &asked)
    }

    /// Whether one loop that teams share is all that others see of a construct, and is run once.
    fn is_one_loop(&self, region: &Region) -> bool {
        let program = self.program();
        if region.proves {
            return self.only_loop(region).is_some();
        }
        let shared = self.for_teams(region);
        let mut loops = shared.iter();
        let (Some(only), None) = (loops.next(), loops.next()) else { return false };
        let Some(body) = program.regions[region.id].body else { return false };
        *only == region.id
            || stands_in(program, body, *only)
                && effects::is_quiet_around(program, region.id, &shared)
    }

    /// The loop that is all of a construct's code.
    fn only_loop(&self, region: &Region) -> Option<RegionId> {
        let program = self.program();
        let construct = &program.regions[region.id];
        if construct.construct.has(Leaf::Loop) {
            return Some(region.id);
        }
        let at = only_statement(program, construct.body?)?;
        let StmtKind::Region(id) = &program.stmts[at].kind else { return None };
        region.loops.contains(id).then_some(*id)
    }

    /// The loops that teams share, if there are any.
    fn for_teams(&self, region: &Region) -> FxHashSet<RegionId> {
        let regions = &self.program().regions;
        let mut dealt: FxHashSet<RegionId> = FxHashSet::default();
        for id in &region.loops {
            let asked = Asked::of(&regions[*id].construct);
            let up = self.program().around(*id).skip(1);
            let is_inner = up.take_while(|it| *it != region.id).any(|it| dealt.contains(&it));
            let is_unknown = asked.auto && !self.is_shown(*id) || self.is_denied(*id);
            let may = !asked.seq && !is_unknown && !regions[*id].loops.is_empty();
            if may && !is_inner && self.is_for_teams(region, *id, &asked) {
                dealt.insert(*id);
            }
        }
        dealt
    }

    /// Whether a loop that threads share as they are is shown to be independent: what it sums up
    /// would need a clause.
    pub(super) fn is_shown(&self, id: RegionId) -> bool {
        let Some(Judged::Proven(terms)) = self.judged.get(&id) else { return false };
        let clauses = self.program().regions[id].construct.kinds();
        let mut sums = clauses.filter(|it| matches!(it, ClauseKind::Reduction(_)));
        !terms.has_sums() || sums.next().is_some()
    }

    /// Loops that name teams.
    fn teams_asked(&self, region: &Region) -> Vec<RegionId> {
        let regions = &self.program().regions;
        let is_asked = |it: &&RegionId| Asked::of(&regions[**it].construct).teams;
        region.loops.iter().filter(is_asked).copied().collect()
    }

    fn note(&mut self, region: RegionId, id: RegionId, how: How) {
        let program = self.program();
        let it = &program.regions[id];
        let names: Vec<&str> = it
            .loops
            .iter()
            .map(|it| program.vars[it.var].name.map_or("", |it| program.names.text(it)))
            .collect();
        let names = if names.is_empty() { "loop".to_owned() } else { names.join(", ") };
        let (because, at) = match (how, self.judged.get(&id)) {
            (
                How::InOrder(Why::Unproven),
                Some(Judged::Unproven(why, at) | Judged::Denied(why, at)),
            ) => (format!(": {why}"), *at),
            (How::InOrder(Why::Unproven), Some(Judged::Refuted(why, _, at))) => {
                (format!(": {why}"), Some(*at))
            }
            _ => (String::new(), None),
        };
        let implied = match how {
            How::Threads { .. } | How::NewThreads { .. } | How::Teams
                if self.written.implies_teams(id) =>
            {
                "; gangs share it too: that is implied"
            }
            _ => "",
        };
        let note = Note {
            about: About::Loop,
            region: program.regions[region].construct.span,
            span: it.loops.first().map_or(it.span, |it| it.span),
            text: format!("{names}: {}{because}{implied}", how.text()),
            at,
        };
        self.leveled.notes.push(note);
    }
}

/// Whether a region is among the statements of a block, and under no condition.
fn stands_in(program: &Program, at: StmtId, id: RegionId) -> bool {
    match &program.stmts[at].kind {
        StmtKind::Region(it) => *it == id,
        StmtKind::Block(list) => list.iter().any(|it| stands_in(program, *it, id)),
        _ => false,
    }
}

/// How many teams the user asks for, per dimension.
pub fn counts(program: &Program, id: RegionId) -> Option<&[ExprId]> {
    program.regions[id].construct.kinds().find_map(|it| match it {
        ClauseKind::NumTeams { counts, .. } => Some(counts.as_slice()),
        _ => None,
    })
}

fn is_one(program: &Program, id: ExprId) -> bool {
    match program.exprs[id].kind {
        ExprKind::Int(value) => value == 1,
        ExprKind::Cast(_, inner) => is_one(program, inner),
        _ => false,
    }
}
