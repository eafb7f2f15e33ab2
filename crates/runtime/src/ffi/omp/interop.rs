//! Interoperability objects: for devices without a foreign runtime they say which device it is.
//!
//! An object is made by `interop init` and asked for its properties: those that have a value answer
//! with it, the others with "no value", and none crashes.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use abi::{DEVICE_DEFAULT, Ident};

use crate::devices::{self, Target};
use crate::guard::guard;
use crate::host;

/// What an object is. Programs see its address only.
#[derive(Debug)]
struct Interop {
    device: c_int,
    name: &'static CStr,
}

/// The properties of the standard.
const FR_ID: c_int = -1;
const FR_NAME: c_int = -2;
const VENDOR: c_int = -3;
const VENDOR_NAME: c_int = -4;
const DEVICE_NUM: c_int = -5;
const PLATFORM: c_int = -6;
const TARGET_SYNC: c_int = -9;

/// The answers of the standard.
const NO_VALUE: c_int = 1;
const SUCCESS: c_int = 0;
const EMPTY: c_int = -1;
const OUT_OF_RANGE: c_int = -2;
const TYPE_INT: c_int = -3;
const TYPE_PTR: c_int = -4;
const TYPE_STR: c_int = -5;

/// Of what type a property is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Int,
    Ptr,
    Str,
}

/// The type of a property and its name.
fn property(id: c_int) -> Option<(Type, &'static CStr)> {
    Some(match id {
        FR_ID => (Type::Int, c"fr_id"),
        FR_NAME => (Type::Str, c"fr_name"),
        VENDOR => (Type::Int, c"vendor"),
        VENDOR_NAME => (Type::Str, c"vendor_name"),
        DEVICE_NUM => (Type::Int, c"device_num"),
        PLATFORM => (Type::Ptr, c"platform"),
        -7 => (Type::Ptr, c"device"),
        -8 => (Type::Ptr, c"device_context"),
        TARGET_SYNC => (Type::Ptr, c"targetsync"),
        _ => return None,
    })
}

/// Checks a question; the code is what the caller is told.
///
/// # Safety
/// The object is null or was made by [`__tgt_interop_init`] and not destroyed.
unsafe fn ask<'a>(object: *const c_void, id: c_int, wanted: Type) -> Result<&'a Interop, c_int> {
    // SAFETY: the caller's promise.
    let object = unsafe { object.cast::<Interop>().as_ref() }.ok_or(EMPTY)?;
    match property(id) {
        None => Err(OUT_OF_RANGE),
        Some((actual, _)) if actual == wanted => Ok(object),
        Some((Type::Int, _)) => Err(TYPE_INT),
        Some((Type::Ptr, _)) => Err(TYPE_PTR),
        Some((Type::Str, _)) => Err(TYPE_STR),
    }
}

/// Stores the code if the caller wants it, and answers with the value or nothing.
///
/// # Safety
/// `code` is null or a place for a number.
unsafe fn tell<T>(code: *mut c_int, nothing: T, value: Result<T, c_int>) -> T {
    let (value, told) = match value {
        Ok(value) => (value, SUCCESS),
        Err(told) => (nothing, told),
    };
    // SAFETY: the caller's promise.
    if let Some(code) = unsafe { code.as_mut() } {
        *code = told;
    }
    value
}

/// How many properties there are beyond those of the standard.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_num_interop_properties(_object: *const c_void) -> c_int {
    0
}

/// A property that is a number.
///
/// # Safety
/// The object is null or alive, `code` null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_interop_int(
    object: *const c_void,
    id: c_int,
    code: *mut c_int,
) -> isize {
    // SAFETY: the caller's promise.
    unsafe {
        let value = ask(object, id, Type::Int).and_then(|it| match id {
            DEVICE_NUM => Ok(it.device as isize),
            _ => Err(NO_VALUE),
        });
        tell(code, 0, value)
    }
}

/// A property that is a pointer: none has a value without a foreign runtime.
///
/// # Safety
/// As [`omp_get_interop_int`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_interop_ptr(
    object: *const c_void,
    id: c_int,
    code: *mut c_int,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { tell(code, ptr::null_mut(), ask(object, id, Type::Ptr).and(Err(NO_VALUE))) }
}

/// A property that is a text.
///
/// # Safety
/// As [`omp_get_interop_int`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_interop_str(
    object: *const c_void,
    id: c_int,
    code: *mut c_int,
) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe {
        let value = ask(object, id, Type::Str).map(|it| match id {
            VENDOR_NAME => c"ferry".as_ptr(),
            _ => it.name.as_ptr(),
        });
        tell(code, ptr::null(), value)
    }
}

/// The name of a property.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_interop_name(_object: *const c_void, id: c_int) -> *const c_char {
    property(id).map_or(ptr::null(), |(_, name)| name.as_ptr())
}

/// The type of a property.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_interop_type_desc(_object: *const c_void, id: c_int) -> *const c_char {
    match property(id) {
        Some((Type::Int, _)) => c"intptr_t".as_ptr(),
        Some((Type::Ptr, _)) => c"void *".as_ptr(),
        Some((Type::Str, _)) => c"const char *".as_ptr(),
        None => ptr::null(),
    }
}

/// What an answer means.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_interop_rc_desc(_object: *const c_void, code: c_int) -> *const c_char {
    let text = match code {
        NO_VALUE => c"the property has no value",
        SUCCESS => c"success",
        EMPTY => c"the object is omp_interop_none",
        OUT_OF_RANGE => c"there is no such property",
        TYPE_INT => c"the property is a number",
        TYPE_PTR => c"the property is a pointer",
        TYPE_STR => c"the property is a text",
        _ => c"unknown",
    };
    text.as_ptr()
}

/// As above, by the name under which another host runtime asks for it.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_interop_rec_desc(object: *const c_void, code: c_int) -> *const c_char {
    omp_get_interop_rc_desc(object, code)
}

/// Makes an object.
///
/// # Safety
/// `object` is a place for its address.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "the interface's")]
pub unsafe extern "C" fn __tgt_interop_init(
    _location: *const Ident,
    _thread: i32,
    object: *mut *mut c_void,
    _kind: i32,
    device: i32,
    dependences: i32,
    _list: *mut c_void,
    _nowait: i32,
) {
    guard(&"interop", false, || {
        if dependences > 0 {
            host::wait_for_tasks();
        }
        let number = match i64::from(device) {
            DEVICE_DEFAULT => host::default_device(),
            _ => device,
        };
        let name = match devices::numbered(i64::from(number))? {
            Target::Host => c"host",
            Target::Device(_) => c"ferry",
        };
        let made = Box::into_raw(Box::new(Interop { device: number, name }));
        // SAFETY: the caller's promise.
        match unsafe { object.as_mut() } {
            Some(object) => *object = made.cast(),
            // SAFETY: just made, and nobody has it.
            None => drop(unsafe { Box::from_raw(made) }),
        }
        Ok(())
    });
}

/// Uses an object: everything before is done, as all calls block.
#[unsafe(no_mangle)]
pub extern "C" fn __tgt_interop_use(
    _location: *const Ident,
    _thread: i32,
    _object: *mut *mut c_void,
    _device: i32,
    dependences: i32,
    _list: *mut c_void,
    _nowait: i32,
) {
    if dependences > 0 {
        host::wait_for_tasks();
    }
}

/// Ends an object; the program's variable becomes "none".
///
/// # Safety
/// `object` is the place of an address that is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgt_interop_destroy(
    _location: *const Ident,
    _thread: i32,
    object: *mut *mut c_void,
    _device: i32,
    dependences: i32,
    _list: *mut c_void,
    _nowait: i32,
) {
    if dependences > 0 {
        host::wait_for_tasks();
    }
    // SAFETY: the caller's promise: an object was made by `__tgt_interop_init`, in a box.
    unsafe {
        if let Some(object) = object.as_mut()
            && !object.is_null()
        {
            drop(Box::from_raw(object.cast::<Interop>()));
            *object = ptr::null_mut();
        }
    }
}
