//! What a loop gets, given what is around it.

use ir::construct::LoopTrust;
use ir::program::{Level, RegionId};

use super::asked::Asked;
use super::compute::{Crew, Region};
use super::{Pass, effects};

/// Who runs the iterations of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// The threads that are there; in lanes each, if so.
    Threads { lanes: bool },
    /// Threads that are started for it.
    NewThreads { lanes: bool },
    /// Teams that are counted, several to a thread: each computes its share.
    Teams,
    /// Lanes of the one thread that meets it.
    Lanes,
    /// The one thread that meets it, in order.
    InOrder(Why),
}

/// Why a loop runs in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// The user says so.
    Asked,
    /// Nobody has shown that it may be otherwise.
    Unproven,
    /// Its bounds and steps are not known before it begins.
    Form,
    /// The construct runs it on one thread.
    Serial,
    /// A loop around it has the threads, and its body is not for lanes.
    Inside,
    /// It is run by each team, as a whole.
    EachTeam,
    /// Its iterations leave values in variables that they share.
    SharedScalar,
}

impl How {
    /// Whether somebody shares its iterations with others.
    pub(super) fn is_dealt(self) -> bool {
        match self {
            How::Threads { .. } | How::NewThreads { .. } | How::Teams => true,
            How::Lanes | How::InOrder(_) => false,
        }
    }

    pub(super) fn text(self) -> &'static str {
        match self {
            How::Threads { lanes: false } | How::NewThreads { lanes: false } => "threads",
            How::Threads { lanes: true } | How::NewThreads { lanes: true } => "threads and lanes",
            How::Teams => "teams, dealt to threads",
            How::Lanes => "lanes",
            How::InOrder(Why::Asked) => "in order, as asked",
            How::InOrder(Why::Unproven) => "in order",
            How::InOrder(Why::Form) => {
                "in order: its iterations cannot be counted before it begins"
            }
            How::InOrder(Why::Serial) => "in order: the construct runs on one thread",
            How::InOrder(Why::Inside) => "in order: the threads are busy with a loop around it",
            How::InOrder(Why::EachTeam) => "in order, by each team",
            How::InOrder(Why::SharedScalar) => {
                "in order: iterations assign to a variable that they share"
            }
        }
    }
}

impl Pass<'_> {
    /// What a loop inside (or of) a construct that leaves the host gets.
    pub(super) fn choose(&self, region: &Region, id: RegionId) -> How {
        let program = self.program();
        let it = &program.regions[id];
        let asked = Asked::of(&it.construct);
        let trust = match (asked.seq, asked.auto, asked.independent) {
            (true, ..) => LoopTrust::Sequential,
            (_, true, _) => LoopTrust::Prove,
            (.., true) => LoopTrust::Independent,
            _ if region.proves => LoopTrust::Prove,
            _ => LoopTrust::Independent,
        };
        match trust {
            LoopTrust::Sequential => return How::InOrder(Why::Asked),
            LoopTrust::Prove => {
                let is_shown = match region.crew {
                    Crew::One => self.is_proven(id),
                    Crew::Serial | Crew::Threads | Crew::Counted => self.is_shown(id),
                };
                if !is_shown {
                    return How::InOrder(Why::Unproven);
                }
            }
            LoopTrust::Independent | LoopTrust::NotApplicable if self.is_denied(id) => {
                return How::InOrder(Why::Unproven);
            }
            LoopTrust::Independent | LoopTrust::NotApplicable => {}
        }
        if it.loops.is_empty() {
            return How::InOrder(Why::Form);
        }
        let lanes = self.fits_lanes(id);
        let in_thread = |why: Why| if lanes { How::Lanes } else { How::InOrder(why) };
        let around = self.around(region, id);
        if around.iter().any(|it| it.1 == How::Lanes) {
            return How::InOrder(Why::Inside);
        }
        let is_within = around.iter().any(|it| it.1.is_dealt());
        if is_within {
            // Teams of several dimensions share several loops.
            if region.crew == Crew::Counted && asked.dim.is_some() {
                return How::Teams;
            }
            return in_thread(Why::Inside);
        }
        match region.crew {
            Crew::Serial => How::InOrder(Why::Serial),
            Crew::Threads | Crew::Counted if !self.is_for_teams(region, id, &asked) => {
                in_thread(Why::EachTeam)
            }
            Crew::Threads => How::Threads { lanes },
            Crew::Counted => How::Teams,
            // The copies of a construct that is its own loop are one per thread.
            Crew::One if id == region.id && !region.proves => How::NewThreads { lanes },
            Crew::One if self.assigns_shared(id) => How::InOrder(Why::SharedScalar),
            Crew::One if !region.proves && self.has_rounded_sums(id) => {
                How::InOrder(Why::SharedScalar)
            }
            Crew::One => How::NewThreads { lanes },
        }
    }

    /// The same with lanes, if what its proof gave it makes it fit for them.
    pub(super) fn with_lanes(&self, id: RegionId, how: How) -> How {
        match how {
            How::NewThreads { .. } => {
                let is_shown = self.is_proven(id)
                    && !self.is_without_lanes(id)
                    && effects::is_for_lanes(self.program(), id);
                How::NewThreads { lanes: is_shown || self.fits_lanes(id) }
            }
            How::Threads { .. } | How::Teams | How::Lanes | How::InOrder(_) => how,
        }
    }

    /// Loops around a loop, inside the construct that leaves the host.
    pub(super) fn around(&self, region: &Region, id: RegionId) -> Vec<(RegionId, How)> {
        let regions = &self.program().regions;
        let up = |it: RegionId| if it == region.id { None } else { regions[it].parent };
        let ancestors = std::iter::successors(up(id), |it| up(*it));
        ancestors.filter_map(|it| Some((it, *region.chosen.get(&it)?))).collect()
    }

    /// Whether the iterations of a loop go to teams: by its own word, or because it is the outermost
    /// and none inside claims them, whatever else it asks for.
    pub(super) fn is_for_teams(&self, region: &Region, id: RegionId, asked: &Asked) -> bool {
        if asked.teams {
            return true;
        }
        !region.loops.iter().any(|it| {
            *it != id
                && self.inside(id).contains(it)
                && Asked::of(&self.program().regions[*it].construct).teams
        })
    }

    /// A loop that stands alone in a function which device code calls.
    pub(super) fn orphan(&mut self, id: RegionId) {
        let program = self.program();
        let it = &program.regions[id];
        let asked = Asked::of(&it.construct);
        let level = program.functions[it.function].device.level;
        let is_outer = !program.around(id).skip(1).any(|it| self.done.contains(&it));
        let how = if asked.seq {
            How::InOrder(Why::Asked)
        } else if asked.auto {
            How::InOrder(Why::Unproven)
        } else if it.loops.is_empty() {
            How::InOrder(Why::Form)
        } else if level == Some(Level::Team) && is_outer && (asked.teams || asked.is_open()) {
            How::Teams
        } else if asked.lanes && effects::is_for_lanes(program, id) {
            How::Lanes
        } else {
            How::InOrder(Why::Inside)
        };
        if how.is_dealt() {
            self.done.insert(id);
        }
        self.restate_loop(None, id, how);
    }
}
