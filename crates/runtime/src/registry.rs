//! What the program's binaries have registered: regions, variables, images, requirements.
//!
//! Readers see a whole state and take no lock; a registration makes the next state. Nothing is loaded
//! before a device is first used; then every binary's image is loaded there and its variables get
//! permanent mappings.
#![allow(unsafe_code, reason = "tables and images of the program, by address")]

use std::ffi::{CStr, CString};
use std::slice;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use abi::entry::{self, FerryRegion, KernelFn};
use abi::image::Container;
use abi::names::{DEVICE_NUMBER, KERNEL_PREFIX, LINK_SUFFIX, MAILBOX, region_of};
use abi::{BinaryDescriptor, Entry, POINTER_SIZE, requires};
use arc_swap::{ArcSwap, Guard};
use device::{DeviceError, DevicePtr, Held, Kernel, Module};
use rustc_hash::FxHashMap;

use crate::args::{Name, Place};
use crate::devices::{self, DeviceState};
use crate::error::Error;
use crate::piece::Piece;
use crate::table::Mapped;
use crate::watch::{Direction, Watch};
use crate::{fork, llvm, llvm_info, loaded, report, tool};

/// One state of the registry.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    /// Grows with every change.
    version: u64,
    pub(crate) requires: u32,
    binaries: Vec<Arc<Binary>>,
    regions: FxHashMap<usize, Arc<Region>>,
}

/// One value per device, made when it is first asked for.
#[derive(Debug)]
struct PerDevice<T>(OnceLock<Box<[OnceLock<T>]>>);

impl<T> Default for PerDevice<T> {
    fn default() -> PerDevice<T> {
        PerDevice(OnceLock::new())
    }
}

impl<T> PerDevice<T> {
    fn get_or_init(&self, device: &DeviceState, make: impl FnOnce() -> T) -> Option<&T> {
        let all = fork::once(&self.0, || devices::all().iter().map(|_| OnceLock::new()).collect());
        all.get(device.number).map(|it| fork::once(it, make))
    }

    fn get(&self, device: &DeviceState) -> Option<&T> {
        self.0.get()?.get(device.number)?.get()
    }
}

/// An executable or shared library.
#[derive(Debug)]
struct Binary {
    /// The address of its descriptor.
    id: usize,
    /// Its file, for messages.
    name: String,
    images: Vec<(usize, usize)>,
    variables: Vec<Variable>,
    /// Symbols of the tables of functions that are called through pointers.
    function_tables: Vec<CString>,
    regions: Vec<usize>,
    /// The devices that each of its files was built for, in the order of preference, as `FERRY_DEVICE` has them.
    built_for: Vec<String>,
    /// Its kernels are LLVM's, which are in images on every device.
    is_llvm: bool,
    /// Its image on each device, with its variables; `None` inside: no image is for that device.
    modules: PerDevice<Result<Option<Module>, DeviceError>>,
    /// The same images, for all tables of a binary that have them.
    loaded: Arc<Loaded>,
}

/// Images of a binary that are loaded. One of files by Ferry and by LLVM has two tables and one image for both.
#[derive(Debug, Default)]
struct Loaded {
    modules: PerDevice<Result<Option<Module>, DeviceError>>,
    users: AtomicUsize,
}

/// A variable or function that exists on both sides.
#[derive(Debug)]
struct Variable {
    address: usize,
    name: CString,
    size: usize,
    is_indirect: bool,
    /// It is mapped on demand, to the image's room for it.
    is_room: bool,
}

impl Variable {
    /// A pointer to a variable that is used in place or mapped on demand.
    fn is_reference(&self) -> bool {
        self.size == POINTER_SIZE && self.name.to_bytes().ends_with(LINK_SUFFIX.as_bytes())
    }

    fn mapped_to(&self, at: DevicePtr) -> Mapped {
        let name = Some(Name::of_variable(&self.name));
        // The size of a function's entry is that of a pointer, and functions may be shorter: nothing but
        // its own address stands for one.
        let size = if self.is_indirect { 1 } else { self.size };
        Mapped { name, ..Mapped::permanent(self.address, size, at) }
    }
}

/// A region of the program.
#[derive(Debug)]
pub(crate) struct Region {
    /// What people call it: `main:8`.
    pub(crate) name: String,
    /// Its kernel's name in images.
    symbol: CString,
    /// The version for the host, where the region is ours.
    pub(crate) host: Option<KernelFn>,
    binary: Arc<Binary>,
    kernels: PerDevice<Result<Kernel, Error>>,
    /// Where it stands in the program, once that was asked.
    source: OnceLock<String>,
}

static REGISTRY: LazyLock<ArcSwap<Registry>> = LazyLock::new(ArcSwap::default);
static CHANGING: Mutex<()> = Mutex::new(());
static VERSIONS: AtomicU64 = AtomicU64::new(0);

/// The current state.
pub(crate) fn current() -> Guard<Arc<Registry>> {
    REGISTRY.load()
}

impl Registry {
    pub(crate) fn region(&self, id: usize) -> Option<&Arc<Region>> {
        self.regions.get(&id)
    }

    /// The region whose kernel has that name.
    pub(crate) fn named(&self, kernel: &str) -> Option<&Arc<Region>> {
        self.regions.values().find(|it| it.symbol.to_bytes() == kernel.as_bytes())
    }

    /// Loads what this device has not loaded yet.
    pub(crate) fn resolve(&self, device: &DeviceState) -> Result<(), Error> {
        if device.resolved.load(Ordering::Acquire) == self.version {
            return Ok(());
        }
        let _span = tool::device_begins(Watch::now(), device);
        for binary in &self.binaries {
            if let Err(error) = binary.module(device) {
                return Err(Error::Device { doing: "loading an image", what: None, error });
            }
        }
        device.resolved.store(self.version, Ordering::Release);
        Ok(())
    }

    /// What each file of the program was built for, see [`Binary::built_for`].
    pub(crate) fn built_for(&self) -> impl Iterator<Item = &str> {
        self.binaries.iter().flat_map(|it| &it.built_for).map(String::as_str)
    }

    /// Does the program require that unmapped data be used in place?
    pub(crate) fn is_unified(&self) -> bool {
        self.requires & requires::UNIFIED_SHARED_MEMORY != 0
    }
}

impl Region {
    /// Where it stands in the program; a call of it has told the place.
    pub(crate) fn source(&self, place: &Place) -> &str {
        self.source.get_or_init(|| place.to_string())
    }

    /// The kernel of this region on a device.
    pub(crate) fn kernel(&self, device: &DeviceState) -> Result<Kernel, Error> {
        let kernel = self.kernels.get_or_init(device, || self.find_kernel(device));
        match kernel {
            Some(Ok(kernel)) => Ok(*kernel),
            Some(Err(error)) => Err(error.clone()),
            None => Err(Error::BadCall("a device that is not in the list")),
        }
    }

    fn find_kernel(&self, device: &DeviceState) -> Result<Kernel, Error> {
        if let Some(function) = self.host
            && device.shares_memory
            && device.plugin.runs_in_process()
        {
            return device.plugin.host_kernel(function).map_err(|error| self.failed(error));
        }
        match self.binary.module(device) {
            Ok(Some(module)) => {
                let kernel = compiling(device, || device.plugin.kernel(module, &self.symbol));
                kernel.map_err(|error| self.failed(error))
            }
            Ok(None) => Err(Error::NoImage {
                region: self.name.clone(),
                binary: self.binary.name.clone(),
                device: device.kind.to_owned(),
            }),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn failed(&self, error: DeviceError) -> Error {
        Error::Crash { region: self.name.clone(), suspect: None, error }
    }
}

/// Has a device do something for which its driver may compile.
fn compiling<T>(device: &DeviceState, work: impl FnOnce() -> T) -> T {
    if device.plugin.runs_in_process() {
        return work();
    }
    let what = format!("compiling for device {} ({})", device.number, device.kind);
    report::while_waiting(&what, work)
}

impl Binary {
    /// The image of this binary on a device, loaded when first asked for.
    fn module(&self, device: &DeviceState) -> Result<Option<Module>, DeviceError> {
        let module = self.modules.get_or_init(device, || self.place(device));
        module.cloned().unwrap_or(Ok(None))
    }

    /// Loads the image and maps the variables.
    fn place(&self, device: &DeviceState) -> Result<Option<Module>, DeviceError> {
        // Where memory is shared and all code is ours, the binary itself is the image.
        let runs_here = device.shares_memory && device.plugin.runs_in_process();
        let is_image = runs_here && !llvm::is_program() && !self.is_llvm;
        if is_image {
            for variable in self.variables.iter().filter(|it| !it.is_room) {
                let at = DevicePtr(variable.address as u64);
                device.mapping.add_permanent(variable.mapped_to(at));
            }
            return Ok(None);
        }
        let module = self.loaded.modules.get_or_init(device, || self.load(device));
        let Some(module) = module.cloned().unwrap_or(Ok(None))? else { return Ok(None) };
        self.place_variables(device, module)?;
        Ok(Some(module))
    }

    fn load(&self, device: &DeviceState) -> Result<Option<Module>, DeviceError> {
        // Later images win, as a linker appends.
        let fitting = self.images.iter().rev().find_map(|(start, len)| {
            // SAFETY: the descriptor said that the image lies there, in the constants of a binary
            // that is registered, that is loaded.
            let bytes = unsafe { slice::from_raw_parts(*start as *const u8, *len) };
            let bytes = Container::read(bytes).map_or(bytes, |it| it.payload);
            device.plugin.accepts(bytes).then_some(bytes)
        });
        let Some(image) = fitting else { return Ok(None) };
        let timer = Watch::now().start();
        let module = compiling(device, || device.plugin.load(image))?;
        Watch::now().loaded(timer, device.number, device.plugin.build_of(module));
        Watch::now().confined(device.number, || device.plugin.confinement());
        if let Some(remark) = device.plugin.remark() {
            report::warn(&remark);
        }
        tool::loaded(Watch::now(), device.number, &self.name, image, module.0);
        Ok(Some(module))
    }

    /// Fills the tables that calls through pointers ask.
    fn place_functions(
        &self,
        device: &DeviceState,
        module: Module,
        functions: &[[u64; 2]],
    ) -> Result<(), DeviceError> {
        if functions.is_empty() || self.function_tables.is_empty() {
            return Ok(());
        }
        if functions.len() > entry::MOST_FUNCTIONS {
            return Err(DeviceError::Unsupported(
                "so many functions that are called through pointers",
            ));
        }
        let mut words = vec![(functions.len() as u64).to_ne_bytes()];
        words.extend(functions.iter().flatten().map(|it| it.to_ne_bytes()));
        let words = words.concat();
        for name in &self.function_tables {
            let Ok(symbol) = device.plugin.symbol(module, name) else { continue };
            let (from, bytes) = (words.as_ptr(), words.len());
            // SAFETY: the words are ours, and such a symbol has room for all functions.
            unsafe { device.plugin.copy_in(symbol.address, from, bytes) }?;
        }
        Ok(())
    }

    fn place_variables(&self, device: &DeviceState, module: Module) -> Result<(), DeviceError> {
        self.tell_place(device, module)?;
        let mut functions: Vec<[u64; 2]> = Vec::new();
        let is_unified = current().is_unified();
        for variable in &self.variables {
            // A variable that the image lacks was not needed there.
            let Ok(symbol) = device.plugin.symbol(module, &variable.name) else { continue };
            let mut at = symbol.address;
            // Where memory is shared, code that Ferry has linked uses the program's own variable if that is for all to see.
            let is_own = device.shares_memory && !llvm::is_program() && !variable.is_indirect;
            if is_own && loaded::address_of(&variable.name) == Some(variable.address) {
                at = DevicePtr(variable.address as u64);
            }
            if variable.is_room {
                device.mapping.rooms.add(variable.address, variable.size, at);
                continue;
            }
            if variable.is_indirect {
                let mut bytes = [0u8; 8];
                // SAFETY: such a symbol holds one function address.
                unsafe { device.plugin.copy_out(bytes.as_mut_ptr(), at, bytes.len()) }?;
                if Watch::now().has_llvm(llvm_info::COPIES) {
                    let (host, size) = (variable.address, variable.size);
                    let piece = Piece { host, device: at, size, name: None, skip: Vec::new() };
                    llvm_info::copied(device.number, Direction::Out, &piece);
                }
                at = DevicePtr(u64::from_ne_bytes(bytes));
                functions.push([variable.address as u64, at.0]);
            }
            if is_unified && variable.is_reference() {
                // The device uses the host's variable: its pointer gets the host's value.
                let (host, size) = (variable.address as *const u8, variable.size);
                // SAFETY: a pointer of the binary that registered it, and the image's own copy.
                unsafe { device.plugin.copy_in(at, host, size) }?;
            }
            device.mapping.add_permanent(variable.mapped_to(at));
        }
        functions.sort_unstable();
        self.place_functions(device, module, &functions)?;
        if self.is_llvm {
            device.plugin.settle(module, device.number, devices::all().len(), &functions)?;
        }
        Ok(())
    }

    /// Files that ask for the number of their device have a variable for it, and so have those whose kernels hand regions
    /// back to the host for where to leave them.
    fn tell_place(&self, device: &DeviceState, module: Module) -> Result<(), DeviceError> {
        let number = i32::try_from(device.number).unwrap_or(-1).to_ne_bytes();
        let mut files: Vec<String> = Vec::new();
        for region in current().regions.values().filter(|it| it.binary.id == self.id) {
            let symbol = region.symbol.to_string_lossy();
            let file = symbol.strip_prefix(KERNEL_PREFIX).and_then(|it| it.split('_').next());
            let Some(file) = file.filter(|it| !files.iter().any(|that| that == it)) else {
                continue;
            };
            files.push(file.to_owned());
            let mailbox = device.plugin.mailbox().map(|it| it.0.to_ne_bytes());
            let told = [(DEVICE_NUMBER, Some(number.as_slice()))];
            let told =
                told.into_iter().chain([(MAILBOX, mailbox.as_ref().map(<[u8; 8]>::as_slice))]);
            for (prefix, bytes) in told {
                let Some(bytes) = bytes else { continue };
                let Ok(name) = CString::new(format!("{prefix}{file}")) else { continue };
                let Ok(symbol) = device.plugin.symbol(module, &name) else { continue };
                // SAFETY: such a symbol is an `int` of the image, or a word.
                unsafe { device.plugin.copy_in(symbol.address, bytes.as_ptr(), bytes.len()) }?;
            }
        }
        Ok(())
    }

    /// Takes everything back that this binary has put onto devices.
    fn unload(&self) {
        // At the end of a program that used no device there is nothing to open devices for.
        self.loaded.users.fetch_sub(1, Ordering::AcqRel);
        if self.modules.0.get().is_none() {
            return;
        }
        for device in devices::all() {
            let Some(module) = self.modules.get(device) else { continue };
            for variable in &self.variables {
                let is_ours = |it: &Mapped| it.dynamic == crate::table::INFINITE;
                device.mapping.remove_if(variable.address, is_ours);
                device.mapping.rooms.remove(variable.address);
            }
            device.mapping.forget_names();
            let is_last = self.loaded.users.load(Ordering::Acquire) == 0;
            if let Ok(Some(module)) = module
                && is_last
            {
                let _ = device.plugin.unload(*module);
                tool::unloaded(Watch::now(), device.number, module.0);
            }
        }
    }
}

/// Tells of images that say how their devices are started.
fn offer(images: &[(usize, usize)]) {
    for (start, len) in images {
        // SAFETY: the descriptor said that the image lies there, in the constants of a binary that is registered.
        let bytes = unsafe { slice::from_raw_parts(*start as *const u8, *len) };
        device::remote::offer(Container::read(bytes).map_or(bytes, |it| it.payload));
    }
}

/// Adds a binary.
///
/// # Safety
/// The descriptor and all it leads to are constants that stay until [`unregister`].
pub(crate) unsafe fn register(descriptor: &BinaryDescriptor) -> Result<(), Error> {
    let id = std::ptr::from_ref(descriptor) as usize;
    // SAFETY: the caller's promise: two arrays, given by begin and end or number.
    let (entries, images) = unsafe {
        let entries = between(descriptor.entries_begin, descriptor.entries_end);
        let count = usize::try_from(descriptor.image_count).unwrap_or(0);
        let images = if descriptor.images.is_null() { 0 } else { count };
        (
            entries,
            if images == 0 { &[][..] } else { slice::from_raw_parts(descriptor.images, images) },
        )
    };
    let images: Vec<(usize, usize)> = images
        .iter()
        .map(|it| (it.start as usize, (it.end as usize).saturating_sub(it.start as usize)))
        .filter(|(start, len)| *start != 0 && *len != 0)
        .collect();
    offer(&images);
    let variables = entries.iter().filter_map(variable).collect();
    let function_tables = entries.iter().filter_map(function_table).collect();
    let kernels: Vec<&Entry> = entries.iter().filter(|it| is_kernel(it)).collect();
    let built_for: Vec<String> = entries.iter().filter_map(built_for).collect();
    if !built_for.is_empty() {
        llvm::saw_link();
    }
    let is_ours =
        |it: &Entry| matches!(it.flags, entry::FERRY_REGION | entry::DEVICES | entry::ROOM);
    let is_llvm = !entries.is_empty() && !entries.iter().any(is_ours);
    let same =
        current().binaries.iter().find(|it| it.images == images && !images.is_empty()).cloned();
    let loaded = same.map(|it| Arc::clone(&it.loaded)).unwrap_or_default();
    loaded.users.fetch_add(1, Ordering::AcqRel);
    let binary = Arc::new(Binary {
        id,
        name: loaded::file_of(id),
        images,
        variables,
        function_tables,
        regions: kernels.iter().map(|it| it.addr as usize).collect(),
        built_for,
        is_llvm,
        loaded,
        modules: PerDevice::default(),
    });

    let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    let before = current();
    let mut regions = before.regions.clone();
    for kernel in kernels {
        // SAFETY: an entry of the table, with a name.
        let region = unsafe { region(kernel, &binary) };
        llvm::saw_kernel(region.host.is_some());
        // The first binary with an image for it keeps a region that several of them have.
        let known = regions.get(&(kernel.addr as usize));
        if known.is_none_or(|it: &Arc<Region>| it.binary.images.is_empty()) {
            regions.insert(kernel.addr as usize, Arc::new(region));
        }
    }
    let mut binaries = before.binaries.clone();
    binaries.push(binary);
    let required = entries.iter().filter(|it| it.flags == entry::REQUIRES);
    let requires = required.map(|it| it.data as u32).try_fold(before.requires, merge_requires)?;
    publish(Registry { version: 0, requires, binaries, regions });
    Ok(())
}

/// Takes a binary out; unknown ones are ignored.
pub(crate) fn unregister(id: usize) {
    let changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    let before = current();
    let Some(gone) = before.binaries.iter().find(|it| it.id == id).cloned() else { return };
    let mut regions = before.regions.clone();
    for region in &gone.regions {
        if regions.get(region).is_some_and(|it| Arc::ptr_eq(&it.binary, &gone)) {
            regions.remove(region);
        }
    }
    let binaries = before.binaries.iter().filter(|it| it.id != id).cloned().collect();
    publish(Registry { version: 0, requires: before.requires, binaries, regions });
    drop(changing);
    gone.unload();
}

/// Lets nobody change the registry until the answer is dropped.
pub(crate) fn hold() -> Box<dyn Held> {
    Box::new(CHANGING.lock().unwrap_or_else(PoisonError::into_inner))
}

fn publish(registry: Registry) {
    let version = VERSIONS.fetch_add(1, Ordering::Relaxed) + 1;
    REGISTRY.store(Arc::new(Registry { version, ..registry }));
}

/// All units that say something must say the same.
fn merge_requires(before: u32, now: u32) -> Result<u32, Error> {
    const CLAUSES: &[(u32, &str)] = &[
        (requires::REVERSE_OFFLOAD, "reverse_offload"),
        (requires::UNIFIED_ADDRESS, "unified_address"),
        (requires::UNIFIED_SHARED_MEMORY, "unified_shared_memory"),
        (requires::DYNAMIC_ALLOCATORS, "dynamic_allocators"),
    ];
    if before == 0 || now == 0 {
        return Ok(before | now);
    }
    match CLAUSES.iter().find(|(bit, _)| before & bit != now & bit) {
        Some((_, clause)) => Err(Error::Requires { clause }),
        None => Ok(before | now),
    }
}

fn is_kernel(entry: &Entry) -> bool {
    !entry.addr.is_null()
        && entry.size == 0
        && !entry.name.is_null()
        && matches!(entry.flags, entry::ORDINARY | entry::FERRY_REGION)
}

/// The devices that a file was built for, if that is what the row tells.
fn built_for(entry: &Entry) -> Option<String> {
    let is_list = entry.flags == entry::DEVICES && !entry.name.is_null();
    // SAFETY: names of entries end with a zero byte.
    is_list.then(|| unsafe { CStr::from_ptr(entry.name) }.to_string_lossy().into_owned())
}

/// The symbol of a table of functions, if that is what the row tells.
fn function_table(entry: &Entry) -> Option<CString> {
    let is_table = entry.flags == entry::FUNCTIONS && !entry.name.is_null();
    // SAFETY: names of entries end with a zero byte.
    is_table.then(|| unsafe { CStr::from_ptr(entry.name) }.to_owned())
}

fn variable(entry: &Entry) -> Option<Variable> {
    let is_variable = entry.size > 0 && !entry.addr.is_null() && !entry.name.is_null();
    if !is_variable || entry.flags == entry::REQUIRES {
        return None;
    }
    Some(Variable {
        address: entry.addr as usize,
        // SAFETY: names of entries end with a zero byte.
        name: unsafe { CStr::from_ptr(entry.name) }.to_owned(),
        size: usize::try_from(entry.size).ok()?,
        is_indirect: entry.flags & entry::INDIRECT != 0,
        is_room: entry.flags == entry::ROOM,
    })
}

/// # Safety
/// A kernel's entry of a registered table.
unsafe fn region(entry: &Entry, binary: &Arc<Binary>) -> Region {
    // SAFETY: names of entries end with a zero byte; the flag says what the address is of.
    let (symbol, host) = unsafe {
        let region = match entry.flags {
            entry::FERRY_REGION => entry.addr.cast::<FerryRegion>().as_ref(),
            _ => None,
        };
        let region = region.filter(|it| it.version == FerryRegion::VERSION);
        (CStr::from_ptr(entry.name).to_owned(), region.and_then(|it| it.cpu))
    };
    let symbol_text = symbol.to_string_lossy();
    let name = llvm::region_of(&symbol_text).unwrap_or_else(|| region_of(&symbol_text));
    Region {
        name,
        symbol,
        host,
        binary: Arc::clone(binary),
        kernels: PerDevice::default(),
        source: OnceLock::new(),
    }
}

/// # Safety
/// Null, or the begin and end of one array.
unsafe fn between(begin: *const Entry, end: *const Entry) -> Vec<Entry> {
    let bytes = (end as usize).saturating_sub(begin as usize);
    let count = if begin.is_null() { 0 } else { bytes / Entry::SIZE };
    // SAFETY: the caller's promise. Linkers do not align the section.
    (0..count).map(|index| unsafe { begin.add(index).read_unaligned() }).collect()
}
