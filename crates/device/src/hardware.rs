//! Hardware that is simulated in this process, cycle by cycle: kernels as designs ([`rtl`]).
//!
//! Images are texts of designs. Mapped data lie in memory of the device's own ([`simulated`]), and every access of a kernel is
//! checked. Launches of several threads run side by side: each is a kernel of its own with a clock of its own. Kernels of a
//! group run at the same time ([`together`]).

mod together;

use std::ffi::CStr;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rtl::Design;
use rtl::run::{self, Fault};
use rtl::text::read;

use together::{Pending, Together, Waits};

use crate::memory::{DevicePtr, MemoryKind};
use crate::riscv::LIMIT_VARIABLE;
use crate::simulated::{self, Memory};
use crate::{Convention, Device, DeviceError, Held, Kernel, Launch, Module, Result, Symbol};

/// The device.
#[derive(Debug)]
pub struct Hardware {
    memory: Memory,
    /// Cycles that a region may take.
    limit: Option<u64>,
    loaded: Mutex<Loaded>,
    /// Launches that wait for the rest of their group.
    pending: Mutex<Option<Pending>>,
}

#[derive(Debug, Default)]
struct Loaded {
    /// Kernels of all images; what is unloaded leaves its place.
    kernels: Vec<Option<Arc<Loadable>>>,
    groups: Vec<Arc<Together>>,
    last: u64,
    /// What the last region took.
    account: Option<String>,
    /// What the user should know.
    remark: Option<String>,
}

#[derive(Debug)]
struct Loadable {
    module: Module,
    name: String,
    design: Design,
    clock: f64,
}

impl Hardware {
    /// Device `number` of its kind.
    ///
    /// # Errors
    /// If there is no room for its memory among the addresses of the process.
    pub fn open(number: usize) -> Result<Hardware> {
        let limit = simulated::number_of_cycles(LIMIT_VARIABLE)?;
        let memory = Memory::new(number)?;
        Ok(Hardware { memory, limit, loaded: Mutex::default(), pending: Mutex::default() })
    }

    fn loaded(&self) -> MutexGuard<'_, Loaded> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pending(&self) -> MutexGuard<'_, Option<Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs launches that wait, if there is something that they may see or that sees what they do.
    fn settle(&self, address: Option<u64>) -> Result<()> {
        let mut pending = self.pending();
        let Some(it) = pending.as_ref() else { return Ok(()) };
        let block = address.and_then(|it| self.memory.around(it)).map(|it| it.start);
        match block.is_some_and(|block| it.young.contains(&block)) {
            true => Ok(()),
            false => self.alone(&mut pending),
        }
    }

    /// Runs launches that wait one after the other, without their group.
    fn alone(&self, pending: &mut Option<Pending>) -> Result<()> {
        let Some(Pending { launches, .. }) = pending.take() else { return Ok(()) };
        launches.iter().try_for_each(|it| {
            let account = self.run(it)?;
            self.account_for(format!("{}, alone: {account}", it.name));
            Ok(())
        })
    }

    /// Runs a kernel: what it took.
    fn run(&self, it: &Waits) -> Result<String> {
        let mut registers = it.kernel.design.begin(&it.args);
        let most = self.limit.unwrap_or(u64::MAX);
        let mut reach = Reach { memory: &self.memory, known: Vec::new() };
        let ran = run::run(&it.kernel.design, &mut registers, &mut reach, most);
        Ok(it.kernel.took(ran.map_err(|it| told(it, most))?))
    }

    /// Runs a group: what it took.
    fn run_together(&self, it: &Pending) -> Result<String> {
        let most = self.limit.unwrap_or(u64::MAX);
        let mut reach = Reach { memory: &self.memory, known: Vec::new() };
        let ran = run::together(&it.together.group, &it.registers(), &mut reach, most);
        let cycles = ran.map_err(|fault| match fault {
            Fault::Deadlock(waiting) => it.stuck(&waiting),
            fault @ (Fault::Read(_) | Fault::Write(_) | Fault::Element(_) | Fault::Long) => {
                told(fault, most)
            }
        })?;
        let (mut took, mut names) = (String::new(), Vec::new());
        for it in &it.launches {
            took = it.kernel.took(cycles);
            names.push(it.name.as_str());
        }
        names.pop();
        Ok(format!("{took}, at the same time as {}", names.join(", ")))
    }

    fn account_for(&self, what: String) {
        let account = &mut self.loaded().account;
        let before = account.take().map_or(String::new(), |it| format!("{it}; "));
        *account = Some(format!("{before}{what}"));
    }
}

impl Loadable {
    fn took(&self, cycles: u64) -> String {
        let time = cycles as f64 / self.clock;
        format!("{cycles} cycles simulated, {time:.3} us at {} MHz, which is assumed", self.clock)
    }
}

#[allow(unsafe_code, reason = "copies by address")]
impl Device for Hardware {
    fn name(&self) -> &str {
        "fpga-rtl"
    }

    fn shares_host_memory(&self) -> bool {
        false
    }

    fn memory(&self) -> usize {
        self.memory.bytes()
    }

    fn hold(&self) -> Option<Box<dyn Held + '_>> {
        Some(Box::new((self.pending(), self.loaded(), self.memory.blocks())))
    }

    fn accepts(&self, image: &[u8]) -> bool {
        image.starts_with(abi::image::HARDWARE.as_bytes())
    }

    fn load(&self, image: &[u8]) -> Result<Module> {
        let text = str::from_utf8(image).map_err(|it| DeviceError::BadImage(it.to_string()))?;
        let found = read(text).map_err(|it| DeviceError::BadImage(it.to_string()))?;
        let mut loaded = self.loaded();
        loaded.last += 1;
        let module = Module(loaded.last);
        let (board, clock) = (found.board, found.clock);
        for (name, design) in found.kernels {
            loaded.kernels.push(Some(Arc::new(Loadable { module, name, design, clock })));
        }
        let groups = found.groups.into_iter().map(|group| Arc::new(Together { module, group }));
        loaded.groups.extend(groups);
        loaded.remark = Some(format!(
            "`fpga-rtl` simulates hardware with the latencies of `{board}`, cycle by cycle: no board is used"
        ));
        Ok(module)
    }

    fn unload(&self, module: Module) -> Result<()> {
        self.settle(None)?;
        let mut loaded = self.loaded();
        loaded.groups.retain(|it| it.module != module);
        let gone =
            |it: &&mut Option<Arc<Loadable>>| it.as_ref().is_some_and(|it| it.module == module);
        loaded.kernels.iter_mut().filter(gone).for_each(|it| *it = None);
        Ok(())
    }

    fn remark(&self) -> Option<String> {
        self.loaded().remark.take()
    }

    fn symbol(&self, _: Module, name: &CStr) -> Result<Symbol> {
        Err(DeviceError::NotFound(name.to_string_lossy().into_owned()))
    }

    fn kernel(&self, module: Module, name: &CStr) -> Result<Kernel> {
        let text = name.to_string_lossy();
        let is_meant = |it: &Option<Arc<Loadable>>| {
            it.as_ref().is_some_and(|it| it.module == module && it.name == text)
        };
        let found = self.loaded().kernels.iter().position(is_meant);
        found.map(|it| Kernel(it as u64)).ok_or_else(|| DeviceError::NotFound(text.into_owned()))
    }

    fn alloc(&self, bytes: usize, align: usize, _kind: MemoryKind) -> Result<DevicePtr> {
        let at = self.memory.alloc(bytes, align)?;
        if let Some(it) = self.pending().as_mut() {
            it.young.push(at.0);
        }
        Ok(at)
    }

    fn owns(&self, at: DevicePtr) -> bool {
        self.memory.owns(at.0)
    }

    unsafe fn free(&self, ptr: DevicePtr) -> Result<()> {
        self.settle(Some(ptr.0))?;
        if let Some(it) = self.pending().as_mut() {
            it.young.retain(|it| *it != ptr.0);
        }
        self.memory.free(ptr)
    }

    unsafe fn copy_in(&self, dst: DevicePtr, src: *const u8, len: usize) -> Result<()> {
        self.settle(Some(dst.0))?;
        // SAFETY: the caller's promise: both are memory of this process, and the device's is apart.
        unsafe { std::ptr::copy_nonoverlapping(src, dst.0 as *mut u8, len) };
        Ok(())
    }

    unsafe fn copy_out(&self, dst: *mut u8, src: DevicePtr, len: usize) -> Result<()> {
        self.settle(Some(src.0))?;
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(src.0 as *const u8, dst, len) };
        Ok(())
    }

    unsafe fn launch(&self, kernel: Kernel, args: &[u64], launch: &Launch<'_>) -> Result<()> {
        if launch.convention == Convention::Parameters {
            return Err(DeviceError::Unsupported("kernels of other compilers"));
        }
        let place = usize::try_from(kernel.0).unwrap_or(usize::MAX);
        let found = self.loaded().kernels.get(place).cloned().flatten();
        let it = found.ok_or_else(|| DeviceError::BadImage("it is not loaded any more".into()))?;
        let it = Waits { kernel: it, args: args.to_vec(), name: launch.name.to_owned() };
        let mut pending = self.pending();
        if !pending.as_ref().is_some_and(|that| that.takes(&it)) {
            self.alone(&mut pending)?;
            let begins = |that: &&Arc<Together>| {
                let first = that.group.members.first();
                that.module == it.kernel.module
                    && first.is_some_and(|that| that.name == it.kernel.name)
            };
            let Some(together) = self.loaded().groups.iter().find(begins).cloned() else {
                drop(pending);
                let account = self.run(&it)?;
                self.account_for(account);
                return Ok(());
            };
            *pending = Some(Pending { together, launches: Vec::new(), young: Vec::new() });
        }
        if let Some(that) = pending.as_mut() {
            that.launches.push(it);
        }
        match pending.take_if(|it| it.is_whole()) {
            None => self.account_for("waits for the regions that run at the same time".to_owned()),
            Some(all) => {
                drop(pending);
                let account = self.run_together(&all)?;
                self.account_for(account);
            }
        }
        Ok(())
    }

    fn account(&self) -> Option<String> {
        self.loaded().account.take()
    }
}

fn told(fault: Fault, most: u64) -> DeviceError {
    let crash = |what: &str, address| DeviceError::Fault {
        address: Some(address),
        what: format!("{what} of an unmapped address"),
    };
    match fault {
        Fault::Read(address) => crash("read", address),
        Fault::Write(address) => crash("write", address),
        Fault::Element(element) => DeviceError::Fault {
            address: None,
            what: format!("access of element {element} of a memory on the chip that has fewer"),
        },
        Fault::Deadlock(_) => {
            DeviceError::Stopped { what: "it waits for a channel that nobody serves".to_owned() }
        }
        Fault::Long => DeviceError::Stopped {
            what: format!("it has not ended within {most} cycles ({LIMIT_VARIABLE})"),
        },
    }
}

/// What kernels reach: blocks of the device's memory.
struct Reach<'a> {
    memory: &'a Memory,
    /// Those that were found, the last that was used first.
    known: Vec<Range<u64>>,
}

impl Reach<'_> {
    /// Whether one block has all of these bytes.
    fn has(&mut self, address: u64, bytes: u64) -> bool {
        let fits = |it: &Range<u64>| it.contains(&address) && it.end - address >= bytes;
        if self.known.iter().any(fits) {
            return true;
        }
        let found = self.memory.around(address).filter(fits);
        let is_there = found.is_some();
        self.known.extend(found);
        is_there
    }
}

#[allow(unsafe_code, reason = "the memory is part of this process")]
impl rtl::run::Memory for Reach<'_> {
    fn load(&mut self, address: u64, bytes: usize) -> Option<u64> {
        let mut word = [0; 8];
        if !self.has(address, bytes as u64) || bytes > word.len() {
            return None;
        }
        // SAFETY: all of it is a block of the device; who frees it while a kernel uses it has a wrong program.
        unsafe { std::ptr::copy_nonoverlapping(address as *const u8, word.as_mut_ptr(), bytes) };
        Some(u64::from_le_bytes(word))
    }

    fn store(&mut self, address: u64, bytes: usize, value: u64) -> Option<()> {
        let word = value.to_le_bytes();
        if !self.has(address, bytes as u64) || bytes > word.len() {
            return None;
        }
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(word.as_ptr(), address as *mut u8, bytes) };
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `*p = *p + n`
    const IMAGE: &str = "board ecp5 50\nkernel k loads 2 stores 2\nregister u64\nregister s32\nslot 0 register 0\n\
        slot 1 register 1\nonce interval 1 depth 5 next 1\nnode begin 0 of u64 gives u64 at 0 for 0 with\n\
        node begin 1 of s32 gives s32 at 0 for 0 with\nnode load of u64 gives s32 at 0 for 2 with n0\n\
        node add of s32 gives s32 at 2 for 1 with n2 n1\nnode store of s32 gives s32 at 3 for 2 with n0 n3\n";

    const LAUNCH: Launch<'static> = Launch {
        convention: Convention::Slots,
        teams: 0,
        limit: 0,
        trip_count: 0,
        group_memory: 0,
        name: "k",
        source: "",
    };

    /// The first kernel puts `n` and `n + 1` into a channel, the second adds both to `*p`; as kernels they use an array.
    const PIPED: &str = include_str!("hardware/piped.txt");

    #[test]
    #[allow(unsafe_code, reason = "calls a device")]
    fn launches_of_a_group_run_at_the_same_time_unless_someone_looks() {
        let device = Hardware::open(4).unwrap();
        let module = device.load(format!("{}{PIPED}", abi::image::HARDWARE).as_bytes()).unwrap();
        let [first, second] = [c"first", c"second"].map(|it| device.kernel(module, it).unwrap());
        let [at, own, other] =
            [16, 4, 16].map(|it| device.alloc(it, 4, MemoryKind::Device).unwrap());
        let read = |at: DevicePtr| {
            let mut value = 0i32;
            // SAFETY: memory of the device and of this test.
            unsafe { device.copy_out((&raw mut value).cast(), at, 4).unwrap() };
            value
        };
        let write = |at: DevicePtr, value: i32| {
            // SAFETY: as above.
            unsafe { device.copy_in(at, (&raw const value).cast(), 4).unwrap() };
        };
        let launch = |kernel, args: &[u64]| {
            // SAFETY: what the kernels take.
            unsafe { device.launch(kernel, args, &LAUNCH).unwrap() };
            device.account().unwrap()
        };
        let is_together = |said: &str| said.contains("at the same time as k");
        write(at, -1);
        write(own, 40);
        // Both together: the array is not used.
        assert!(launch(first, &[at.0, 7]).contains("waits for"));
        assert!(is_together(&launch(second, &[at.0, own.0])));
        assert_eq!((read(own), read(at)), (40 + 7 + 8, -1));
        // What is new between them is none of theirs.
        launch(first, &[at.0, 1]);
        let new = device.alloc(4, 4, MemoryKind::Device).unwrap();
        write(new, 5);
        assert!(is_together(&launch(second, &[at.0, new.0])));
        assert_eq!(read(new), 5 + 1 + 2);
        // Who looks at what was there before sees what the first has done.
        launch(first, &[at.0, 20]);
        assert_eq!(read(at), 20);
        let said = launch(second, &[at.0, own.0]);
        assert!(said.starts_with("k, alone: ") && !is_together(&said), "{said}");
        assert_eq!(read(own), 55 + 20 + 21);
        // A channel that is another array, and a kernel that is none of the group.
        launch(first, &[at.0, 100]);
        write_array(&device, other, [1, 2]);
        assert!(!is_together(&launch(second, &[other.0, own.0])));
        assert_eq!((read(own), read(at)), (96 + 3, 100));
        launch(first, &[at.0, 3]);
        launch(first, &[at.0, 4]);
        assert!(is_together(&launch(second, &[at.0, own.0])));
        assert_eq!((read(own), read(at)), (99 + 9, 3));
        // What nobody waits for has run before its memory goes.
        launch(first, &[at.0, 50]);
        // SAFETY: nobody uses it after this.
        unsafe { device.free(at).unwrap() };
        assert!(device.pending().is_none());
    }

    #[allow(unsafe_code, reason = "calls a device")]
    fn write_array(device: &Hardware, at: DevicePtr, values: [i32; 2]) {
        // SAFETY: memory of the device and of this test.
        unsafe { device.copy_in(at, values.as_ptr().cast(), 8).unwrap() };
    }

    #[test]
    #[allow(unsafe_code, reason = "calls a device")]
    fn kernels_that_wait_for_each_other_for_ever_are_told() {
        let device = Hardware::open(5).unwrap();
        // The second takes three values of two.
        let text = PIPED.replace("less of s32 gives s32 at 0 for 0 with n0 #2\nnode add of s32 gives s32 at 0 for 1 with n0 #1\nnode pop", "less of s32 gives s32 at 0 for 0 with n0 #3\nnode add of s32 gives s32 at 0 for 1 with n0 #1\nnode pop");
        assert_ne!(text, PIPED);
        let module = device.load(format!("{}{text}", abi::image::HARDWARE).as_bytes()).unwrap();
        let [first, second] = [c"first", c"second"].map(|it| device.kernel(module, it).unwrap());
        let at = device.alloc(16, 4, MemoryKind::Device).unwrap();
        // SAFETY: what the kernels take.
        let ended = unsafe {
            device.launch(first, &[at.0, 1], &LAUNCH).unwrap();
            device.launch(second, &[at.0, at.0 + 8], &LAUNCH)
        };
        let said = ended.unwrap_err().to_string();
        assert!(said.contains("k waits for an element of the channel `t`"), "{said}");
    }

    #[test]
    #[allow(unsafe_code, reason = "calls a device")]
    fn a_kernel_works_on_memory_of_the_device_and_on_nothing_else() {
        let device = Hardware::open(3).unwrap();
        let image = format!("{}{IMAGE}", abi::image::HARDWARE);
        assert!(device.accepts(image.as_bytes()) && !device.accepts(b"// ferry: other"));
        let module = device.load(image.as_bytes()).unwrap();
        let kernel = device.kernel(module, c"k").unwrap();
        assert!(device.kernel(module, c"l").is_err());
        let at = device.alloc(4, 4, MemoryKind::Device).unwrap();
        let (mut value, own) = (40i32, 7i32);
        // SAFETY: memory of the device and of this test, and what the kernel takes.
        unsafe {
            device.copy_in(at, (&raw const value).cast(), 4).unwrap();
            device.launch(kernel, &[at.0, 2], &LAUNCH).unwrap();
            device.copy_out((&raw mut value).cast(), at, 4).unwrap();
            let outside = device.launch(kernel, &[(&raw const own) as u64, 2], &LAUNCH);
            assert!(
                matches!(outside, Err(DeviceError::Fault { address: Some(_), .. })),
                "{outside:?}"
            );
            let beyond = device.launch(kernel, &[at.0 + 1, 2], &LAUNCH);
            assert!(matches!(beyond, Err(DeviceError::Fault { .. })), "{beyond:?}");
        }
        assert_eq!((value, own), (42, 7));
        assert_eq!(
            device.account().unwrap(),
            "6 cycles simulated, 0.120 us at 50 MHz, which is assumed"
        );
        device.unload(module).unwrap();
        // SAFETY: as above.
        let gone = unsafe { device.launch(kernel, &[at.0, 2], &LAUNCH) };
        assert!(matches!(gone, Err(DeviceError::BadImage(_))), "{gone:?}");
        assert!(device.load(b"kernel").is_err());
    }
}
