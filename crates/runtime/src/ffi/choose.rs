//! Questions of compiled programs that decide which code runs: what a device is, where it has data.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use abi::target::{self, Is};
use abi::{DEVICE_DEFAULT, TraitAxis};

use crate::devices::{Target, all, numbered};
use crate::error::Error;
use crate::guard::answer;
use crate::{host, registry};

/// What the words of an architecture are, and instructions that every processor of it has.
fn processor_is(axis: c_int, word: &str) -> bool {
    let (arch, isa): (&[&str], &[&str]) = match std::env::consts::ARCH {
        "x86_64" => {
            (&["x86_64", "x86-64", "x86"], &["x86-64", "x86_64", "mmx", "sse", "sse2", "fxsr"])
        }
        "aarch64" => (&["aarch64", "arm64"], &["neon", "fp", "asimd"]),
        _ => (&[], &[]),
    };
    (axis == TraitAxis::Arch as c_int && arch.contains(&word))
        || (axis == TraitAxis::Isa as c_int && isa.contains(&word))
}

/// Whether a kind of device, or the host, has a trait.
fn is_so(kind: Option<&target::Target>, axis: c_int, word: &str) -> bool {
    if axis == TraitAxis::Kind as c_int {
        let is = kind.map_or(Is::Processor, |it| it.is);
        return match word {
            "any" => true,
            "host" => kind.is_none(),
            "nohost" => kind.is_some(),
            "gpu" => is == Is::Gpu,
            "cpu" => is == Is::Processor,
            "fpga" => is == Is::Fpga,
            _ => false,
        };
    }
    match kind.map_or(&[][..], |it| it.arch) {
        [] => processor_is(axis, word),
        arch => axis == TraitAxis::Arch as c_int && arch.contains(&word),
    }
}

fn device(number: i64) -> Result<Target, Error> {
    let count = all().len();
    let number = match number {
        DEVICE_DEFAULT => i64::from(host::default_device()),
        number => number,
    };
    // The default device of a program without devices is the host.
    if count == 0 && number == 0 { Ok(Target::Host) } else { numbered(number) }
}

/// Whether a device has a trait; a number that names none has no traits.
///
/// # Safety
/// `word` is a string that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __ferry_device_is(number: i64, axis: c_int, word: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let word = unsafe { CStr::from_ptr(word) }.to_str().unwrap_or_default();
    answer("__ferry_device_is", 0, || {
        let kind = match device(number) {
            Ok(Target::Host) => None,
            Ok(Target::Device(device)) => target::named(device.kind),
            Err(_) => return Ok(0),
        };
        Ok(c_int::from(is_so(kind, axis, word)))
    })
}

/// Where the default device has what lies at `at`; `at` if it has not.
#[unsafe(no_mangle)]
pub extern "C" fn __ferry_device_pointer(at: *const c_void) -> *mut c_void {
    answer("__ferry_device_pointer", at.cast_mut(), || {
        let Ok(Target::Device(device)) = device(DEVICE_DEFAULT) else { return Ok(at.cast_mut()) };
        if at.is_null() {
            return Ok(at.cast_mut());
        }
        registry::current().resolve(device)?;
        let found = device.mapping.translate(at as usize, 1);
        Ok(found.map_or(at.cast_mut(), |it| it.0 as *mut c_void))
    })
}

/// The copies that devices but the first have of variables, by the first one's and by device; they stay.
static COPIES: Mutex<BTreeMap<(usize, usize), usize>> = Mutex::new(BTreeMap::new());

/// The calling code's copy of a variable of which every device has its own.
///
/// # Safety
/// `fresh` has `size` bytes, and nobody writes them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __ferry_local_copy(
    host: *mut c_void,
    first: *mut c_void,
    fresh: *const c_void,
    size: usize,
) -> *mut c_void {
    /// As aligned as any object of C, and two devices do not share a line of the cache.
    const ALIGN: usize = 128;
    answer("__ferry_local_copy", first, || {
        let number = match host::current_device() {
            None => return Ok(host),
            Some(0) => return Ok(first),
            Some(number) => number,
        };
        let mut copies = COPIES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(copy) = copies.get(&(first as usize, number)) {
            return Ok(*copy as *mut c_void);
        }
        let mut copy = ptr::null_mut();
        // SAFETY: a place for the answer, and an alignment that is one; `fresh` is the caller's promise.
        unsafe {
            if libc::posix_memalign(&raw mut copy, ALIGN, size.max(1)) != 0 {
                return Err(Error::Argument {
                    message: format!("no memory for {size} bytes of a device's own variable"),
                    help: "use fewer devices".into(),
                });
            }
            ptr::copy_nonoverlapping(fresh.cast::<u8>(), copy.cast::<u8>(), size);
        }
        copies.insert((first as usize, number), copy as usize);
        Ok(copy)
    })
}
