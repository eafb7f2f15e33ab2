//! The driver's library: opened when the first device is, and what its answers mean.
//!
//! Functions of it are called through [`cudarc::driver::sys`], which looks each up at its first call
//! and cannot go on without it; so [`start`] refuses drivers that are too old to have all of them.

use std::ffi::CStr;
use std::ptr;

use cudarc::driver::sys::{self, CUresult};

use crate::{DeviceError, Result};

/// The oldest driver that has every function that is called here, as the driver counts: CUDA 11.0.
const OLDEST: i32 = 11_000;

/// Opens the library. Returns the version of CUDA that the driver knows, as it counts.
#[allow(unsafe_code, reason = "a library that is opened at run time")]
pub(super) fn start() -> Result<i32> {
    // SAFETY: opening the library runs its initialisers, which every program that uses it does.
    if !unsafe { sys::is_culib_present() } {
        return Err(DeviceError::Failed(
            "there is no NVIDIA driver here (libcuda.so.1 cannot be opened)".into(),
        ));
    }
    let mut version = 0;
    // SAFETY: the function writes one number and may be called first.
    let told = unsafe { sys::cuDriverGetVersion(&raw mut version) };
    if told == CUresult::CUDA_SUCCESS && version < OLDEST {
        return Err(DeviceError::Failed(format!(
            "the NVIDIA driver is too old: it knows CUDA {}, and {} is needed",
            spelt(version),
            spelt(OLDEST)
        )));
    }
    // SAFETY: may be called any number of times, from any thread.
    match unsafe { sys::cuInit(0) } {
        CUresult::CUDA_SUCCESS => Ok(version),
        CUresult::CUDA_ERROR_NO_DEVICE => {
            Err(DeviceError::Failed("there is no NVIDIA GPU here that programs may use".into()))
        }
        CUresult::CUDA_ERROR_STUB_LIBRARY => Err(DeviceError::Failed(
            "the libcuda.so that was found is for linking only: put the driver's before it in the \
             library path"
                .into(),
        )),
        code => Err(failure("starting the driver", code)),
    }
}

/// `12.4`, of the driver's `12040`.
pub(super) fn spelt(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// Nothing, or what went wrong.
pub(super) fn check(what: &'static str, code: CUresult) -> Result<()> {
    if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(failure(what, code)) }
}

/// What the driver answered, in its own words. After a crash of a kernel every call gets the same.
pub(super) fn failure(what: &'static str, code: CUresult) -> DeviceError {
    match crash(code) {
        Some(crash) => DeviceError::Fault { address: None, what: crash.to_owned() },
        None => DeviceError::Failed(format!("CUDA: {what}: {}", words(code))),
    }
}

/// What a kernel has done, where that is what the code means; the context is of no use then.
pub(super) fn crash(code: CUresult) -> Option<&'static str> {
    Some(match code {
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS => "it used memory that is not there or not its own",
        CUresult::CUDA_ERROR_MISALIGNED_ADDRESS => "it used an address that is not aligned",
        CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE => "it used an address of another memory",
        CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION => "it came to an instruction that is none",
        CUresult::CUDA_ERROR_INVALID_PC => "it went on at an address without code",
        CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR => "its stack is too small or damaged",
        CUresult::CUDA_ERROR_LAUNCH_FAILED => "it stopped by itself or the GPU stopped it",
        CUresult::CUDA_ERROR_LAUNCH_TIMEOUT => "it ran longer than the system allows",
        CUresult::CUDA_ERROR_ASSERT => "an assertion in it failed",
        CUresult::CUDA_ERROR_ECC_UNCORRECTABLE => "memory of the GPU is damaged",
        _ => return None,
    })
}

/// The driver's own words: name and sentence.
#[allow(unsafe_code, reason = "strings of the driver")]
fn words(code: CUresult) -> String {
    let (mut name, mut sentence) = (ptr::null(), ptr::null());
    // SAFETY: each writes the address of a constant string, or none for a code it does not know.
    unsafe {
        sys::cuGetErrorName(code, &raw mut name);
        sys::cuGetErrorString(code, &raw mut sentence);
    }
    let text = |at: *const std::ffi::c_char| match at.is_null() {
        true => String::new(),
        // SAFETY: not null, so a constant string of the driver.
        false => unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned(),
    };
    match (text(name), text(sentence)) {
        (name, _) if name.is_empty() => format!("error {}", code as u32),
        (name, sentence) if sentence.is_empty() => name,
        (name, sentence) => format!("{sentence} ({name})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_spelt_as_their_maker_spells_them() {
        assert_eq!(spelt(OLDEST), "11.0");
        assert_eq!(spelt(12_040), "12.4");
        assert_eq!(spelt(13_000), "13.0");
    }

    #[test]
    fn a_crash_is_told_from_a_refusal() {
        let crash = failure("waiting", CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        assert!(matches!(crash, DeviceError::Fault { address: None, .. }), "{crash}");
        assert!(super::crash(CUresult::CUDA_ERROR_INVALID_VALUE).is_none());
    }
}
