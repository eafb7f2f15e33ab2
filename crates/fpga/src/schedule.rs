//! When each operation of a pipelined loop starts, and how soon the next iteration may.
//!
//! In: a [`Problem`]: operations with their delays, dependences with distances in iterations, and how many of the operations
//! that share a port may start in one cycle. Out: a [`Schedule`]: the initiation interval (II), what bounds it, and a start
//! for each operation. The interval is at least what ports ask for ([`Problem::resource_bound`]) and what circles of
//! dependences ask for ([`Problem::recurrence_bound`]); from there on it is searched by iterative modulo scheduling.
//!
//! Time is counted in ticks. An operation without registers (an addition of integers, a comparison) takes a part of a cycle
//! and several of them follow each other within one; it does not reach over the end of a cycle. One with registers starts with
//! a cycle and takes whole ones.

/// Ticks of a cycle.
pub const CYCLE: u64 = 20;

/// How long an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// So many ticks, at most [`CYCLE`], within a cycle.
    Combinational(u64),
    /// So many cycles, from the beginning of one.
    Registered(u64),
}

impl Delay {
    /// In ticks.
    pub fn ticks(self) -> u64 {
        match self {
            Delay::Combinational(ticks) => ticks.min(CYCLE),
            Delay::Registered(cycles) => cycles.saturating_mul(CYCLE),
        }
    }

    /// The first time from `earliest` on at which such an operation can start.
    fn fit(self, earliest: u64) -> u64 {
        match self {
            Delay::Combinational(_) if earliest % CYCLE + self.ticks() <= CYCLE => earliest,
            Delay::Registered(_) | Delay::Combinational(_) => {
                earliest.div_ceil(CYCLE).saturating_mul(CYCLE)
            }
        }
    }
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// How long it takes until others can use what it gives.
    pub delay: Delay,
    /// The port that it takes in the cycle in which it starts.
    pub port: Option<usize>,
}

/// An operation waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependence {
    /// Which is waited for.
    pub from: usize,
    /// Which waits.
    pub to: usize,
    /// The one of so many iterations before.
    pub distance: u64,
    /// It starts at least so many ticks after the other has started.
    pub ticks: u64,
}

/// What is to be scheduled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// The operations.
    pub operations: Vec<Operation>,
    /// What they wait for.
    pub dependences: Vec<Dependence>,
    /// How many operations may start at each port in a cycle.
    pub ports: Vec<u64>,
}

/// What bounds the interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Nothing: it is one.
    None,
    /// So many operations take one port.
    Port {
        /// Which.
        port: usize,
        /// How many.
        uses: u64,
    },
    /// These operations wait for each other, around and around, the last for the first of a later iteration.
    Recurrence(Vec<usize>),
}

/// When operations start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// An iteration starts so many cycles after the one before.
    pub interval: u64,
    /// No schedule has a smaller interval than this; where the two differ, none was found between.
    pub least: u64,
    /// Why.
    pub bound: Bound,
    /// The start of each operation in ticks, from the start of its iteration on.
    pub starts: Vec<u64>,
    /// Cycles until all operations of an iteration have ended.
    pub depth: u64,
}

/// The interval does not exceed what one iteration after the other takes; this keeps sums small.
const MOST: u64 = 1 << 20;

impl Problem {
    /// The interval that ports ask for, and the port that asks for most.
    pub fn resource_bound(&self) -> (u64, Bound) {
        let mut bound = (1, Bound::None);
        for (port, capacity) in self.ports.iter().enumerate() {
            let taken = self.operations.iter().filter(|it| it.port == Some(port)).count() as u64;
            let least = taken.div_ceil((*capacity).max(1));
            if least > bound.0 {
                bound = (least, Bound::Port { port, uses: taken });
            }
        }
        bound
    }

    /// The interval that circles of dependences ask for, and one that asks for most. None if an operation waits for itself
    /// in the same iteration.
    pub fn recurrence_bound(&self) -> Option<(u64, Bound)> {
        let inside = self.circular();
        let most: u64 = inside.iter().map(|it| it.ticks).sum::<u64>() / CYCLE + 1;
        let (mut low, mut high) = (1, most.min(MOST));
        if self.circle(&inside, high).is_some() {
            return None;
        }
        while low < high {
            let middle = low.midpoint(high);
            match self.circle(&inside, middle) {
                Some(_) => low = middle + 1,
                None => high = middle,
            }
        }
        let less = low.checked_sub(1).filter(|it| *it > 0);
        let bound = match less.and_then(|it| self.circle(&inside, it)) {
            Some(circle) => Bound::Recurrence(circle),
            None => Bound::None,
        };
        Some((low, bound))
    }

    /// Dependences that are part of a circle: both ends reach each other.
    fn circular(&self) -> Vec<Dependence> {
        let count = self.operations.len();
        let (mut behind, mut before) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for it in self.dependences.iter().filter(|it| it.from < count && it.to < count) {
            behind.get_mut(it.from).into_iter().for_each(|list| list.push(it.to));
            before.get_mut(it.to).into_iter().for_each(|list| list.push(it.from));
        }
        // First in the order in which searches forward end, then backward from the last of them.
        let mut order = Vec::new();
        let mut is_seen = vec![false; count];
        for root in 0..count {
            let mut open = vec![(root, 0)];
            while let Some((at, next)) = open.pop() {
                if next == 0 && is_seen.get_mut(at).is_none_or(|it| std::mem::replace(it, true)) {
                    continue;
                }
                match behind.get(at).and_then(|it| it.get(next)) {
                    Some(to) => open.extend([(at, next + 1), (*to, 0)]),
                    None => order.push(at),
                }
            }
        }
        let mut group: Vec<Option<usize>> = vec![None; count];
        for root in order.into_iter().rev() {
            let mut open = vec![root];
            while let Some(at) = open.pop() {
                if let Some(mine @ None) = group.get_mut(at) {
                    *mine = Some(root);
                    open.extend(before.get(at).into_iter().flatten());
                }
            }
        }
        let is_inside = |it: &&Dependence| {
            let of = |at: usize| group.get(at).copied().flatten();
            of(it.from).is_some() && of(it.from) == of(it.to)
        };
        self.dependences.iter().filter(is_inside).copied().collect()
    }

    /// Operations that wait for each other longer than `interval` allows, if there are such.
    fn circle(&self, inside: &[Dependence], interval: u64) -> Option<Vec<usize>> {
        let (starts, cause) = self.longest(inside, interval)?;
        let mut at = starts;
        // Back along what each waits for, far enough to be in the circle.
        for _ in 0..self.operations.len() {
            at = (*cause.get(at)?)?;
        }
        let (first, mut circle) = (at, vec![at]);
        loop {
            at = (*cause.get(at)?)?;
            if at == first || circle.len() > self.operations.len() {
                break;
            }
            circle.push(at);
        }
        circle.reverse();
        Some(circle)
    }

    /// Starts as early as dependences allow; an operation that has no such start, and what each waits for last.
    fn longest(&self, inside: &[Dependence], interval: u64) -> Option<(usize, Vec<Option<usize>>)> {
        let span = interval.saturating_mul(CYCLE).cast_signed();
        let mut starts = vec![0i64; self.operations.len()];
        let mut cause = vec![None; self.operations.len()];
        let mut changed = None;
        for _ in 0..=inside.len() {
            changed = None;
            for it in inside {
                let Some(from) = starts.get(it.from).copied() else { continue };
                let far = span.saturating_mul(it.distance.cast_signed());
                let least = from.saturating_add(it.ticks.cast_signed()).saturating_sub(far);
                if let (Some(to), Some(why)) = (starts.get_mut(it.to), cause.get_mut(it.to))
                    && *to < least
                {
                    (*to, *why, changed) = (least, Some(it.from), Some(it.to));
                }
            }
            changed?;
        }
        changed.map(|it| (it, cause))
    }

    /// A schedule; none if operations wait for themselves.
    pub fn schedule(&self) -> Option<Schedule> {
        let (by_ports, port) = self.resource_bound();
        let (by_circles, circle) = self.recurrence_bound()?;
        let least = by_ports.max(by_circles);
        let bound = if by_ports > by_circles { port } else { circle };
        let serial: u64 = self.operations.iter().map(|it| it.delay.ticks() + CYCLE).sum::<u64>();
        let most = least.saturating_add(serial / CYCLE).saturating_add(1);
        // Small steps first: what is found near the bound is best, and further away it is found at once.
        let mut interval = least;
        let mut step = 1;
        while interval <= most {
            if let Some(starts) = self.attempt(interval) {
                let ends = self.operations.iter().zip(&starts);
                let end = ends.map(|(it, start)| start + it.delay.ticks()).max().unwrap_or(0);
                let depth = end.div_ceil(CYCLE).max(1);
                return Some(Schedule { interval, least, bound, starts, depth });
            }
            if interval >= least + 4 {
                step *= 2;
            }
            interval += step;
        }
        None
    }

    /// Iterative modulo scheduling with this interval: the most urgent operation first; what it drives out is placed again.
    fn attempt(&self, interval: u64) -> Option<Vec<u64>> {
        let count = self.operations.len();
        let span = interval.saturating_mul(CYCLE);
        let (mut before, mut behind) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for it in &self.dependences {
            before.get_mut(it.to)?.push(*it);
            behind.get_mut(it.from)?.push(*it);
        }
        let heights = self.heights(interval);
        let mut starts: Vec<Option<u64>> = vec![None; count];
        let mut tried: Vec<Option<u64>> = vec![None; count];
        let mut table = Table::new(&self.ports, interval);
        let mut open: std::collections::BTreeSet<(std::cmp::Reverse<i64>, usize)> =
            heights.iter().enumerate().map(|(at, it)| (std::cmp::Reverse(*it), at)).collect();
        let mut budget = count.saturating_mul(12).saturating_add(100);
        while let Some((key, at)) = open.pop_first() {
            budget = budget.checked_sub(1)?;
            let operation = *self.operations.get(at)?;
            let mut earliest = 0u64;
            for it in before.get(at)? {
                if let Some(Some(from)) = starts.get(it.from)
                    && it.from != at
                {
                    let far = span.saturating_mul(it.distance);
                    earliest = earliest.max(from.saturating_add(it.ticks).saturating_sub(far));
                }
            }
            let first = operation.delay.fit(earliest);
            let start = match operation.port {
                None => first,
                Some(port) => {
                    let slots = (0..interval).map(|it| first + it * CYCLE);
                    let free = slots.into_iter().find(|it| table.is_free(port, *it));
                    let again = tried.get(at).copied().flatten().map_or(0, |it| it + CYCLE);
                    free.unwrap_or_else(|| operation.delay.fit(first.max(again)))
                }
            };
            if let Some(port) = operation.port {
                while let Some(other) = table.taken_by(port, start) {
                    table.leave(port, starts.get(other).copied().flatten()?, other);
                    *starts.get_mut(other)? = None;
                    open.insert((std::cmp::Reverse(*heights.get(other)?), other));
                }
                table.take(port, start, at);
            }
            (*starts.get_mut(at)?, *tried.get_mut(at)?) = (Some(start), Some(start));
            debug_assert!(heights.get(at) == Some(&key.0), "an operation keeps its height");
            for it in behind.get(at)? {
                let Some(Some(to)) = starts.get(it.to).copied() else { continue };
                let far = span.saturating_mul(it.distance);
                let least = start.saturating_add(it.ticks).saturating_sub(far);
                if it.to == at {
                    if least > start {
                        return None;
                    }
                } else if to < least {
                    if let Some(port) = self.operations.get(it.to)?.port {
                        table.leave(port, to, it.to);
                    }
                    *starts.get_mut(it.to)? = None;
                    open.insert((std::cmp::Reverse(*heights.get(it.to)?), it.to));
                }
            }
        }
        starts.into_iter().collect()
    }

    /// How long it takes from the start of each operation until all that wait for it have ended.
    fn heights(&self, interval: u64) -> Vec<i64> {
        let span = interval.saturating_mul(CYCLE).cast_signed();
        let ticks = |it: &Operation| it.delay.ticks().cast_signed();
        let mut heights: Vec<i64> = self.operations.iter().map(ticks).collect();
        for _ in 0..self.operations.len() {
            let mut is_done = true;
            for it in self.dependences.iter().rev() {
                let Some(to) = heights.get(it.to).copied() else { continue };
                let far = span.saturating_mul(it.distance.cast_signed());
                let least = to.saturating_add(it.ticks.cast_signed()).saturating_sub(far);
                if let Some(from) = heights.get_mut(it.from)
                    && *from < least
                {
                    (*from, is_done) = (least, false);
                }
            }
            if is_done {
                break;
            }
        }
        heights
    }

    /// What a schedule breaks, as a sentence; nothing if it is right.
    pub fn fault(&self, schedule: &Schedule) -> Option<String> {
        let span = schedule.interval.saturating_mul(CYCLE);
        let start = |at: usize| schedule.starts.get(at).copied().unwrap_or(0);
        for it in &self.dependences {
            let ready = start(it.from).saturating_add(it.ticks);
            if start(it.to).saturating_add(span.saturating_mul(it.distance)) < ready {
                return Some(format!("operation {} does not wait for {}", it.to, it.from));
            }
        }
        let mut table = Table::new(&self.ports, schedule.interval);
        for (at, it) in self.operations.iter().enumerate() {
            if it.delay.fit(start(at)) != start(at) {
                return Some(format!("operation {at} reaches over the end of a cycle"));
            }
            if let Some(port) = it.port {
                if !table.is_free(port, start(at)) {
                    return Some(format!("operation {at} finds port {port} taken"));
                }
                table.take(port, start(at), at);
            }
        }
        None
    }
}

/// Who takes which port in which cycle of the interval.
struct Table {
    capacity: Vec<u64>,
    interval: u64,
    slots: rustc_hash::FxHashMap<(usize, u64), Vec<usize>>,
}

impl Table {
    fn new(ports: &[u64], interval: u64) -> Table {
        let capacity = ports.iter().map(|it| (*it).max(1)).collect();
        Table { capacity, interval: interval.max(1), slots: rustc_hash::FxHashMap::default() }
    }

    fn slot(&self, port: usize, start: u64) -> (usize, u64) {
        (port, (start / CYCLE) % self.interval)
    }

    fn is_free(&self, port: usize, start: u64) -> bool {
        let taken = self.slots.get(&self.slot(port, start)).map_or(0, Vec::len) as u64;
        self.capacity.get(port).is_none_or(|it| taken < *it)
    }

    /// One that stands in the way.
    fn taken_by(&self, port: usize, start: u64) -> Option<usize> {
        if self.is_free(port, start) {
            return None;
        }
        self.slots.get(&self.slot(port, start))?.first().copied()
    }

    fn take(&mut self, port: usize, start: u64, who: usize) {
        let slot = self.slot(port, start);
        self.slots.entry(slot).or_default().push(who);
    }

    fn leave(&mut self, port: usize, start: u64, who: usize) {
        let slot = self.slot(port, start);
        if let Some(there) = self.slots.get_mut(&slot) {
            there.retain(|it| *it != who);
        }
    }
}
