//! Images on devices: loading them, their kernels and their variables.
//!
//! Nothing is loaded before a device is first used; then the image of every binary that is registered
//! ([`crate::registry`]) is loaded there and its variables get permanent mappings.
#![allow(unsafe_code, reason = "images and variables of the program, by address")]

use std::ffi::CString;
use std::slice;
use std::sync::atomic::Ordering;

use abi::image::Container;
use abi::names::{DEVICE_NUMBER, KERNEL_PREFIX, LINK_SUFFIX, MAILBOX};
use abi::{POINTER_SIZE, entry};
use device::{DeviceError, DevicePtr, Kernel, Module};

use crate::args::Name;
use crate::devices::{self, DeviceState};
use crate::error::Error;
use crate::piece::Piece;
use crate::registry::{self, Binary, Region, Registry, Variable, current};
use crate::table::Mapped;
use crate::watch::{Direction, Watch};
use crate::{llvm, llvm_info, loaded, report, tool};

/// How many devices are in the list.
fn device_count() -> usize {
    devices::all().len()
}

impl Registry {
    /// Loads what this device has not loaded yet.
    pub(crate) fn resolve(&self, device: &DeviceState) -> Result<(), Error> {
        if device.resolved.load(Ordering::Acquire) == self.version {
            return Ok(());
        }
        let _span = tool::device_begins(Watch::now(), &device.facts);
        for binary in &self.binaries {
            if let Err(error) = binary.module(device) {
                return Err(Error::Device { doing: "loading an image", what: None, error });
            }
        }
        device.resolved.store(self.version, Ordering::Release);
        device.facts.is_used.store(true, Ordering::Release);
        Ok(())
    }
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

impl Region {
    /// The kernel of this region on a device.
    pub(crate) fn kernel(&self, device: &DeviceState) -> Result<Kernel, Error> {
        let kernel =
            self.kernels.get_or_init(device.number, device_count, || self.find_kernel(device));
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
        let module = self.modules.get_or_init(device.number, device_count, || self.place(device));
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
        let module =
            self.loaded.modules.get_or_init(device.number, device_count, || self.load(device));
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
        if self.modules.is_empty() {
            return;
        }
        for device in devices::all() {
            let Some(module) = self.modules.get(device.number) else { continue };
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

/// Takes a binary out, and back what it has put onto devices; unknown ones are ignored.
pub(crate) fn unregister(id: usize) {
    if let Some(gone) = registry::take_out(id) {
        gone.unload();
    }
}
