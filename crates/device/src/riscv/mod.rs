//! A cluster of 32-bit RISC-V cores beside the host, simulated in this process.
//!
//! Images are programs that say which cluster they were made for. A region is one run of such a program: core 0
//! calls the kernel, and forks. Mapped data lie outside of the cluster, at addresses above 4 GiB ([`simulated`]); variables
//! of the image lie inside, below. What programs cannot do by themselves they ask for, and [`Run`] answers.
//!
//! The cluster has one program at a time, and runs one region at a time: others wait for their turn.

mod print;
mod upward;

use std::cell::RefCell;
use std::ffi::CStr;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use abi::cluster::{ACCOUNT_STREAM, Ask, DESCRIPTION, KERNEL, MACHINE, MOST_SLOTS, SLOTS, START};
use abi::image::Payload;
use sim::{Cluster, Config, Counters, Fault, FaultKind, HostMemory, Stop};

use self::print::Words;
use self::upward::Desk;
use crate::memory::{DevicePtr, MemoryKind};
use crate::simulated::{self, Memory, View};
use crate::{
    Convention, Device, DeviceError, Held, Kernel, Launch, Module, Result, Symbol, Upcalls,
};

/// Whether kernels see the host's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Every map is a copy.
    Copies,
    /// Host addresses are device addresses.
    Shared,
}

/// The device.
#[derive(Debug)]
pub struct Riscv {
    sharing: Sharing,
    memory: Memory,
    /// Cycles that a region may take.
    limit: Option<u64>,
    loaded: Mutex<Loaded>,
    /// Who runs regions that kernels hand back.
    desk: OnceLock<Desk>,
}

/// How many cycles a region may take: without a limit, cores that wait for one another in a loop do so for ever.
pub const LIMIT_VARIABLE: &str = "FERRY_CYCLE_LIMIT";

#[derive(Debug, Default)]
struct Loaded {
    program: Option<Program>,
    last: u64,
    /// What the last region took.
    account: Option<String>,
}

#[derive(Debug)]
struct Program {
    module: Module,
    cluster: Cluster,
    start: u32,
    kernel: u32,
    slots: u32,
}

impl Riscv {
    /// Device `number` of its kind.
    ///
    /// # Errors
    /// If there is no room for its memory among the addresses of the process.
    pub fn open(number: usize, sharing: Sharing) -> Result<Riscv> {
        let limit = simulated::number_of_cycles(LIMIT_VARIABLE)?;
        let (loaded, desk) = (Mutex::default(), OnceLock::new());
        Ok(Riscv { sharing, memory: Memory::new(number)?, limit, loaded, desk })
    }

    fn loaded(&self) -> MutexGuard<'_, Loaded> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, module: Module, name: &CStr) -> Result<u32> {
        let loaded = self.loaded();
        let program = loaded.program.as_ref().filter(|it| it.module == module);
        let program = program.ok_or_else(|| DeviceError::BadImage("it is not loaded".into()))?;
        let name = name.to_string_lossy();
        program.cluster.symbol(&name).ok_or_else(|| DeviceError::NotFound(name.into_owned()))
    }

    /// Does something to bytes that lie in the cluster; `None` if they do not.
    fn inside<T>(&self, at: DevicePtr, act: impl FnOnce(&mut Cluster, u32) -> T) -> Option<T> {
        let at = u32::try_from(at.0).ok()?;
        self.loaded().program.as_mut().map(|it| act(&mut it.cluster, at))
    }
}

fn not_there(at: DevicePtr) -> DeviceError {
    DeviceError::Failed(format!("the cluster has no memory at {at}"))
}

#[allow(unsafe_code, reason = "copies by address")]
impl Device for Riscv {
    fn name(&self) -> &str {
        match self.sharing {
            Sharing::Copies => "riscv",
            Sharing::Shared => "riscv:shared",
        }
    }

    fn shares_host_memory(&self) -> bool {
        self.sharing == Sharing::Shared
    }

    fn memory(&self) -> usize {
        self.memory.bytes()
    }

    fn hold(&self) -> Option<Box<dyn Held + '_>> {
        Some(Box::new((self.loaded(), self.memory.blocks())))
    }

    fn accepts(&self, image: &[u8]) -> bool {
        Payload::of(image) == Payload::NarrowElf { machine: MACHINE }
    }

    fn load(&self, image: &[u8]) -> Result<Module> {
        let bad = DeviceError::BadImage;
        let about = sim::note(image, DESCRIPTION)
            .ok_or_else(|| bad("it does not say which cluster it was made for".into()))?;
        let config = Config::from_toml(about).map_err(|error| bad(error.to_string()))?;
        let mut cluster = Cluster::new(&config);
        cluster.load(image).map_err(|error| bad(error.to_string()))?;
        let find =
            |name: &str| cluster.symbol(name).ok_or_else(|| DeviceError::NotFound(name.to_owned()));
        let (start, kernel, slots) = (find(START)?, find(KERNEL)?, find(SLOTS)?);
        let mut loaded = self.loaded();
        if loaded.program.is_some() {
            return Err(bad(
                "the cluster has another program already, and runs one at a time".into()
            ));
        }
        loaded.last += 1;
        let module = Module(loaded.last);
        loaded.program = Some(Program { module, cluster, start, kernel, slots });
        Ok(module)
    }

    fn unload(&self, module: Module) -> Result<()> {
        let mut loaded = self.loaded();
        if loaded.program.as_ref().is_some_and(|it| it.module == module) {
            loaded.program = None;
        }
        Ok(())
    }

    fn symbol(&self, module: Module, name: &CStr) -> Result<Symbol> {
        let address = DevicePtr(u64::from(self.find(module, name)?));
        Ok(Symbol { address, size: 0 })
    }

    fn kernel(&self, module: Module, name: &CStr) -> Result<Kernel> {
        self.find(module, name).map(|it| Kernel(u64::from(it)))
    }

    fn alloc(&self, bytes: usize, align: usize, _kind: MemoryKind) -> Result<DevicePtr> {
        self.memory.alloc(bytes, align)
    }

    fn owns(&self, at: DevicePtr) -> bool {
        self.memory.owns(at.0)
    }

    unsafe fn free(&self, ptr: DevicePtr) -> Result<()> {
        self.memory.free(ptr)
    }

    unsafe fn copy_in(&self, dst: DevicePtr, src: *const u8, len: usize) -> Result<()> {
        // SAFETY: the caller's promise, here and below.
        let from = unsafe { std::slice::from_raw_parts(src, len) };
        match self.inside(dst, |cluster, at| cluster.write(at, from)) {
            Some(true) => Ok(()),
            Some(false) => Err(not_there(dst)),
            // SAFETY: see above; the ranges may be the same where memory is shared.
            None => unsafe {
                std::ptr::copy(src, dst.0 as *mut u8, len);
                Ok(())
            },
        }
    }

    unsafe fn copy_out(&self, dst: *mut u8, src: DevicePtr, len: usize) -> Result<()> {
        let mut bytes = Vec::new();
        let read = self.inside(src, |cluster, at| {
            bytes.resize(len, 0);
            cluster.read(at, &mut bytes)
        });
        match read {
            // SAFETY: the caller's promise, here and below.
            Some(true) => unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), dst, len) },
            Some(false) => return Err(not_there(src)),
            // SAFETY: see above.
            None => unsafe { std::ptr::copy(src.0 as *const u8, dst, len) },
        }
        Ok(())
    }

    unsafe fn launch(&self, kernel: Kernel, args: &[u64], launch: &Launch<'_>) -> Result<()> {
        if launch.convention == Convention::Parameters {
            return Err(DeviceError::Unsupported("kernels of other compilers"));
        }
        if args.len() > MOST_SLOTS {
            return Err(DeviceError::Unsupported("kernels with more than 256 parameters"));
        }
        let mut loaded = self.loaded();
        let Some(program) = &mut loaded.program else {
            return Err(DeviceError::BadImage("it is not loaded any more".into()));
        };
        let Program { cluster, start, kernel: place, slots, .. } = program;
        let words: Vec<u8> = args.iter().flat_map(|it| it.to_le_bytes()).collect();
        let is_written = cluster.write(*slots, &words)
            && cluster.write(*place, &(kernel.0 as u32).to_le_bytes());
        if !is_written {
            return Err(DeviceError::BadImage("its variables are not in its memory".into()));
        }
        let before = (cluster.cycle(), cluster.counters());
        cluster.start(*start);
        let is_shared = self.shares_host_memory();
        let (memory, limit, notes) = (&self.memory, self.limit, RefCell::default());
        let run = Run { memory, is_shared, limit, notes, desk: self.desk.get() };
        let ended = run.go(cluster);
        let mut account = account(cluster, before.0, &before.1);
        for note in run.notes.into_inner() {
            // Writing to a string cannot fail.
            let _ = write!(account, "; brought into the scratchpad of {note}");
        }
        loaded.account = Some(account);
        ended
    }

    fn answer(&self, upcalls: Arc<dyn Upcalls>) -> Result<()> {
        // Asked for once.
        let _ = self.desk.set(Desk::new(upcalls));
        Ok(())
    }

    fn account(&self) -> Option<String> {
        self.loaded().account.take()
    }
}

/// One region.
struct Run<'a> {
    memory: &'a Memory,
    is_shared: bool,
    /// Cycles that it may take.
    limit: Option<u64>,
    /// What the program says for the account.
    notes: RefCell<Vec<String>>,
    /// Who runs regions that go back to the host.
    desk: Option<&'a Desk>,
}

impl Run<'_> {
    fn go(&self, cluster: &mut Cluster) -> Result<()> {
        let end = self.limit.map(|it| cluster.cycle().saturating_add(it));
        loop {
            let mut view = View::new(self.memory, self.is_shared);
            match cluster.run(&mut view, end) {
                Ok(Stop::Exited(_)) => return Ok(()),
                Ok(Stop::Call { core }) => {
                    self.answer(cluster, core).inspect_err(|_| cluster.abandon_transfers())?;
                }
                Ok(Stop::Paused) => {
                    cluster.abandon_transfers();
                    return Err(too_long(cluster, self.limit.unwrap_or(0)));
                }
                Err(fault) => {
                    cluster.abandon_transfers();
                    return Err(told(&fault));
                }
            }
        }
    }

    /// A core asks for something.
    fn answer(&self, cluster: &mut Cluster, core: u32) -> Result<()> {
        let (what, at) = (cluster.register(core, 10), cluster.register(core, 11));
        let nonsense = || DeviceError::Fault {
            address: None,
            what: format!("core {core} asks the host for something unknown"),
        };
        let word = |cluster: &Cluster, index: u32| {
            let mut bytes = [0; 8];
            let is_there = cluster.read(at.wrapping_add(8 * index), &mut bytes);
            is_there.then(|| u64::from_le_bytes(bytes)).ok_or_else(nonsense)
        };
        let set = |cluster: &mut Cluster, index: u32, value: u64| {
            let is_there = cluster.write(at.wrapping_add(8 * index), &value.to_le_bytes());
            is_there.then_some(()).ok_or_else(nonsense)
        };
        match Ask::of(what).ok_or_else(nonsense)? {
            Ask::Allocate => {
                let bytes = usize::try_from(word(cluster, 1)?).unwrap_or(usize::MAX);
                let align = usize::try_from(word(cluster, 2)?).unwrap_or(0);
                let align = if align.is_power_of_two() { align } else { 16 };
                let at = self.memory.alloc(bytes, align).map_or(0, |it| it.0);
                set(cluster, 0, at)
            }
            Ask::Free => {
                let at = DevicePtr(word(cluster, 0)?);
                self.memory.free(at).map_err(|_| DeviceError::Fault {
                    address: Some(at.0),
                    what: "free of what was not allocated".into(),
                })
            }
            Ask::Size => {
                let at = word(cluster, 0)?;
                let bytes = self.memory.size_of_block(at).ok_or_else(|| DeviceError::Fault {
                    address: Some(at),
                    what: "realloc of what was not allocated".into(),
                })?;
                set(cluster, 1, bytes as u64)
            }
            Ask::Range => {
                let [at, bytes, writes] = [word(cluster, 0)?, word(cluster, 1)?, word(cluster, 2)?];
                let is_there = self.memory.has(at, bytes) || {
                    // What the host may write at the same time is never written back as it was.
                    let mut view = View::new(self.memory, self.is_shared);
                    writes == 0 && self.is_shared && view.reaches(at, bytes)
                };
                set(cluster, 3, u64::from(is_there))
            }
            Ask::Region => {
                let desk = self.desk.ok_or_else(|| DeviceError::Fault {
                    address: None,
                    what: "a region goes back to the host, which the program does not require"
                        .into(),
                })?;
                let mut message = [0; upward::WORDS];
                for (index, it) in (0..).zip(&mut message) {
                    *it = word(cluster, index)?;
                }
                let answer = desk.go_on(core, message, self, cluster)?;
                (0..).zip(answer).try_for_each(|(index, it)| set(cluster, index, it))
            }
            Ask::Stop => Err(DeviceError::Exited { status: at as i32 }),
            Ask::Crash => {
                let text = self.text(cluster, word(cluster, 0)?, None).unwrap_or_default();
                let what = String::from_utf8_lossy(&text).into_owned();
                Err(DeviceError::Fault { address: None, what })
            }
            Ask::Print => {
                let [format, slots, stream, into, room] = [
                    word(cluster, 0)?,
                    word(cluster, 1)?,
                    word(cluster, 2)?,
                    word(cluster, 4)?,
                    word(cluster, 5)?,
                ];
                let unreadable = || DeviceError::Fault {
                    address: None,
                    what: "printf with a format or a text that cannot be read".into(),
                };
                let format = self.text(cluster, format, None).ok_or_else(unreadable)?;
                let mut words = Arguments { run: self, cluster, next: slots };
                let text = print::format(&format, &mut words).ok_or_else(unreadable)?;
                if stream == 0 {
                    // As `snprintf` does: what fits, and a zero byte.
                    let most = usize::try_from(room).unwrap_or(usize::MAX);
                    let shown = text.get(..most.saturating_sub(1)).unwrap_or(&text);
                    if most > 0 {
                        let bytes = [shown, &[0]].concat();
                        self.write(cluster, into, &bytes).ok_or_else(unreadable)?;
                    }
                } else if stream == ACCOUNT_STREAM {
                    self.notes.borrow_mut().push(String::from_utf8_lossy(&text).into_owned());
                } else {
                    print::show(&text, stream == 2);
                }
                set(cluster, 3, text.len() as u64)
            }
        }
    }

    /// Bytes that a kernel points to, inside or outside of the cluster.
    fn read(&self, cluster: &Cluster, at: u64, into: &mut [u8]) -> Option<()> {
        match u32::try_from(at) {
            Ok(inside) => cluster.read(inside, into).then_some(()),
            Err(_) => View::new(self.memory, self.is_shared).read(at, into).ok(),
        }
    }

    fn write(&self, cluster: &mut Cluster, at: u64, from: &[u8]) -> Option<()> {
        match u32::try_from(at) {
            Ok(inside) => cluster.write(inside, from).then_some(()),
            Err(_) => View::new(self.memory, self.is_shared).write(at, from).ok(),
        }
    }

    fn text(&self, cluster: &Cluster, at: u64, most: Option<usize>) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        while most.is_none_or(|it| text.len() < it) {
            let mut byte = [0];
            self.read(cluster, at.wrapping_add(text.len() as u64), &mut byte)?;
            let [byte] = byte;
            if byte == 0 {
                break;
            }
            text.push(byte);
        }
        Some(text)
    }
}

/// The words of a call of `printf`.
struct Arguments<'a> {
    run: &'a Run<'a>,
    cluster: &'a Cluster,
    next: u64,
}

impl Words for Arguments<'_> {
    fn next(&mut self) -> Option<u64> {
        let mut bytes = [0; 8];
        self.run.read(self.cluster, self.next, &mut bytes)?;
        self.next = self.next.wrapping_add(8);
        Some(u64::from_le_bytes(bytes))
    }

    fn text(&mut self, at: u64, most: Option<usize>) -> Option<Vec<u8>> {
        self.run.text(self.cluster, at, most)
    }
}

/// A region that takes longer than it may: where its cores are.
fn too_long(cluster: &Cluster, limit: u64) -> DeviceError {
    let mut what = format!("it took more than {limit} cycles ({LIMIT_VARIABLE});");
    for core in 0..cluster.config().cores.count {
        let (pc, function) = cluster.position(core);
        // Writing to a string cannot fail.
        let _ = write!(what, " core {core} is at {pc:#x}, {};", function.unwrap_or("?"));
    }
    DeviceError::Fault { address: None, what }
}

/// A fault in the words of all devices.
fn told(fault: &Fault) -> DeviceError {
    let address = match fault.kind {
        FaultKind::NotFlushed { address, .. }
        | FaultKind::OldCopy { address }
        | FaultKind::SharedLine { address, .. }
        | FaultKind::Unmapped { address, .. }
        | FaultKind::ReadOnly { address }
        | FaultKind::Misaligned { address, .. }
        | FaultKind::Transfer { address, .. }
        | FaultKind::TransferBeyond { address } => Some(address),
        FaultKind::NoReservations { .. }
        | FaultKind::NoRegister { .. }
        | FaultKind::StackOverflow { .. }
        | FaultKind::Illegal { .. }
        | FaultKind::Breakpoint
        | FaultKind::Queued { .. }
        | FaultKind::Deadlock { .. } => None,
    };
    DeviceError::Fault { address, what: fault.to_string() }
}

/// Cycles, and what the cores waited for, of all that happened since.
fn account(cluster: &Cluster, cycle: u64, before: &[Counters]) -> String {
    let after = cluster.counters();
    let sum = |of: fn(&Counters) -> u64| {
        let total = |all: &[Counters]| all.iter().map(of).sum::<u64>();
        total(&after).saturating_sub(total(before))
    };
    let mut text = format!(
        "{} cycles, {} instructions",
        cluster.cycle().saturating_sub(cycle),
        sum(|it| it.instructions)
    );
    type Cause = (&'static str, fn(&Counters) -> u64);
    let causes: [Cause; 12] = [
        ("data", |it| it.stalls.data),
        ("branches", |it| it.stalls.branch),
        ("arithmetic", |it| it.stalls.arithmetic),
        ("control", |it| it.stalls.control),
        ("bank conflicts", |it| it.stalls.conflict),
        ("misaligned", |it| it.stalls.misaligned),
        ("l2", |it| it.stalls.l2),
        ("host memory", |it| it.stalls.host),
        ("fetches", |it| it.stalls.fetch),
        ("wide accesses", |it| it.stalls.wide),
        ("barriers", |it| it.sleeps.barrier),
        ("dma", |it| it.sleeps.dma),
    ];
    let mut begin = "; core cycles waited for ";
    for (name, of) in causes {
        let cycles = sum(of);
        if cycles > 0 {
            // Writing to a string cannot fail.
            let _ = write!(text, "{begin}{name} {cycles}");
            begin = ", ";
        }
    }
    text
}
