//! One contract for every device: memory, images, kernels.
//!
//! The runtime above validates, counts, chooses and reports; a plugin does what it is told with one
//! foreign call where it can, and answers with a value or a [`DeviceError`]. A check here would
//! mislead the next reader into thinking that the runtime need not do it. What a plugin lacks it
//! answers with [`DeviceError::Unsupported`], never with silent success.
//!
//! All methods may be called from many threads at once, and the caller holds no lock while it
//! calls. Calls block until their work is done, launches too; work that its caller does not wait for in place is put
//! into a [`Stream`], and waited for there or by its [`Event`]. Plugins know neither the runtime nor one another.
//!
//! - [`cpu`]: the host's processor, in process
//! - [`separate`]: the same in a process and memory of its own
//! - [`opencl`]: what the OpenCL drivers of the machine offer
//! - [`cuda`]: NVIDIA GPUs
//! - [`hip`]: AMD's GPUs
//! - [`riscv`]: a simulated cluster of 32-bit cores
//! - [`hardware`]: kernels as hardware, simulated
//! - [`remote`]: other machines, whose programs are started and spoken to
//! - [`memory`], [`error`]: the plain types of the contract
//! - `arena`, `simulated`, `blocks`: memory of a device in another process or in this, parts of a range of memory
//! - `gpu`: what GPUs of all makers share: streams, memory that is kept, large copies, sizes of launches
//! - [`upcalls`]: what kernels may ask of the host; `handed_back`: the host as they see it
//! - [`library`], [`parameters`]: shared objects from memory, calls by address
//! - `look`: how long a side that waits for a process looks before it sleeps
//! - [`PLUGINS`]: how devices of each kind are opened; one more is one file and one line there, and one in [`abi::target`]

mod arena;
mod blocks;
pub mod cpu;
pub mod cuda;
pub mod error;
mod gpu;
mod handed_back;
pub mod hardware;
pub mod hip;
mod kept;
pub mod library;
mod look;
pub mod memory;
pub mod opencl;
pub mod parameters;
pub mod remote;
pub mod riscv;
pub mod separate;
mod simulated;
pub mod upcalls;

use std::ffi::CStr;
use std::sync::Arc;

use abi::entry::KernelFn;
use abi::target::{Kind, Remote, Target, Vendor};

pub use error::{DeviceError, Started};
pub use memory::{DevicePtr, MemoryKind};
pub use upcalls::{HandedBack, Original, Upcalls};

/// What every method answers.
pub type Result<T> = std::result::Result<T, DeviceError>;

/// How devices of a kind are found and opened.
#[derive(Clone, Copy, Debug)]
pub struct Plugin {
    /// Which kind; what is known of it is in [`abi::target::TARGETS`].
    pub kind: Kind,
    /// What a certain device gives though its kind lacks it, see [`Target::lacks`]; asked only where a program requires it.
    pub gives: fn(number: usize) -> u32,
    /// Those that are on this machine, by the names their makers gave them, or why there are none. Nothing where there are
    /// as many as are asked for.
    pub found: fn() -> Result<Option<Vec<String>>>,
    /// Opens one such device; the number tells several of its kind apart, from 0.
    pub open: fn(number: usize) -> Result<Box<dyn Device>>,
}

impl Plugin {
    /// What is known of the kind.
    pub fn target(&self) -> &'static Target {
        self.kind.target()
    }

    /// As the user writes it in `FERRY_DEVICE`.
    pub fn name(&self) -> &'static str {
        self.target().name
    }
}

/// The plugin of another machine. As many are there as are asked for: what starts one an image says.
macro_rules! remote {
    ($which:expr) => {
        Plugin {
            kind: Kind::Remote($which),
            gives: |_| 0,
            found: || Ok(None),
            open: |number| Ok(Box::new(remote::Other::open(Kind::Remote($which), number)?)),
        }
    };
}

/// The plugin of an FPGA, which an OpenCL driver emulates.
macro_rules! fpga {
    ($vendor:expr) => {
        Plugin {
            kind: Kind::Fpga($vendor),
            gives: |_| 0,
            found: opencl::found,
            open: |number| Ok(Box::new(opencl::OpenCl::open_as_fpga(number, $vendor)?)),
        }
    };
}

/// A plugin for every kind of device; the first lacks nothing and stands in for others.
pub const PLUGINS: &[Plugin] = &[
    Plugin {
        kind: Kind::Cpu,
        gives: |_| 0,
        found: || Ok(None),
        open: |_| Ok(Box::new(cpu::Cpu::new(cpu::Memory::Shared))),
    },
    Plugin {
        kind: Kind::CpuCopy,
        gives: |_| 0,
        found: || Ok(None),
        open: |_| Ok(Box::new(cpu::Cpu::new(cpu::Memory::Copies))),
    },
    Plugin {
        kind: Kind::CpuSeparate,
        gives: |_| 0,
        found: separate::found,
        open: |number| Ok(Box::new(separate::Separate::open(number)?)),
    },
    Plugin {
        kind: Kind::OpenCl,
        gives: opencl::gives,
        found: opencl::found,
        open: |number| Ok(Box::new(opencl::OpenCl::open(number)?)),
    },
    Plugin {
        kind: Kind::OpenCl12,
        gives: |_| 0,
        found: opencl::found,
        open: |number| Ok(Box::new(opencl::OpenCl::open_as_12(number)?)),
    },
    Plugin {
        kind: Kind::Cuda,
        gives: cuda::gives,
        found: cuda::found,
        open: |number| Ok(Box::new(cuda::Cuda::open(number)?)),
    },
    Plugin {
        kind: Kind::Hip,
        gives: |_| 0,
        found: hip::found,
        open: |number| Ok(Box::new(hip::Hip::open(number)?)),
    },
    Plugin {
        kind: Kind::Riscv,
        gives: |_| 0,
        found: || Ok(None),
        open: |number| Ok(Box::new(riscv::Riscv::open(number, riscv::Sharing::Copies)?)),
    },
    Plugin {
        kind: Kind::RiscvShared,
        gives: |_| 0,
        found: || Ok(None),
        open: |number| Ok(Box::new(riscv::Riscv::open(number, riscv::Sharing::Shared)?)),
    },
    fpga!(Vendor::Intel),
    fpga!(Vendor::Xilinx),
    Plugin {
        kind: Kind::Rtl,
        gives: |_| 0,
        found: || Ok(None),
        open: |number| Ok(Box::new(hardware::Hardware::open(number)?)),
    },
    remote!(Remote::Aarch64),
    remote!(Remote::Ppc64le),
    remote!(Remote::Riscv64),
    remote!(Remote::Ve),
    remote!(Remote::X86_64),
    remote!(Remote::Described),
];

/// How many seconds a kernel may take on devices that are processes.
pub const TIMEOUT_VARIABLE: &str = "FERRY_KERNEL_TIMEOUT";

/// The same as a time; none if the user does not say.
fn kernel_timeout() -> Option<std::time::Duration> {
    static SAID: std::sync::OnceLock<Option<u64>> = std::sync::OnceLock::new();
    let seconds = SAID.get_or_init(|| std::env::var(TIMEOUT_VARIABLE).ok()?.trim().parse().ok());
    seconds.map(std::time::Duration::from_secs)
}

/// An image that a device has loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Module(pub u64);

/// How a device came to the code of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// The driver has compiled it now.
    Compiled,
    /// It was compiled before, and kept.
    Kept,
}

/// A kernel that a device can launch. The number means what the device wants it to mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel(pub u64);

/// A variable of a loaded image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Where it lies on the device.
    pub address: DevicePtr,
    /// Its bytes; 0 where the image does not tell.
    pub size: usize,
}

/// How a kernel takes its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convention {
    /// `void kernel(void *const *args)`: kernels of our compiler.
    Slots,
    /// One 8-byte parameter each: kernels of clang and flang.
    Parameters,
}

/// What is known of a launch besides its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// How the kernel takes its arguments.
    pub convention: Convention,
    /// Teams asked for; 0 leaves it to the device.
    pub teams: u32,
    /// Threads per team at most; 0 leaves it to the device.
    pub limit: u32,
    /// Iterations of the region's loop; 0 when unknown.
    pub trip_count: u64,
    /// Bytes of memory that each team has of its own, besides what its kernel says.
    pub group_memory: u32,
    /// The kernel's name, for reports.
    pub name: &'a str,
    /// `file:line:column` of the region, for reports; may be empty.
    pub source: &'a str,
}

/// A place in a stream: all that was put into it before. The numbers mean what the device wants them to mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Work of one stream is done in its order.
    pub stream: usize,
    /// The place in the stream.
    pub number: u64,
}

/// Work of a device that is done in its order, of one caller: calls return when their work is put into it. Data that
/// it copies to the device are there for all calls that come later; what kernels have written others find when it was
/// waited for. A stream that is dropped is waited for, unless its work was left ([`Stream::leave`]).
#[allow(unsafe_code, reason = "addresses of two memories: what they mean is the caller's promise")]
pub trait Stream {
    /// Copies from the host to this device.
    ///
    /// # Safety
    /// As [`Device::copy_in`]; of more than 64 KiB the source stays as it is until the stream was waited for.
    unsafe fn copy_in(&self, dst: DevicePtr, src: *const u8, len: usize) -> Result<()>;

    /// The same for memory of which nobody else knows.
    ///
    /// # Safety
    /// As [`Stream::copy_in`].
    unsafe fn copy_in_own(&self, dst: DevicePtr, src: *const u8, len: usize) -> Result<()>;

    /// Copies from this device to the host, and waits.
    ///
    /// # Safety
    /// As [`Device::copy_out`].
    unsafe fn copy_out(&self, dst: *mut u8, src: DevicePtr, len: usize) -> Result<()>;

    /// Sets `len` bytes to `byte`.
    ///
    /// # Safety
    /// As [`Device::fill`].
    unsafe fn fill(&self, dst: DevicePtr, byte: u8, len: usize) -> Result<()>;

    /// Runs a kernel. A crash of it is [`DeviceError::Fault`] in the call that waits for it.
    ///
    /// # Safety
    /// As [`Device::launch`]; what the arguments point to on the device stays there until the kernel is done.
    unsafe fn launch(&self, kernel: Kernel, args: &[u64], launch: &Launch<'_>) -> Result<()>;

    /// Nothing was put into it that was not waited for.
    fn is_idle(&self) -> bool;

    /// Waits for all that was put into it.
    fn synchronise(&self) -> Result<()>;

    /// Nobody needs to wait for it: all that is asked of the device from now on, by anybody, comes after what is in it.
    /// What is put into it later is not meant. False: its work must be waited for.
    fn leave(&self) -> bool {
        false
    }

    /// Its work was left, and nothing in it reads the caller's memory any more: it need not be waited for.
    fn is_left(&self) -> bool {
        false
    }

    /// Its work goes on without the caller, who may wait for the event.
    fn submit(self: Box<Self>) -> Result<Event>;
}

/// Something that is only kept and then dropped: locks.
pub trait Held {}

impl<T> Held for T {}

/// What a device without images answers.
const NO_IMAGES: DeviceError = DeviceError::Unsupported("images");

/// A device. Object-safe; the runtime holds `Box<dyn Device>`.
#[allow(unsafe_code, reason = "addresses of two memories: what they mean is the caller's promise")]
pub trait Device: Send + Sync {
    /// As the user writes it: `cpu`, `cpu:separate`.
    fn name(&self) -> &str;

    /// Host addresses are device addresses: nothing needs to be allocated or copied for a map.
    fn shares_host_memory(&self) -> bool;

    /// Bytes of memory that it has.
    fn memory(&self) -> usize {
        memory::of_machine()
    }

    /// Takes all locks of the device until the answer is dropped: another thread forks meanwhile.
    fn hold(&self) -> Option<Box<dyn Held + '_>> {
        None
    }

    /// Kernels run in the calling thread of this process, so that it must be told where it is.
    fn runs_in_process(&self) -> bool {
        false
    }

    /// Can this device run the image? Asked before [`Device::load`], for every image of a binary.
    /// The host, as kernels of other devices see it, has none.
    fn accepts(&self, image: &[u8]) -> bool {
        let _ = image;
        false
    }

    /// Loads an image; its initialisers run now, once. The bytes may go away afterwards.
    fn load(&self, image: &[u8]) -> Result<Module> {
        let _ = image;
        Err(NO_IMAGES)
    }

    /// Unloads an image; its finalisers run now. Kernels and symbols of it are not used again.
    fn unload(&self, module: Module) -> Result<()> {
        let _ = module;
        Err(NO_IMAGES)
    }

    /// How it came to the code of an image, where images are compiled when they are loaded.
    fn build_of(&self, module: Module) -> Option<Build> {
        let _ = module;
        None
    }

    /// What the user should know about the images that were loaded; asked after each.
    fn remark(&self) -> Option<String> {
        None
    }

    /// Tells code that LLVM has compiled where it runs: the number of this device among so many, and functions whose
    /// addresses of the host, in their order, lead to those of the device.
    fn settle(
        &self,
        module: Module,
        number: usize,
        count: usize,
        functions: &[[u64; 2]],
    ) -> Result<()> {
        let _ = (module, number, count, functions);
        Ok(())
    }

    /// What its process has given up before kernels run, in words; `None` where there is no such process.
    fn confinement(&self) -> Option<String> {
        None
    }

    /// Finds a variable; [`DeviceError::NotFound`] if the image has none of that name.
    fn symbol(&self, module: Module, name: &CStr) -> Result<Symbol> {
        let _ = (module, name);
        Err(NO_IMAGES)
    }

    /// Finds a kernel; [`DeviceError::NotFound`] if the image has none of that name.
    fn kernel(&self, module: Module, name: &CStr) -> Result<Kernel> {
        let _ = (module, name);
        Err(NO_IMAGES)
    }

    /// A kernel that the host's compiler has made and that lies in this process.
    fn host_kernel(&self, function: KernelFn) -> Result<Kernel> {
        let _ = function;
        Err(DeviceError::Unsupported("running code of the host's process"))
    }

    /// Memory of `bytes` (not 0), aligned to `align` (a power of two), uninitialised.
    fn alloc(&self, bytes: usize, align: usize, kind: MemoryKind) -> Result<DevicePtr>;

    /// Whether an address can be none of the host's, because it is in this device's memory.
    fn owns(&self, _: DevicePtr) -> bool {
        false
    }

    /// Gives memory back.
    ///
    /// # Safety
    /// `ptr` came from [`Device::alloc`] of this device and is not used again.
    unsafe fn free(&self, ptr: DevicePtr) -> Result<()>;

    /// Keeps memory of the host in its place, so that the device copies from and to it by itself.
    ///
    /// # Safety
    /// `bytes` at `at` are the program's and stay until [`Device::unlock_host`].
    unsafe fn lock_host(&self, at: *mut u8, bytes: usize) -> Result<()> {
        let _ = (at, bytes);
        Err(DeviceError::Unsupported("memory of the host that stays in its place"))
    }

    /// Ends that.
    ///
    /// # Safety
    /// It was locked by [`Device::lock_host`] of this device, and nothing is copied from or to it.
    unsafe fn unlock_host(&self, at: *mut u8) -> Result<()> {
        let _ = at;
        Err(DeviceError::Unsupported("memory of the host that stays in its place"))
    }

    /// Copies from the host to this device.
    ///
    /// # Safety
    /// `len` bytes at `src` can be read and nobody writes them meanwhile; `len` bytes at `dst` are
    /// memory of this device.
    unsafe fn copy_in(&self, dst: DevicePtr, src: *const u8, len: usize) -> Result<()>;

    /// Copies from this device to the host.
    ///
    /// # Safety
    /// `len` bytes at `dst` can be written and nobody uses them meanwhile; `len` bytes at `src` are
    /// memory of this device.
    unsafe fn copy_out(&self, dst: *mut u8, src: DevicePtr, len: usize) -> Result<()>;

    /// Copies within this device; the ranges may overlap. By itself, by way of the host.
    ///
    /// # Safety
    /// Both ranges are memory of this device.
    unsafe fn copy_within(&self, dst: DevicePtr, src: DevicePtr, len: usize) -> Result<()> {
        let mut piece = vec![0u8; len.min(memory::PIECE)];
        memory::in_pieces(len, dst.0 <= src.0, |at, size| {
            // SAFETY: the buffer has room for a piece; both ranges are the caller's promise.
            unsafe {
                self.copy_out(piece.as_mut_ptr(), src.offset(at), size)?;
                self.copy_in(dst.offset(at), piece.as_ptr(), size)
            }
        })
    }

    /// What another device of its kind needs to reach its memory; the number means what they want it to
    /// mean.
    fn peer_handle(&self) -> u64 {
        0
    }

    /// Copies to another device without passing through the host. Where this is unsupported the
    /// runtime takes the way through the host.
    ///
    /// # Safety
    /// `src` is memory of this device, `dst` of `peer`, `len` bytes each.
    unsafe fn copy_to_peer(
        &self,
        peer: &dyn Device,
        dst: DevicePtr,
        src: DevicePtr,
        len: usize,
    ) -> Result<()> {
        let _ = (peer, dst, src, len);
        Err(DeviceError::Unsupported("direct copies between devices"))
    }

    /// Sets `len` bytes to `byte`. By itself, by a copy from the host.
    ///
    /// # Safety
    /// `len` bytes at `dst` are memory of this device.
    unsafe fn fill(&self, dst: DevicePtr, byte: u8, len: usize) -> Result<()> {
        let piece = vec![byte; len.min(memory::PIECE)];
        memory::in_pieces(len, true, |at, size| {
            // SAFETY: the buffer has room for a piece; the range is the caller's promise.
            unsafe { self.copy_in(dst.offset(at), piece.as_ptr(), size) }
        })
    }

    /// Runs a kernel and returns when it is done. A crash of the kernel is
    /// [`DeviceError::Fault`] where the device can tell.
    ///
    /// # Safety
    /// `kernel` is of this device, `args` are what it takes in the order of its parameters, and
    /// what they point to on the device stays there until the call returns.
    unsafe fn launch(&self, kernel: Kernel, args: &[u64], launch: &Launch<'_>) -> Result<()>;

    /// What the last launch has taken, in the device's own terms, where it counts that; asked once.
    fn account(&self) -> Option<String> {
        None
    }

    /// Kernels may ask the host to run regions from now on: this answers them.
    fn answer(&self, upcalls: Arc<dyn Upcalls>) -> Result<()> {
        drop(upcalls);
        Err(DeviceError::Unsupported("kernels that call the host"))
    }

    /// Where kernels leave such regions, if that is memory that both sides see ([`abi::mailbox`]).
    fn mailbox(&self) -> Option<DevicePtr> {
        None
    }

    /// Asked of the host by kernels of another device: what it has mapped to there, which is then its
    /// own.
    fn original(&self, at: usize, size: usize) -> Result<Option<Original>> {
        let _ = (at, size);
        Ok(None)
    }

    /// What a mapper pushes that is a function of where data are mapped from, for an entry (base, begin, size, type).
    fn components(&self, mapper: u64, entry: [u64; 4]) -> Result<Vec<[u64; 4]>> {
        let _ = (mapper, entry);
        Err(DeviceError::Unsupported("mappers of another machine"))
    }

    /// A stream for work that the caller waits for; `None` where all calls wait.
    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        None
    }

    /// A stream for work that is submitted ([`Stream::submit`]) and comes after these events. Of at most 64 KiB it
    /// has read what is copied when the call returns.
    fn stream_behind(&self, events: &[Event]) -> Option<Box<dyn Stream + '_>> {
        let _ = events;
        None
    }

    /// Waits for an event, by any thread and any number of times. A crash is told as one of `kernel`,
    /// which is the last that was started before it.
    fn wait(&self, event: Event, kernel: &str) -> Result<()> {
        let _ = (event, kernel);
        Ok(())
    }

    /// Waits for several at once, where that is less work than for one after another; who waits for each
    /// then finds that they have come.
    fn wait_for_all(&self, events: &[Event]) -> Result<()> {
        let _ = events;
        Ok(())
    }

    /// Waits for all work that was left ([`Stream::leave`]), by whichever thread.
    fn wait_for_left(&self) -> Result<()> {
        Ok(())
    }

    /// Waits until everything asked so far is done. Nothing to do where all calls block.
    fn synchronize(&self) -> Result<()> {
        Ok(())
    }
}
