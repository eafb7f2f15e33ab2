//! The cluster as a whole: loading, running, looking inside.

use crate::code::Code;
use crate::config::Config;
use crate::counters::Counters;
use crate::dma::NEVER;
use crate::execute::{self, Pause};
use crate::fault::{Fault, FaultKind, Wait};
use crate::hart::{Hart, NO_LINE, core_of, cycle_of};
use crate::host::{HostMemory, NoMemory};
use crate::program::{LoadError, Program};
use crate::queues::End;
use crate::shared::{Region, Shared};
use crate::sleep::NOBODY;
use crate::trace::{Event, Observer, Unobserved};

/// Why a run came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The program has ended with this status.
    Exited(u32),
    /// A core asks for something: `ecall`. Its registers say what; [`Cluster::run`] goes on behind it.
    Call {
        /// Which core.
        core: u32,
    },
    /// The cycle that was given as the end of the run is reached.
    Paused,
}

/// A cluster of cores with its memories and engines.
#[derive(Clone, Debug)]
pub struct Cluster {
    config: Config,
    harts: Vec<Hart>,
    shared: Shared,
    code: Code,
    program: Option<Program>,
}

impl Cluster {
    /// An empty cluster; nothing runs before a program is loaded.
    pub fn new(config: &Config) -> Cluster {
        let harts = (0..config.cores.count).map(Hart::new).collect();
        let (shared, code) = (Shared::new(config), Code::default());
        Cluster { config: config.clone(), harts, shared, code, program: None }
    }

    /// What it is made of.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Puts a program into memory: a linked ELF file. All cores begin at its entry.
    ///
    /// # Errors
    /// Why this cluster cannot run it; nothing was changed then.
    pub fn load(&mut self, file: &[u8]) -> Result<(), LoadError> {
        let program = Program::read(file, self.shared.csr.isa)?;
        for it in &program.segments {
            let region = self.shared.region(u64::from(it.address), it.size as usize);
            let (address, size) = (it.address, it.size);
            match region {
                Region::Host => {
                    let why =
                        format!("{size} bytes at {address:#x} are not in the cluster's memory");
                    return Err(LoadError(why));
                }
                Region::L1 if it.is_code => {
                    let why = format!("code at {address:#x}; code lies in l2");
                    return Err(LoadError(why));
                }
                Region::L1 | Region::L2 => {}
            }
        }
        for it in &program.segments {
            let mut bytes = it.bytes.clone();
            bytes.resize(it.size as usize, 0);
            let written = self.write(it.address, &bytes);
            debug_assert!(written, "segments were checked");
            if it.is_code {
                self.code.extend(it.address..it.address + it.size);
            }
        }
        let entry = program.entry;
        self.program = Some(program);
        self.start(entry);
        Ok(())
    }

    /// Puts instructions into the accelerator's memory and makes them executable. False if they do not fit.
    pub fn load_code(&mut self, address: u32, bytes: &[u8]) -> bool {
        let len = bytes.len();
        let fits = self.shared.region(u64::from(address), len) == Region::L2 && address & 1 == 0;
        if fits {
            self.write(address, bytes);
            self.code.extend(address..address + len as u32);
        }
        fits
    }

    /// All cores begin at `entry`, at the same cycle. Memory, counters and transfers that are under way stay.
    pub fn start(&mut self, entry: u32) {
        let now = self.cycle();
        self.shared.sleepers.clear();
        for hart in &mut self.harts {
            hart.pc = entry & !1;
            hart.line = NO_LINE;
            hart.asleep = None;
            hart.extension = 0;
            // Whoever was behind has done nothing since.
            hart.counters.sleeps.event += now - hart.time;
            hart.time = now;
            self.shared.sleepers.insert(hart.key());
        }
        self.shared.events =
            crate::event::EventUnit::new(self.config.cores.count, &self.config.events);
        self.shared.dma.forget_waiting();
        self.shared.reservations.fill(None);
        self.shared.reserved = false;
        self.shared.exit = None;
        self.shared.icache.clear();
        if let Some(it) = &mut self.shared.data_caches {
            it.clear();
        }
    }

    /// Drops the transfers that are under way: after a fault, before the next start.
    pub fn abandon_transfers(&mut self) {
        self.shared.dma.abandon();
    }

    /// Interrupts a core before its next instruction: it goes to `handler`, which leads back by `mret` (`mepc` says where to). The cluster
    /// has nothing that interrupts by itself. False if the core masks interrupts (`mstatus`), or sleeps.
    pub fn interrupt(&mut self, core: u32, handler: u32) -> bool {
        self.harts.get_mut(core as usize).is_some_and(|it| it.enter_interrupt(handler))
    }

    /// From now on an access that would see or lose what another core has written is a fault. Nothing where cores have no data caches.
    pub fn check_caches(&mut self) {
        if let Some(it) = &mut self.shared.data_caches {
            it.is_checked = true;
        }
    }

    /// The host pushes a descriptor to a queue, of this manager and number. False if there is no such queue, or the descriptor is in one.
    pub fn push(&mut self, queue: (usize, usize), end: End, descriptor: u32) -> bool {
        matches!(self.shared.queues.push(queue, end, descriptor), Some(Ok(())))
    }

    /// The host pops the descriptor at the tail of a queue.
    pub fn pop(&mut self, queue: (usize, usize)) -> Option<u32> {
        self.shared.queues.pop(queue).filter(|it| *it != 0)
    }

    /// The address of a name that the program gives to the outside.
    pub fn symbol(&self, name: &str) -> Option<u32> {
        self.program.as_ref()?.symbol(name)
    }

    /// The latest cycle that a core has reached.
    pub fn cycle(&self) -> u64 {
        self.harts.iter().map(|it| it.time).max().unwrap_or(0)
    }

    /// What each core has done so far.
    pub fn counters(&self) -> Vec<Counters> {
        self.harts.iter().map(|it| it.counters).collect()
    }

    /// Where a core is: its instruction, and the function that is in, where the program tells.
    pub fn position(&self, core: u32) -> (u32, Option<&str>) {
        let pc = self.harts.get(core as usize).map_or(0, |it| it.pc);
        (pc, self.program.as_ref().and_then(|it| it.function(pc)))
    }

    /// An integer register of a core; 0 where there is none.
    pub fn register(&self, core: u32, number: u8) -> u32 {
        self.harts.get(core as usize).filter(|_| number < 32).map_or(0, |it| it.x(number))
    }

    /// A floating-point register of a core.
    pub fn float_register(&self, core: u32, number: u8) -> u64 {
        self.harts.get(core as usize).map_or(0, |it| it.double(number))
    }

    /// Sets an integer register of a core; `x0` stays 0.
    pub fn set_register(&mut self, core: u32, number: u8, value: u32) {
        if let Some(hart) = self.harts.get_mut(core as usize).filter(|_| (1..32).contains(&number))
        {
            hart.set_x(number, value);
        }
    }

    /// From now on the stack pointer of a core must stay from `low` to `high`; any place if `high` is 0.
    pub fn set_stack(&mut self, core: u32, low: u32, high: u32) {
        if let Some(hart) = self.harts.get_mut(core as usize) {
            (hart.stack_low, hart.stack_high) = (low, high);
        }
    }

    /// Reads a memory of the cluster, as if nothing ran. False if it is not all there.
    #[must_use]
    pub fn read(&self, address: u32, into: &mut [u8]) -> bool {
        self.shared.read(&mut NoMemory, u64::from(address), into).is_ok()
    }

    /// Writes a memory of the cluster. False if it is not all there.
    pub fn write(&mut self, address: u32, from: &[u8]) -> bool {
        let is_written = self.shared.write(&mut NoMemory, u64::from(address), from).is_ok();
        self.code.forget(&mut self.shared.code_written);
        is_written
    }

    /// Runs until the program ends, asks for something, or reaches cycle `end`.
    ///
    /// # Errors
    /// What stopped it: the core and the instruction, with registers.
    pub fn run(&mut self, host: &mut dyn HostMemory, end: Option<u64>) -> Result<Stop, Box<Fault>> {
        self.run_observed(host, end, &mut Unobserved)
    }

    /// The same, with somebody looking on.
    ///
    /// # Errors
    /// As [`Cluster::run`].
    pub fn run_observed<O: Observer>(
        &mut self,
        host: &mut dyn HostMemory,
        end: Option<u64>,
        observer: &mut O,
    ) -> Result<Stop, Box<Fault>> {
        let end = end.unwrap_or(NEVER).min(NEVER);
        self.shared.log = O::LOOKS.then(Vec::new);
        let stop = self.run_until(host, end, observer);
        self.tell(observer);
        stop
    }

    fn run_until<O: Observer>(
        &mut self,
        host: &mut dyn HostMemory,
        end: u64,
        observer: &mut O,
    ) -> Result<Stop, Box<Fault>> {
        loop {
            if let Some(status) = self.shared.exit {
                return Ok(Stop::Exited(status));
            }
            let first = self.shared.sleepers.first();
            let due = self.shared.dma.due;
            if due.min(cycle_of(first)) >= end {
                if first == NOBODY && due == NEVER {
                    return Err(self.deadlock());
                }
                return Ok(Stop::Paused);
            }
            if due <= cycle_of(first) && due != NEVER {
                self.shared.move_burst(host).map_err(|(transfer, kind)| {
                    self.fault(transfer.core, transfer.pc, due, kind)
                })?;
                self.tell(observer);
                continue;
            }
            let core = core_of(first) as usize;
            let Some(hart) = self.harts.get_mut(core) else {
                return Err(self.deadlock());
            };
            self.shared.sleepers.take();
            let limit = self.shared.sleepers.first().min(due.min(end) << 6);
            if let Some((wait, register)) = hart.asleep.take() {
                wake(hart, &mut self.shared, wait, register, cycle_of(first));
            }
            self.shared.sleepers.disturbed = false;
            let pause = execute::run(hart, &mut self.shared, &mut self.code, host, limit, observer);
            if hart.asleep.is_none() {
                self.shared.sleepers.insert(hart.key());
            }
            if O::LOOKS {
                self.tell(observer);
            }
            match pause {
                Ok(Pause::Turn) => {}
                Ok(Pause::Call) => return Ok(Stop::Call { core: core as u32 }),
                Err(kind) => {
                    let (id, pc, time) =
                        self.harts.get(core).map_or((0, 0, 0), |it| (it.id, it.pc, it.time));
                    return Err(self.fault(id, pc, time, kind));
                }
            }
        }
    }

    /// Hands on what was noted.
    fn tell<O: Observer>(&mut self, observer: &mut O) {
        for event in self.shared.log.iter_mut().flat_map(|it| it.drain(..)) {
            observer.event(&event);
        }
    }

    #[cold]
    fn fault(&self, core: u32, pc: u32, cycle: u64, kind: FaultKind) -> Box<Fault> {
        let hart = self.harts.get(core as usize);
        Box::new(Fault {
            kind,
            core,
            pc,
            cycle,
            registers: hart.map_or([0; 32], Hart::registers),
            floats: hart.filter(|_| self.shared.csr.isa.f).map(Hart::floats),
            function: self.program.as_ref().and_then(|it| it.function(pc)).map(str::to_owned),
            place: self.program.as_ref().and_then(|it| it.place(pc)),
        })
    }

    /// All cores sleep. The one that began first to wait is named.
    #[cold]
    fn deadlock(&self) -> Box<Fault> {
        let sleeping = || self.harts.iter().filter_map(|it| it.asleep.map(|wait| (it, wait.0)));
        let waiting: Vec<(u32, Wait)> = sleeping().map(|(hart, wait)| (hart.id, wait)).collect();
        let first = sleeping().map(|it| it.0).min_by_key(|it| it.time);
        let (core, pc) = first.map_or((0, 0), |it| (it.id, it.waits_at));
        self.fault(core, pc, self.cycle(), FaultKind::Deadlock { waiting })
    }
}

/// A core goes on: its wait is counted, and it is told the answer.
fn wake(hart: &mut Hart, shared: &mut Shared, wait: Wait, register: u8, cycle: u64) {
    let slept = cycle.saturating_sub(hart.time);
    let sleeps = &mut hart.counters.sleeps;
    match wait {
        Wait::Barrier(_) => sleeps.barrier += slept,
        Wait::Event => sleeps.event += slept,
        Wait::Dma(_) | Wait::DmaQueue => sleeps.dma += slept,
    }
    hart.time += slept;
    hart.set_x(register, shared.sleepers.value(hart.id as usize));
    shared.note(Event::Wakes { cycle, core: hart.id });
}
