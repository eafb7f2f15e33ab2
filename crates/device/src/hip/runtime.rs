//! AMD's runtime: the functions that are called, found by name when the first device is opened, and what its
//! answers mean.
//!
//! Types and numbers are those of `hip_runtime_api.h`; they are the same from HIP 5.0 on, and older runtimes,
//! whose attributes of devices have other numbers, are refused.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fmt;
use std::sync::OnceLock;

use libloading::Library;

use crate::{DeviceError, Result};

/// An answer of the runtime; 0 is success.
pub(super) type Code = c_int;

pub(super) const SUCCESS: Code = 0;
pub(super) const OUT_OF_MEMORY: Code = 2;
pub(super) const DEINITIALIZED: Code = 4;
const NO_DEVICE: Code = 100;
pub(super) const NOT_FOUND: Code = 500;

/// The number of an attribute of devices: multiprocessors.
pub(super) const UNITS: c_int = 63;
/// Of kernels: threads in a block at most, and bytes of memory that a block has.
pub(super) const MOST_THREADS: c_int = 0;
pub(super) const BLOCK_MEMORY: c_int = 1;

/// What the library may be called: those of a runtime without files for compiling have a number.
const NAMES: [&str; 4] =
    ["libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"];

/// The oldest runtime whose numbers are those above, as it counts.
const OLDEST: c_int = 50_000_000;

/// A struct of these functions, each with the name that the library has for it.
macro_rules! functions {
    ($($field:ident = $name:ident($($argument:ty),*);)*) => {
        /// The functions.
        pub(super) struct Runtime {
            $(pub(super) $field: unsafe extern "C" fn($($argument),*) -> Code,)*
            words: unsafe extern "C" fn(Code) -> *const c_char,
            /// Writes what a device is like, in a layout that differs from version to version.
            properties: unsafe extern "C" fn(*mut c_void, c_int) -> Code,
        }

        impl Runtime {
            #[allow(unsafe_code, reason = "functions of a library that is opened at run time")]
            fn of(library: &Library) -> std::result::Result<Runtime, String> {
                // SAFETY: the types are those of AMD's header.
                unsafe {
                    Ok(Runtime {
                        $($field: found(library, stringify!($name))?,)*
                        words: found(library, "hipGetErrorString")?,
                        properties: found(library, "hipGetDevicePropertiesR0600")
                            .or_else(|_| found(library, "hipGetDeviceProperties"))?,
                    })
                }
            }
        }
    };
}

functions! {
    init = hipInit(c_uint);
    version = hipRuntimeGetVersion(*mut c_int);
    count = hipGetDeviceCount(*mut c_int);
    current = hipGetDevice(*mut c_int);
    enter = hipSetDevice(c_int);
    attribute = hipDeviceGetAttribute(*mut c_int, c_int, c_int);
    total_memory = hipDeviceTotalMem(*mut usize, c_int);
    malloc = hipMalloc(*mut *mut c_void, usize);
    malloc_managed = hipMallocManaged(*mut *mut c_void, usize, c_uint);
    malloc_host = hipHostMalloc(*mut *mut c_void, usize, c_uint);
    free = hipFree(*mut c_void);
    free_host = hipHostFree(*mut c_void);
    lock = hipHostRegister(*mut c_void, usize, c_uint);
    unlock = hipHostUnregister(*mut c_void);
    copy_in = hipMemcpyHtoDAsync(*mut c_void, *mut c_void, usize, *mut c_void);
    copy_out = hipMemcpyDtoHAsync(*mut c_void, *mut c_void, usize, *mut c_void);
    copy_within = hipMemcpyDtoDAsync(*mut c_void, *mut c_void, usize, *mut c_void);
    fill = hipMemsetAsync(*mut c_void, c_int, usize, *mut c_void);
    load = hipModuleLoadData(*mut *mut c_void, *const c_void);
    unload = hipModuleUnload(*mut c_void);
    function = hipModuleGetFunction(*mut *mut c_void, *mut c_void, *const c_char);
    variable = hipModuleGetGlobal(*mut *mut c_void, *mut usize, *mut c_void, *const c_char);
    kernel_attribute = hipFuncGetAttribute(*mut c_int, c_int, *mut c_void);
    launch = hipModuleLaunchKernel(
        *mut c_void, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, *mut c_void,
        *mut *mut c_void, *mut *mut c_void
    );
    make_stream = hipStreamCreateWithFlags(*mut *mut c_void, c_uint);
    make_event = hipEventCreateWithFlags(*mut *mut c_void, c_uint);
    record = hipEventRecord(*mut c_void, *mut c_void);
    follow = hipStreamWaitEvent(*mut c_void, *mut c_void, c_uint);
    wait = hipStreamSynchronize(*mut c_void);
    wait_for_all = hipDeviceSynchronize();
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Runtime")
    }
}

/// # Safety
/// `F` is the type of the function of that name.
#[allow(unsafe_code, reason = "a function of a library that is opened at run time")]
unsafe fn found<F: Copy>(library: &Library, name: &str) -> std::result::Result<F, String> {
    // SAFETY: the caller's promise; the library is never closed.
    let symbol = unsafe { library.get::<F>(name.as_bytes()) };
    symbol.map(|it| *it).map_err(|_| format!("it has no function `{name}`"))
}

/// Opens the library, once, and starts the runtime.
pub(super) fn start() -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<std::result::Result<Runtime, String>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(open).as_ref();
    runtime.map_err(|why| DeviceError::Failed(why.clone()))
}

#[allow(unsafe_code, reason = "a library that is opened at run time")]
fn open() -> std::result::Result<Runtime, String> {
    // SAFETY: opening the library runs its initialisers, which every program that uses it does.
    let library = NAMES.iter().find_map(|it| unsafe { Library::new(*it) }.ok());
    let Some(library) = library else {
        return Err("AMD's runtime is not here (libamdhip64.so cannot be opened)".to_owned());
    };
    let runtime = Runtime::of(&library).map_err(|why| format!("libamdhip64.so: {why}"))?;
    // Code of it may run until the process ends.
    std::mem::forget(library);
    let mut version = 0;
    // SAFETY: the function writes one number and may be called first.
    let told = unsafe { (runtime.version)(&raw mut version) };
    if told == SUCCESS && version < OLDEST {
        return Err(format!(
            "AMD's runtime is too old: it is HIP {}, and {} is needed",
            spelt(version),
            spelt(OLDEST)
        ));
    }
    // SAFETY: may be called any number of times, from any thread.
    match unsafe { (runtime.init)(0) } {
        SUCCESS => Ok(runtime),
        NO_DEVICE => Err("there is no GPU of AMD here that programs may use".to_owned()),
        code => Err(format!("HIP: starting the runtime: {}", runtime.words(code))),
    }
}

/// `6.2`, of the runtime's `60240092`.
fn spelt(version: c_int) -> String {
    format!("{}.{}", version / 10_000_000, version / 100_000 % 100)
}

impl Runtime {
    /// Nothing, or what went wrong.
    pub(super) fn check(&self, what: &'static str, code: Code) -> Result<()> {
        if code == SUCCESS { Ok(()) } else { Err(self.failure(what, code)) }
    }

    /// What the runtime answered, in its own words.
    pub(super) fn failure(&self, what: &'static str, code: Code) -> DeviceError {
        match crash(code) {
            Some(crash) => DeviceError::Fault { address: None, what: crash.to_owned() },
            None => DeviceError::Failed(format!("HIP: {what}: {}", self.words(code))),
        }
    }

    #[allow(unsafe_code, reason = "a string of the runtime")]
    fn words(&self, code: Code) -> String {
        // SAFETY: answers a constant string, for all codes.
        let text = unsafe { (self.words)(code) };
        if text.is_null() {
            return format!("error {code}");
        }
        // SAFETY: not null, so a constant string of the runtime.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    /// What a GPU is called, with its settings: `gfx90a:sramecc+:xnack-`. It stands somewhere in the
    /// properties, whose layout is not ours to know.
    #[allow(unsafe_code, reason = "a structure of the runtime")]
    pub(super) fn target(&self, device: c_int) -> Result<String> {
        /// Several times what the structure of any version has.
        const ROOM: usize = 16 << 10;
        let mut words = vec![0_u64; ROOM / 8];
        // SAFETY: writes one structure, for which there is room, to a place that is aligned.
        let asked = unsafe { (self.properties)(words.as_mut_ptr().cast(), device) };
        self.check("asking what the GPU is like", asked)?;
        let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_ne_bytes).collect();
        target_in(&bytes).ok_or_else(|| {
            DeviceError::Failed("AMD's runtime does not tell what kind of GPU it is".into())
        })
    }
}

/// The last name of a GPU in these bytes, up to its zero byte: the first may be what it is sold as.
fn target_in(bytes: &[u8]) -> Option<String> {
    let is_name = |it: &[u8]| matches!(it, [b'g', b'f', b'x', digit] if digit.is_ascii_digit());
    let at = bytes.windows(4).rposition(is_name)?;
    let name = bytes.get(at..)?.split(|it| *it == 0).next()?;
    Some(String::from_utf8_lossy(name).into_owned())
}

/// What a kernel has done, where that is what the code means. Most crashes end the program before the runtime
/// answers anything.
fn crash(code: Code) -> Option<&'static str> {
    Some(match code {
        700 => "it used memory that is not there or not its own",
        702 => "it ran longer than the system allows",
        710 => "an assertion in it failed",
        719 => "it stopped by itself or the GPU stopped it",
        214 => "memory of the GPU is damaged",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_spelt_as_their_maker_spells_them() {
        assert_eq!(spelt(OLDEST), "5.0");
        assert_eq!(spelt(60_240_092), "6.2");
    }

    #[test]
    fn the_kind_of_gpu_is_found_wherever_it_stands() {
        let whole = "gfx90a:sramecc+:xnack-";
        let properties = |name: &str, at: usize| {
            let mut bytes = vec![0; 2000];
            bytes.splice(..name.len(), name.bytes());
            bytes.splice(at..at + whole.len(), whole.bytes());
            bytes
        };
        for (name, at) in [("AMD Instinct MI210", 396), ("gfx90a", 1160), ("AMD (gfx90a)", 1701)] {
            assert_eq!(target_in(&properties(name, at)).as_deref(), Some(whole), "{name}");
        }
        assert_eq!(target_in(b"gfxterm\0"), None);
    }
}
