//! OpenACC in the words of OpenMP.

use ir::construct::{
    Args, ClauseKind, Construct, CopyEnd, DefaultMap, DefaultSharing, GangArg, Leaf, Map, MapFlags,
    Motion, OnAbsent, Presence, Spelled, Transfer,
};

use super::{Restated, no_directive};
use crate::OPENMP;
use crate::write::Unwritable;

pub(super) fn restate(from: &Construct<Spelled>) -> Result<Construct<Spelled>, Unwritable> {
    if !from.groups.is_empty() {
        return Err(no_directive(from, "OpenMP has no clauses for one type of device"));
    }
    let mut it = Restated::new(from, OPENMP, leaves(from)?);
    if let (Args::Name(name), true) = (&from.args, from.has(Leaf::Routine)) {
        let items = vec![name.clone()];
        it.say(ClauseKind::DeviceEnter { automap: false, old_word: false, items });
    }
    for clause in &from.clauses {
        it.clause_in_openmp(&clause.kind)?;
    }
    it.condition();
    Ok(it.to)
}

fn leaves(from: &Construct<Spelled>) -> Result<Vec<Leaf>, Unwritable> {
    let refuse = |why: &str| Err(no_directive(from, why));
    match from.leaves.as_slice() {
        [
            Leaf::Offload
            | Leaf::DataRegion
            | Leaf::EnterData
            | Leaf::ExitData
            | Leaf::Update
            | Leaf::Atomic,
        ]
        | [Leaf::Offload, Leaf::Teams] => Ok(from.leaves.clone()),
        // One thread runs it: the loop needs no directive.
        [Leaf::Offload, Leaf::Loop] => Ok(vec![Leaf::Offload]),
        [Leaf::Offload, Leaf::Teams, Leaf::Loop] => {
            let mut leaves = vec![Leaf::Offload, Leaf::Teams];
            leaves.extend(levels(from)?);
            Ok(leaves)
        }
        [Leaf::Loop] => match levels(from)? {
            none if none.is_empty() => refuse("a sequential loop has no directive in OpenMP"),
            levels => Ok(levels),
        },
        [Leaf::Declare] => Ok(vec![Leaf::DeclareTarget]),
        [Leaf::Routine] if from.args != Args::None => Ok(vec![Leaf::DeclareTarget]),
        [Leaf::Routine] => refuse("OpenMP names the function; only `routine(name)` does here"),
        [Leaf::Wait] if from.args == Args::None && from.clauses.is_empty() => {
            Ok(vec![Leaf::Taskwait])
        }
        [Leaf::Wait] => refuse("OpenMP has no queues"),
        [Leaf::Kernels, ..] => refuse("which loops are parallel must be found first"),
        [Leaf::HostData] => refuse(
            "`use_device_ptr` is for pointers and `use_device_addr` for all else, which needs the type",
        ),
        _ => refuse("OpenMP has no such directive"),
    }
}

/// The leaves that deal the iterations of a loop, by its level clauses.
fn levels(from: &Construct<Spelled>) -> Result<Vec<Leaf>, Unwritable> {
    let (mut gang, mut worker, mut vector) = (false, false, false);
    for kind in from.kinds() {
        match kind {
            ClauseKind::Seq => return Ok(Vec::new()),
            ClauseKind::Auto => {
                return Err(no_directive(
                    from,
                    "whether the loop is parallel must be proven first",
                ));
            }
            ClauseKind::Gang(_) => gang = true,
            ClauseKind::Worker(_) => worker = true,
            ClauseKind::Vector(_) => vector = true,
            _ => {}
        }
    }
    if !gang && !worker && !vector {
        return Ok(vec![Leaf::Loop]);
    }
    let parts: [(bool, &[Leaf]); 3] = [
        (gang, &[Leaf::Distribute]),
        (worker, &[Leaf::Parallel, Leaf::For]),
        (vector, &[Leaf::Simd]),
    ];
    Ok(parts.iter().filter(|it| it.0).flat_map(|it| it.1).copied().collect())
}

impl Restated<'_> {
    #[allow(clippy::wildcard_enum_match_arm, reason = "whatever is not known here is refused")]
    fn clause_in_openmp(&mut self, kind: &ClauseKind<Spelled>) -> Result<(), Unwritable> {
        match kind {
            ClauseKind::Private(_)
            | ClauseKind::FirstPrivate { .. }
            | ClauseKind::DevicePointer(_)
            | ClauseKind::DeviceLink(_)
            | ClauseKind::AtomicKind(_)
            | ClauseKind::Collapse { force: false, .. } => {
                // A loop that one thread runs has no directive to be collapsed by.
                let is_plain = matches!(kind, ClauseKind::Collapse { .. })
                    && matches!(self.to.leaves.as_slice(), [Leaf::Offload] | [.., Leaf::Teams]);
                if !is_plain {
                    self.say(kind.clone());
                }
            }
            ClauseKind::Reduction(reduction) if self.to.leaves == [Leaf::Offload] => {
                // One thread combines nothing, but the variable comes back.
                let items = reduction.items.clone();
                self.say(ClauseKind::Map(plain(Motion::ToFrom, Presence::Any, items)));
            }
            ClauseKind::Reduction(_) if self.from.has(Leaf::Loop) && self.is_redundant() => {
                return self.refuse(kind, "every team would add its own copy of the whole loop");
            }
            ClauseKind::Reduction(_) => self.say(kind.clone()),
            ClauseKind::NumTeams { counts, .. } if counts.len() == 1 => self.say(kind.clone()),
            ClauseKind::NumTeams { .. } => {
                return self.refuse(kind, "teams have one dimension in OpenMP");
            }
            ClauseKind::Map(map) => self.map(kind, map)?,
            ClauseKind::Transfer(transfer) => {
                let presence = match self.from.rules.on_absent {
                    OnAbsent::Error => Presence::Required,
                    OnAbsent::Ignore => Presence::Any,
                };
                let transfer = Transfer { presence, old_word: false, ..transfer.clone() };
                self.say(ClauseKind::Transfer(transfer));
            }
            // Said by the presence of each transfer.
            ClauseKind::IfPresent => {}
            ClauseKind::Default(DefaultSharing::None, None) if self.is_compute() => {
                self.say(ClauseKind::DefaultMap(DefaultMap::None, None));
            }
            ClauseKind::Default(DefaultSharing::Present, None) if self.is_compute() => {
                let category = Some(ir::construct::Category::Aggregate);
                self.say(ClauseKind::DefaultMap(DefaultMap::Present, category));
            }
            ClauseKind::Default(..) => {
                return self
                    .refuse(kind, "it holds for the regions inside, and must be said there");
            }
            // Both are one condition in OpenMP: see `condition`.
            ClauseKind::If(_) | ClauseKind::SelfExec(_) if !self.from.has(Leaf::Atomic) => {}
            ClauseKind::If(_) => return self.refuse(kind, "OpenMP's `atomic` takes no condition"),
            // Said by the leaves.
            ClauseKind::Seq | ClauseKind::Worker(None) | ClauseKind::Vector(None)
                if self.from.has(Leaf::Loop) => {}
            ClauseKind::Seq if self.from.has(Leaf::Routine) => {}
            ClauseKind::Independent => {}
            ClauseKind::Gang(args) if self.from.has(Leaf::Loop) => match args.as_slice() {
                [] => {}
                [GangArg::Static(size)] => self.say(ClauseKind::DistSchedule(size.clone())),
                _ => return self.refuse(kind, "OpenMP's `distribute` takes no such size"),
            },
            ClauseKind::Gang(_) | ClauseKind::Worker(_) | ClauseKind::Vector(_) => {
                return self.refuse(kind, "the level follows from the directives inside in OpenMP");
            }
            ClauseKind::Nohost => {
                self.say(ClauseKind::DeviceKind(ir::construct::DeviceKind::Nohost));
            }
            ClauseKind::NumWorkers(_) | ClauseKind::VectorLength(_) => {
                return self
                    .refuse(kind, "how threads and lanes share the size is the device's choice");
            }
            ClauseKind::Async(_) | ClauseKind::Wait(_) => {
                return self.refuse(kind, "OpenMP has no queues");
            }
            ClauseKind::Attach(_) | ClauseKind::Detach(_) | ClauseKind::Finalize => {
                return self.refuse(kind, "OpenMP cannot do that alone");
            }
            _ => return self.refuse(kind, "OpenMP has no such clause"),
        }
        Ok(())
    }

    /// Runs code on a device.
    fn is_compute(&self) -> bool {
        self.to.has(Leaf::Offload)
    }

    /// Every team runs all of it.
    fn is_redundant(&self) -> bool {
        self.to.leaves == [Leaf::Offload, Leaf::Teams]
    }

    fn map(&mut self, kind: &ClauseKind<Spelled>, map: &Map<Spelled>) -> Result<(), Unwritable> {
        let flags = map.flags;
        if self.from.has(Leaf::Declare) {
            // At file scope, which is where OpenMP has this directive.
            let is_static = matches!(map.motion, Motion::Alloc | Motion::To)
                && map.presence == Presence::Any
                && flags == MapFlags::default();
            if !is_static {
                return self.refuse(kind, "in OpenMP it would be code at the ends of the scope");
            }
            let items = map.items.clone();
            self.say(ClauseKind::DeviceEnter { automap: false, old_word: false, items });
            return Ok(());
        }
        if map.presence == Presence::Optional {
            return self.refuse(kind, "OpenMP always makes absent data");
        }
        if flags.zero || flags.capture {
            return self.refuse(kind, "OpenMP has no such modifier");
        }
        let both = map.motion == Motion::ToFrom && flags.always_at.is_some();
        if both {
            let end = if flags.always_at == Some(CopyEnd::Start) { "start" } else { "end" };
            return self.refuse(kind, format!("OpenMP cannot force the copy at the {end} alone"));
        }
        let mut map = map.clone();
        // A promise that OpenMP has no word for, and that nothing depends on.
        map.flags.readonly = false;
        map.flags.always_at = None;
        self.say(ClauseKind::Map(map));
        Ok(())
    }

    /// `if(c)` and `self(d)` together are one condition.
    fn condition(&mut self) {
        let mut terms: Vec<String> = Vec::new();
        for kind in self.from.kinds() {
            match kind {
                ClauseKind::If(condition) => terms.push(condition.clone()),
                ClauseKind::SelfExec(Some(condition)) => terms.push(format!("!({condition})")),
                ClauseKind::SelfExec(None) => terms.push("0".to_owned()),
                _ => {}
            }
        }
        let condition = match terms.as_slice() {
            [] => return,
            [one] => one.clone(),
            many => many.iter().map(|it| format!("({it})")).collect::<Vec<_>>().join(" && "),
        };
        let on = (self.to.leaves.len() > 1).then_some(Leaf::Offload);
        self.say_on(on, ClauseKind::If(condition));
    }
}

/// A map without modifiers.
fn plain(motion: Motion, presence: Presence, items: Vec<String>) -> Map<Spelled> {
    let flags = MapFlags::default();
    Map { motion, presence, flags, mapper: None, iterators: Vec::new(), items }
}
