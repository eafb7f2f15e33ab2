//! The structures that a tool's callbacks get: those of the standard's profiling header.

use std::ffi::{c_char, c_int, c_void};

/// What happens, with the standard's numbers. Those that have an end are followed by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Event {
    DeviceInitStart = 1,
    DeviceShutdownStart = 3,
    RuntimeShutdown = 5,
    Create = 6,
    Delete = 7,
    Alloc = 8,
    Free = 9,
    EnterDataStart = 10,
    ExitDataStart = 12,
    UpdateStart = 14,
    ComputeStart = 16,
    LaunchStart = 18,
    UploadStart = 20,
    DownloadStart = 22,
    WaitStart = 24,
    Error = 100,
}

/// Types of devices in the header.
pub(crate) const HOST: c_int = 2;
pub(crate) const NOT_HOST: c_int = 4;

/// The number of an event that is none.
pub(super) const NO_EVENT: c_int = 0;
/// The largest number of those that are counted without gaps.
pub(super) const LAST_EVENT: c_int = 25;

/// The version of the standard whose structures these are.
const VERSION: c_int = 202_211;

/// How long a structure is, as it says of itself.
pub(super) const fn bytes_of<T>() -> c_int {
    size_of::<T>() as c_int
}

/// Where and on which device it happens.
#[repr(C)]
pub(super) struct ProfInfo {
    pub(super) event: c_int,
    valid_bytes: c_int,
    version: c_int,
    pub(super) device_type: c_int,
    pub(super) device_number: c_int,
    pub(super) thread: c_int,
    pub(super) queue: isize,
    pub(super) queue_used: isize,
    pub(super) file: *const c_char,
    pub(super) function: *const c_char,
    pub(super) line: c_int,
    pub(super) end_line: c_int,
    pub(super) function_line: c_int,
    pub(super) function_end_line: c_int,
}

impl ProfInfo {
    pub(super) fn new() -> ProfInfo {
        ProfInfo {
            event: NO_EVENT,
            valid_bytes: bytes_of::<ProfInfo>(),
            version: VERSION,
            device_type: 0,
            device_number: 0,
            thread: 0,
            queue: 0,
            queue_used: 0,
            file: std::ptr::null(),
            function: std::ptr::null(),
            line: 0,
            end_line: 0,
            function_line: 0,
            function_end_line: 0,
        }
    }
}

/// What all events tell.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Common {
    pub(super) event: c_int,
    pub(super) valid_bytes: c_int,
    pub(super) parent: c_int,
    pub(super) implicit: c_int,
    pub(super) tool_info: *mut c_void,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct DataInfo {
    pub(super) common: Common,
    pub(super) variable: *const c_char,
    pub(super) bytes: usize,
    pub(super) host: *const c_void,
    pub(super) device: *const c_void,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct LaunchInfo {
    pub(super) common: Common,
    pub(super) kernel: *const c_char,
    pub(super) gangs: usize,
    pub(super) workers: usize,
    pub(super) vector: usize,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct ErrorInfo {
    pub(super) common: Common,
    pub(super) code: c_int,
    pub(super) message: *const c_char,
    pub(super) runtime_info: usize,
}

/// One of them; the event says which.
#[repr(C)]
pub(super) union EventInfo {
    pub(super) common: Common,
    pub(super) data: DataInfo,
    pub(super) launch: LaunchInfo,
    pub(super) error: ErrorInfo,
}

/// How the device is reached.
#[repr(C)]
pub(super) struct ApiInfo {
    api: c_int,
    valid_bytes: c_int,
    device_type: c_int,
    vendor: c_int,
    device: *const c_void,
    context: *const c_void,
    queue: *const c_void,
}

impl ApiInfo {
    /// Our own way: there are no handles of a vendor's.
    pub(super) fn new(device_type: c_int) -> ApiInfo {
        const OTHER: c_int = 4;
        let nothing = std::ptr::null();
        ApiInfo {
            api: OTHER,
            valid_bytes: bytes_of::<ApiInfo>(),
            device_type,
            vendor: 0,
            device: nothing,
            context: nothing,
            queue: nothing,
        }
    }
}

/// A function of the tool.
pub(super) type Callback = unsafe extern "C" fn(*mut ProfInfo, *mut EventInfo, *mut ApiInfo);

const _: () = {
    assert!(size_of::<ProfInfo>() == 72);
    assert!(size_of::<Common>() == 24);
    assert!(size_of::<DataInfo>() == 56 && size_of::<LaunchInfo>() == 56);
    assert!(size_of::<ErrorInfo>() == 48);
    assert!(size_of::<ApiInfo>() == 40);
};
