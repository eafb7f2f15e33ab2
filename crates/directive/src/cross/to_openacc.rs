//! OpenMP in the words of OpenACC.

use ir::construct::{
    Args, AtomicKind, BindLevel, Category, ClauseKind, Construct, DefaultMap, DefaultSharing,
    GangArg, Leaf, Map, MapFlags, MemoryOrder, Motion, Presence, Reduction, ReductionModifier,
    ReductionOp, Spelled, Transfer, UseDevice,
};

use super::{Restated, no_directive};
use crate::OPENACC;
use crate::write::Unwritable;

pub(super) fn restate(from: &Construct<Spelled>) -> Result<Construct<Spelled>, Unwritable> {
    let (leaves, levels) = leaves(from)?;
    let mut it = Restated::new(from, OPENACC, leaves);
    for level in levels {
        it.say(level.clause());
    }
    match &from.args {
        Args::None => {}
        Args::Items(items) if from.has(Leaf::DeclareTarget) => it.declared(items),
        _ => return Err(no_directive(from, "OpenACC has no such argument")),
    }
    for clause in &from.clauses {
        it.clause_in_openacc(&clause.kind, clause.on)?;
    }
    it.absent_data()?;
    it.deletion()?;
    Ok(it.to)
}

/// A level of parallelism that a loop is dealt to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Gang,
    Worker,
    Vector,
}

impl Level {
    fn clause(self) -> ClauseKind<Spelled> {
        match self {
            Level::Gang => ClauseKind::Gang(Vec::new()),
            Level::Worker => ClauseKind::Worker(None),
            Level::Vector => ClauseKind::Vector(None),
        }
    }
}

/// The leaves, and the levels of the loop among them.
fn leaves(from: &Construct<Spelled>) -> Result<(Vec<Leaf>, Vec<Level>), Unwritable> {
    let refuse = |why: &str| Err(no_directive(from, why));
    let is_host_view = |kind: &ClauseKind<Spelled>| matches!(kind, ClauseKind::UseDevice(..));
    match from.leaves.as_slice() {
        [Leaf::DataRegion] if from.kinds().any(is_host_view) => {
            if from.kinds().any(|it| matches!(it, ClauseKind::Map(_))) {
                return refuse("OpenACC needs two directives for it, `data` and `host_data`");
            }
            Ok((vec![Leaf::HostData], Vec::new()))
        }
        [
            Leaf::Offload
            | Leaf::DataRegion
            | Leaf::EnterData
            | Leaf::ExitData
            | Leaf::Update
            | Leaf::Atomic,
        ]
        | [Leaf::Offload, Leaf::Teams] => Ok((from.leaves.clone(), Vec::new())),
        [Leaf::DeclareTarget] => Ok((vec![Leaf::Declare], Vec::new())),
        [Leaf::Taskwait] if from.clauses.is_empty() => Ok((vec![Leaf::Wait], Vec::new())),
        [Leaf::Taskwait] => refuse("OpenACC has no dependences between tasks"),
        [Leaf::Offload, Leaf::Parallel, ..] => {
            refuse("one team of many threads has no word in OpenACC")
        }
        [Leaf::Offload, Leaf::Teams, rest @ ..] => match levels(from, rest) {
            Some(levels) => Ok((vec![Leaf::Offload, Leaf::Teams, Leaf::Loop], levels)),
            None => refuse("OpenACC has no such directive"),
        },
        rest => match levels(from, rest) {
            Some(levels) => Ok((vec![Leaf::Loop], levels)),
            None => refuse("OpenACC has no such directive"),
        },
    }
}

/// The levels of a loop dealt by these leaves; nothing if they are no such loop.
fn levels(from: &Construct<Spelled>, leaves: &[Leaf]) -> Option<Vec<Level>> {
    use Level::{Gang, Vector, Worker};
    Some(match leaves {
        [Leaf::Distribute] => vec![Gang],
        [Leaf::Distribute, Leaf::Simd] => vec![Gang, Vector],
        [Leaf::Distribute, Leaf::Parallel, Leaf::For] => vec![Gang, Worker],
        [Leaf::Distribute, Leaf::Parallel, Leaf::For, Leaf::Simd] => vec![Gang, Worker, Vector],
        [Leaf::For] | [Leaf::Parallel, Leaf::For] => vec![Worker],
        [Leaf::For, Leaf::Simd] | [Leaf::Parallel, Leaf::For, Leaf::Simd] => vec![Worker, Vector],
        [Leaf::Simd] => vec![Vector],
        [Leaf::Loop] => from
            .kinds()
            .find_map(|it| match it {
                ClauseKind::Bind(BindLevel::Teams) => Some(vec![Gang]),
                ClauseKind::Bind(BindLevel::Parallel) => Some(vec![Worker, Vector]),
                ClauseKind::Bind(BindLevel::Thread) => Some(vec![Vector]),
                _ => None,
            })
            .unwrap_or_default(),
        _ => return None,
    })
}

impl Restated<'_> {
    #[allow(clippy::wildcard_enum_match_arm, reason = "whatever is not known here is refused")]
    fn clause_in_openacc(
        &mut self,
        kind: &ClauseKind<Spelled>,
        on: Option<Leaf>,
    ) -> Result<(), Unwritable> {
        match kind {
            ClauseKind::Private(_)
            | ClauseKind::DevicePointer(_)
            | ClauseKind::DeviceLink(_)
            | ClauseKind::Collapse { .. }
            | ClauseKind::AtomicKind(
                AtomicKind::Read | AtomicKind::Write | AtomicKind::Update | AtomicKind::Capture,
            ) => self.say(kind.clone()),
            ClauseKind::FirstPrivate { saved: false, .. } if self.to.has(Leaf::Offload) => {
                self.say(kind.clone());
            }
            ClauseKind::FirstPrivate { .. } => {
                return self.refuse(kind, "OpenACC's `loop` takes no initialised copies");
            }
            ClauseKind::Reduction(reduction) => self.reduction(kind, reduction)?,
            ClauseKind::NumTeams { counts, .. } => {
                self.say(ClauseKind::NumTeams { lower: None, counts: counts.clone() });
            }
            ClauseKind::HasDeviceAddr(items) => {
                self.say(ClauseKind::DevicePointer(items.clone()));
            }
            ClauseKind::UseDevice(_, items) => {
                self.say(ClauseKind::UseDevice(UseDevice::ByType, items.clone()));
            }
            ClauseKind::Map(map) => self.copy(kind, map)?,
            ClauseKind::Transfer(it) if it.mapper.is_none() && it.iterators.is_empty() => {
                let transfer = Transfer { presence: Presence::Any, old_word: false, ..it.clone() };
                self.say(ClauseKind::Transfer(transfer));
            }
            ClauseKind::DeviceEnter { automap: false, items, .. } => self.declared(items),
            ClauseKind::If(_) if on.is_none_or(|leaf| self.from.leaves.first() == Some(&leaf)) => {
                self.say(kind.clone());
            }
            ClauseKind::If(_) => {
                return self.refuse(kind, "OpenACC's condition is for the whole directive");
            }
            ClauseKind::DefaultMap(DefaultMap::None, None | Some(Category::All))
            | ClauseKind::Default(DefaultSharing::None, None) => {
                self.say(ClauseKind::Default(DefaultSharing::None, None));
            }
            ClauseKind::DefaultMap(DefaultMap::Present, Some(Category::Aggregate)) => {
                self.say(ClauseKind::Default(DefaultSharing::Present, None));
            }
            ClauseKind::DistSchedule(size) => self.gang_size(size.clone()),
            ClauseKind::Nowait(None) if self.is_deferrable() => {
                // One queue in order keeps every order that tasks without dependences have.
                self.say(ClauseKind::Async(None));
            }
            // Said by the level clauses.
            ClauseKind::Bind(_) => {}
            // What OpenACC does anyway, and hints that nothing depends on.
            ClauseKind::Shared(_)
            | ClauseKind::Default(DefaultSharing::Shared, None)
            | ClauseKind::DefaultMap(DefaultMap::Default, None)
            | ClauseKind::Order(_)
            | ClauseKind::Schedule(_)
            | ClauseKind::Hint(_)
            | ClauseKind::Nontemporal(_)
            | ClauseKind::Aligned(..)
            | ClauseKind::MemoryOrder(MemoryOrder::Relaxed) => {}
            ClauseKind::MemoryOrder(_) => {
                return self.refuse(kind, "OpenACC's atomics give no order to other accesses");
            }
            ClauseKind::Safelen(_) => {
                return self
                    .refuse(kind, "the loop may carry a dependence, so it is not independent");
            }
            ClauseKind::ThreadLimit(_) | ClauseKind::NumThreads { .. } | ClauseKind::Simdlen(_) => {
                return self
                    .refuse(kind, "how threads and lanes share the size is the device's choice");
            }
            ClauseKind::Depend(_) => {
                return self.refuse(kind, "OpenACC has no dependences between tasks");
            }
            _ => return self.refuse(kind, "OpenACC has no such clause"),
        }
        Ok(())
    }

    fn is_deferrable(&self) -> bool {
        let leaves = [Leaf::Offload, Leaf::EnterData, Leaf::ExitData, Leaf::Update];
        leaves.iter().any(|it| self.to.has(*it))
    }

    /// Items are taken for variables: a function would be a `routine` with a level.
    fn declared(&mut self, items: &[String]) {
        self.say(ClauseKind::Map(Map {
            motion: Motion::Alloc,
            presence: Presence::Any,
            flags: MapFlags::default(),
            mapper: None,
            iterators: Vec::new(),
            items: items.to_vec(),
        }));
    }

    fn reduction(
        &mut self,
        kind: &ClauseKind<Spelled>,
        reduction: &Reduction<Spelled>,
    ) -> Result<(), Unwritable> {
        let op = match &reduction.op {
            ReductionOp::User(_) => {
                return self.refuse(kind, "OpenACC has no reductions of the user's own");
            }
            // The copies of both are added up.
            ReductionOp::Sub => ReductionOp::Add,
            op => op.clone(),
        };
        match reduction.modifier {
            None | Some(ReductionModifier::Default) => {}
            Some(ReductionModifier::Inscan | ReductionModifier::Task) => {
                return self.refuse(kind, "OpenACC has no such modifier");
            }
        }
        let items = reduction.items.clone();
        self.say(ClauseKind::Reduction(Reduction { modifier: None, original: None, op, items }));
        Ok(())
    }

    fn copy(&mut self, kind: &ClauseKind<Spelled>, map: &Map<Spelled>) -> Result<(), Unwritable> {
        let flags = map.flags;
        if map.mapper.is_some() || !map.iterators.is_empty() {
            return self.refuse(kind, "OpenACC has neither mappers nor iterators");
        }
        if flags.attach.is_some() || flags.reference.is_some() || flags.delete {
            return self.refuse(kind, "OpenACC has no such modifier");
        }
        let mut motion = match map.motion {
            Motion::Unsaid if self.from.has(Leaf::EnterData) => Motion::To,
            Motion::Unsaid if self.from.has(Leaf::ExitData) => Motion::From,
            Motion::Unsaid => Motion::ToFrom,
            // With `finalize`: see `deletion`.
            Motion::Delete => Motion::Release,
            said => said,
        };
        if map.presence == Presence::Required {
            if !(self.to.has(Leaf::Offload) || self.to.has(Leaf::DataRegion)) || flags.always {
                return self
                    .refuse(kind, "OpenACC demands presence only for a region, without copies");
            }
            // What is present is not copied.
            motion = Motion::Alloc;
        }
        // `close`, `self` and the hold count are what OpenACC leaves to the implementation.
        let flags = MapFlags { always: flags.always, ..MapFlags::default() };
        let items = map.items.clone();
        let map = Map {
            motion,
            presence: map.presence,
            flags,
            mapper: None,
            iterators: Vec::new(),
            items,
        };
        self.say(ClauseKind::Map(map));
        Ok(())
    }

    /// `gang(static: n)` in the place of `gang`.
    fn gang_size(&mut self, size: Option<String>) {
        for clause in &mut self.to.clauses {
            if let ClauseKind::Gang(args) = &mut clause.kind {
                *args = vec![GangArg::Static(size.clone())];
            }
        }
    }

    /// Absent data stops an update in OpenACC, unless the whole directive says otherwise.
    fn absent_data(&mut self) -> Result<(), Unwritable> {
        let needs_all = |kind: &ClauseKind<Spelled>| match kind {
            ClauseKind::Transfer(it) => Some(it.presence == Presence::Required),
            _ => None,
        };
        let mut needs = self.from.kinds().filter_map(needs_all);
        let Some(first) = needs.next() else { return Ok(()) };
        if needs.any(|it| it != first) {
            return Err(no_directive(self.from, "OpenACC demands presence of all data or of none"));
        }
        if !first {
            self.say(ClauseKind::IfPresent);
        }
        Ok(())
    }

    /// To delete is to release the last user: `finalize`, which is for the whole directive.
    fn deletion(&mut self) -> Result<(), Unwritable> {
        let deletes = |kind: &ClauseKind<Spelled>| match kind {
            ClauseKind::Map(it) => Some(it.motion == Motion::Delete),
            _ => None,
        };
        let deleted: Vec<bool> = self.from.kinds().filter_map(deletes).collect();
        if !deleted.contains(&true) {
            return Ok(());
        }
        if deleted.contains(&false) {
            return Err(no_directive(self.from, "OpenACC deletes all data of a directive or none"));
        }
        self.say(ClauseKind::Finalize);
        Ok(())
    }
}
