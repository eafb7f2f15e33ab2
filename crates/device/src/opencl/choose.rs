//! Which device of which driver, and what it is like.

use cl3::device::{
    self, CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, CL_DEVICE_GLOBAL_MEM_SIZE,
    CL_DEVICE_MAX_COMPUTE_UNITS, CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, CL_DEVICE_MAX_MEM_ALLOC_SIZE,
    CL_DEVICE_NAME, CL_DEVICE_PLATFORM, CL_DEVICE_SVM_ATOMICS, CL_DEVICE_SVM_CAPABILITIES,
    CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, CL_DEVICE_SVM_FINE_GRAIN_BUFFER,
    CL_DEVICE_SVM_FINE_GRAIN_SYSTEM, CL_DEVICE_TYPE, CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU,
    CL_DEVICE_VENDOR, CL_DEVICE_VERSION, CL_DRIVER_VERSION,
};
use cl3::info_type::InfoType;
use cl3::platform::{self, CL_PLATFORM_NAME};
use cl3::types::{cl_device_id, cl_device_info, cl_int, cl_platform_id};

use super::failure;
use crate::{DeviceError, Result};

/// `gpu`: a processor runs the kernels that GPUs get.
const AS: &str = "FERRY_OPENCL_AS";

/// A device, and what is known of it.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) id: cl_device_id,
    /// Processors or multiprocessors.
    pub(super) units: usize,
    pub(super) memory: usize,
    /// Bytes of the largest block of it.
    pub(super) largest: usize,
    /// What is used of it.
    pub(super) level: Level,
    /// It is a processor, and its memory the host's.
    pub(super) is_processor: bool,
    /// It is, and is asked to run the kernels of those that are none.
    pub(super) has_groups: bool,
    /// Its kernels reach all memory of the program.
    pub(super) reach: Reach,
    /// Memory that kernels and the host see at the same time.
    pub(super) seen_by_both: Option<Both>,
    /// Device and driver, with their versions: code that is compiled for one is of no use to another.
    pub(super) words: Vec<String>,
}

/// How much of the standard is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// What all devices have.
    V12,
    /// Addresses that mean the same to host and device, pointers to memory of any kind, variables of programs.
    V20,
}

/// What of it a device has.
fn level_of(id: cl_device_id) -> Level {
    let shares = number_of(id, CL_DEVICE_SVM_CAPABILITIES) & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER != 0;
    let has_language = || {
        // All pointers of a processor are alike, and its drivers have what they do not promise.
        is_processor(id)
            || has_language(&text_of(id, CL_DEVICE_VERSION), || {
                // What a driver compiles without promising it need not work: NVIDIA's takes generic pointers, and kernels
                // with them do not end.
                number_of(id, CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT) != 0
                    && number_of(id, CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE) != 0
            })
    };
    if shares && has_language() { Level::V20 } else { Level::V12 }
}

/// Whether the C of a device has what version 2.0 brought, by its version: `OpenCL 3.0 CUDA`. Since 3.0 it may be
/// left out.
fn has_language(version: &str, has_parts: impl Fn() -> bool) -> bool {
    let number = version.strip_prefix("OpenCL ").and_then(|it| it.split('.').next());
    match number.and_then(|it| it.parse::<u32>().ok()) {
        None | Some(0 | 1) => false,
        Some(2) => true,
        Some(_) => has_parts(),
    }
}

/// What memory kernels reach besides that which the driver hands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// None.
    Own,
    /// All of the program's, and the driver wants to be told when they use it.
    System,
    /// All of the program's: kernels run in its process, whatever the driver says.
    Process,
}

/// What memory kernels of a device reach.
fn reach_of(id: cl_device_id) -> Reach {
    /// Its processors are threads of the program. Old versions do not say that they reach its memory.
    const POCL: &str = "Portable Computing Language";
    if number_of(id, CL_DEVICE_SVM_CAPABILITIES) & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM != 0 {
        return Reach::System;
    }
    match is_processor(id) && platform_of(id) == POCL {
        true => Reach::Process,
        false => Reach::Own,
    }
}

/// Memory that kernels and the host see at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Both {
    /// All of the program's: kernels run in its process.
    Process,
    /// What the driver gives for that.
    FineGrained,
}

/// Which such memory a device has.
fn both_of(id: cl_device_id, reach: Reach) -> Option<Both> {
    let needed = CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_ATOMICS;
    let has_fine_grained = number_of(id, CL_DEVICE_SVM_CAPABILITIES) & needed == needed;
    match reach {
        Reach::Process => Some(Both::Process),
        Reach::System | Reach::Own => has_fine_grained.then_some(Both::FineGrained),
    }
}

/// All devices: drivers in their order, processors behind all others.
pub(super) fn all() -> Result<Vec<cl_device_id>> {
    if !cl3::is_opencl_runtime_available() {
        return Err(DeviceError::Failed(
            "there is no OpenCL here (libOpenCL.so.1 cannot be opened)".into(),
        ));
    }
    set_up_pocl();
    /// What the loader answers where there is nothing to load.
    const NO_DRIVER: cl_int = -1001;
    let platforms = platform::get_platform_ids().map_err(|code| match code {
        NO_DRIVER => DeviceError::Failed("there is no OpenCL driver here".into()),
        code => failure("looking for drivers", code),
    })?;
    let mut all = Vec::new();
    for platform in platforms {
        // A driver without a device is none.
        all.extend(device::get_device_ids(platform, CL_DEVICE_TYPE_ALL).unwrap_or_default());
    }
    all.sort_by_key(|id| is_processor(*id));
    Ok(all)
}

/// PoCL makes loops of the threads of a group and tells the compiler that their iterations are independent, also where
/// one has loops of its own: stores get lost in these (3.1, seen in rows that teams fill). Plain loops are right, and no
/// slower. It also compiles each kernel once more for the size of each launch, in its own threads; what was compiled for
/// all sizes, when we asked, is as fast. What the user has chosen stays.
#[allow(unsafe_code, reason = "the driver asks the environment")]
fn set_up_pocl() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    // SAFETY: all end with a zero byte. Devices are looked for once, mostly before there are other threads; those that
    // read the environment meanwhile see it as it was or as it is.
    ONCE.call_once(|| unsafe {
        libc::setenv(c"POCL_WORK_GROUP_METHOD".as_ptr(), c"workitemloops".as_ptr(), 0);
        libc::setenv(c"POCL_WORK_GROUP_SPECIALIZATION".as_ptr(), c"0".as_ptr(), 0);
    });
}

/// What it is called, with its driver.
pub(super) fn name(id: cl_device_id) -> String {
    format!("{}, {}", text_of(id, CL_DEVICE_NAME).trim(), platform_of(id).trim())
}

/// What its driver is called.
fn platform_of(id: cl_device_id) -> String {
    match device::get_device_info(id, CL_DEVICE_PLATFORM) {
        Ok(InfoType::Ptr(it)) => {
            text(platform::get_platform_info(it as cl_platform_id, CL_PLATFORM_NAME))
        }
        _ => String::new(),
    }
}

/// The device with that number. Of it so much is used at most.
pub(super) fn device(number: usize, most: Level) -> Result<Chosen> {
    let all = all()?;
    let count = all.len();
    let Some(id) = all.get(number).copied() else {
        return Err(DeviceError::Failed(format!(
            "OpenCL offers {count} device{} here",
            if count == 1 { "" } else { "s" }
        )));
    };
    let level = level_of(id).min(most);
    let reach = if level == Level::V20 { reach_of(id) } else { Reach::Own };
    let size = |what| usize::try_from(number_of(id, what)).unwrap_or(usize::MAX);
    Ok(Chosen {
        id,
        units: size(CL_DEVICE_MAX_COMPUTE_UNITS).max(1),
        memory: size(CL_DEVICE_GLOBAL_MEM_SIZE),
        is_processor: is_processor(id),
        has_groups: is_processor(id) && std::env::var_os(AS).is_some_and(|it| it == "gpu"),
        largest: size(CL_DEVICE_MAX_MEM_ALLOC_SIZE),
        level,
        reach,
        seen_by_both: if level == Level::V20 { both_of(id, reach) } else { None },
        words: [CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION, CL_DRIVER_VERSION]
            .map(|it| text_of(id, it))
            .to_vec(),
    })
}

fn is_processor(id: cl_device_id) -> bool {
    number_of(id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU != 0
}

/// A number that is known of a device; 0 where the driver does not tell.
fn number_of(id: cl_device_id, what: cl_device_info) -> u64 {
    match device::get_device_info(id, what) {
        Ok(InfoType::Ulong(it)) => it,
        Ok(InfoType::Uint(it)) => u64::from(it),
        Ok(InfoType::Size(it)) => it as u64,
        _ => 0,
    }
}

fn text_of(id: cl_device_id, what: cl_device_info) -> String {
    text(device::get_device_info(id, what))
}

fn text(answer: std::result::Result<InfoType, cl_int>) -> String {
    match answer {
        Ok(InfoType::VecUchar(it)) => {
            String::from_utf8_lossy(&it).trim_end_matches('\0').to_owned()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_20_is_told_from_its_name_and_later_ones_from_their_parts() {
        assert!(!has_language("OpenCL 1.2 CUDA", || true));
        assert!(has_language("OpenCL 2.1 NEO", || false));
        assert!(has_language("OpenCL 3.0 NEO", || true));
        assert!(!has_language("OpenCL 3.0 CUDA", || false));
        assert!(!has_language("", || true));
    }
}
