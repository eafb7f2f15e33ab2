//! What directives outside of regions ask for: the same as routines, in one call.

use std::ffi::{CStr, c_char, c_int};

use abi::Ident;
use abi::control::{Action, UNSAID};

use super::devices::{chosen, prepare, release, select};
use super::kind::Kind;
use super::routine;
use crate::args::Place;
use crate::devices::all;
use crate::error::Error;
use crate::queue;

/// Prepares devices, lets go of them, or sets defaults. `types` is a list of words with commas or null.
///
/// # Safety
/// The location is null or valid, and `types` null or a text that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __ferry_control(
    location: *const Ident,
    action: c_int,
    types: *const c_char,
    number: i64,
    queue: i64,
) {
    // SAFETY: the caller's promise.
    let (place, types) = unsafe {
        let types = (!types.is_null()).then(|| CStr::from_ptr(types).to_string_lossy());
        (Place::new(location), types)
    };
    routine(place, || {
        let kinds = match &types {
            None => Vec::new(),
            Some(types) => types.split(',').map(kind).collect::<Result<_, _>>()?,
        };
        let number = (number != UNSAID).then(|| c_int::try_from(number).unwrap_or(c_int::MAX));
        if action == Action::Shutdown as c_int {
            return match (kinds.as_slice(), number) {
                ([], None) => release(place, all()),
                ([], Some(_)) => release(place, chosen(Kind::Unsaid, number)?),
                (kinds, _) => kinds.iter().try_for_each(|it| release(place, chosen(*it, number)?)),
            };
        }
        let first = kinds.first().copied();
        if first.is_some() || number.is_some() {
            select(first.unwrap_or(Kind::Unsaid), number)?;
        }
        if queue != UNSAID {
            queue::set_default_queue(queue)?;
        }
        if action == Action::Init as c_int {
            let rest = kinds.get(1..).unwrap_or_default();
            prepare(chosen(first.unwrap_or(Kind::Unsaid), number)?)?;
            rest.iter().try_for_each(|it| prepare(chosen(*it, number)?))?;
        }
        Ok(())
    });
}

fn kind(word: &str) -> Result<Kind, Error> {
    Kind::named(word).ok_or_else(|| Error::Argument {
        message: format!("there is no type of devices `{word}`"),
        help: "choose among host, default, not_host, multicore, nvidia, radeon".into(),
    })
}
