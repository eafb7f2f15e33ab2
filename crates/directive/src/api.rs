//! Calls of one standard's runtime that are a call of the other's: which, and with what arguments.
//!
//! In: the name of a routine and its arguments as far as they are known. Out: what stands there instead, if
//! both mean the same for these arguments. What is not here is said by a header (`translation`).

use std::ops::Range;

/// An argument, as far as a rewriting needs to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument<'a> {
    /// A constant with a name.
    Constant(&'a str),
    /// An integer.
    Integer(i64),
    /// A call without arguments.
    Call(&'a str),
    /// The address of a scalar.
    Scalar,
    /// Anything else; whether nothing changes if it is not computed.
    Other {
        /// It changes nothing.
        is_pure: bool,
    },
}

/// What a call becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rewritten {
    /// The first arguments stay; what comes before them and behind.
    Call {
        /// Up to and with the parenthesis.
        head: &'static str,
        /// How many arguments stay.
        kept: usize,
        /// With the parenthesis.
        tail: &'static str,
    },
    /// Nothing is left to do.
    Nothing,
}

/// Whether the type of device that an argument names is the host.
enum Kind {
    Host,
    Device,
    None,
}

fn kind(argument: Option<&Argument<'_>>) -> Option<Kind> {
    let Some(Argument::Constant(name)) = argument else { return None };
    match *name {
        "acc_device_host" => Some(Kind::Host),
        "acc_device_none" => Some(Kind::None),
        "acc_device_default"
        | "acc_device_not_host"
        | "acc_device_nvidia"
        | "acc_device_radeon" => Some(Kind::Device),
        _ => None,
    }
}

/// A call of the descriptive standard's runtime in the words of the prescriptive one. `has_mapped`: whether
/// the reader knows the routine that tells the address of data on a device.
pub fn call_for_teams(
    name: &str,
    arguments: &[Argument<'_>],
    has_mapped: bool,
) -> Option<Rewritten> {
    let call = |head, kept, tail| Some(Rewritten::Call { head, kept, tail });
    let is_droppable = |it: Option<&Argument<'_>>| {
        !matches!(it, Some(Argument::Other { is_pure: false } | Argument::Call(_)))
    };
    match name {
        "acc_get_num_devices" => match kind(arguments.first())? {
            Kind::Host => call("1", 0, ""),
            Kind::None => call("0", 0, ""),
            Kind::Device => call("omp_get_num_devices(", 0, ")"),
        },
        "acc_set_device_num" => match kind(arguments.get(1))? {
            Kind::Host if is_droppable(arguments.first()) => {
                call("omp_set_default_device(", 0, "omp_get_initial_device())")
            }
            Kind::Host | Kind::None => None,
            Kind::Device => call("omp_set_default_device(", 1, ")"),
        },
        "acc_get_device_num" => match kind(arguments.first())? {
            Kind::Host => call("0", 0, ""),
            Kind::None => None,
            Kind::Device => call("omp_get_default_device(", 0, ")"),
        },
        "acc_set_device_type" => match kind(arguments.first())? {
            Kind::Host => call("omp_set_default_device(", 0, "omp_get_initial_device())"),
            Kind::None => None,
            Kind::Device => call("omp_set_default_device(", 0, "0)"),
        },
        "acc_on_device" => match kind(arguments.first())? {
            Kind::Host => call("omp_is_initial_device(", 0, ")"),
            Kind::None => call("0", 0, ""),
            Kind::Device => call("!omp_is_initial_device(", 0, ")"),
        },
        "acc_init" | "acc_shutdown" => Some(Rewritten::Nothing),
        "acc_init_device" | "acc_shutdown_device" if is_droppable(arguments.first()) => {
            Some(Rewritten::Nothing)
        }
        "acc_malloc" => call("omp_target_alloc(", 1, ", omp_get_default_device())"),
        "acc_free" => call("omp_target_free(", 1, ", omp_get_default_device())"),
        "acc_deviceptr" if has_mapped => {
            call("omp_get_mapped_ptr(", 1, ", omp_get_default_device())")
        }
        "acc_is_present" => match arguments {
            // One byte, or one object, is there or is not.
            [Argument::Scalar, _] | [_, Argument::Integer(1)] => {
                call("omp_target_is_present(", 1, ", omp_get_default_device())")
            }
            _ => None,
        },
        "acc_memcpy_to_device" => call("omp_target_memcpy(", 3, TO_DEVICE),
        "acc_memcpy_from_device" => call("omp_target_memcpy(", 3, FROM_DEVICE),
        "acc_memcpy_device" => call("omp_target_memcpy(", 3, ON_DEVICE),
        _ => None,
    }
}

const TO_DEVICE: &str = ", 0, 0, omp_get_default_device(), omp_get_initial_device())";
const FROM_DEVICE: &str = ", 0, 0, omp_get_initial_device(), omp_get_default_device())";
const ON_DEVICE: &str = ", 0, 0, omp_get_default_device(), omp_get_default_device())";

/// A call of the prescriptive standard's runtime in the words of the descriptive one: where it is about the
/// device that is used anyway. `is_used`: whether somebody looks at what it answers.
pub fn call_for_levels(name: &str, arguments: &[Argument<'_>], is_used: bool) -> Option<Rewritten> {
    let call = |head, kept, tail| Some(Rewritten::Call { head, kept, tail });
    // Who fails there ends the program; who comes back has succeeded.
    let copies = |plain, answering| match is_used {
        true => call(answering, 3, "), 0)"),
        false => call(plain, 3, ")"),
    };
    let is_default =
        |at: usize| matches!(arguments.get(at), Some(Argument::Call("omp_get_default_device")));
    let is_host =
        |at: usize| matches!(arguments.get(at), Some(Argument::Call("omp_get_initial_device")));
    let is_zero = |at: usize| matches!(arguments.get(at), Some(Argument::Integer(0)));
    match name {
        "omp_get_num_devices" => call("acc_get_num_devices(", 0, "acc_device_not_host)"),
        "omp_is_initial_device" => call("acc_on_device(", 0, "acc_device_host)"),
        "omp_target_alloc" if is_default(1) => call("acc_malloc(", 1, ")"),
        "omp_target_free" if is_default(1) => call("acc_free(", 1, ")"),
        "omp_target_memcpy" if is_zero(3) && is_zero(4) => {
            if is_default(5) && is_host(6) {
                copies("acc_memcpy_to_device(", "(acc_memcpy_to_device(")
            } else if is_host(5) && is_default(6) {
                copies("acc_memcpy_from_device(", "(acc_memcpy_from_device(")
            } else if is_default(5) && is_default(6) {
                copies("acc_memcpy_device(", "(acc_memcpy_device(")
            } else {
                None
            }
        }
        _ => None,
    }
}

/// What a variable of the environment of the one standard is in the other: its name if the values are the
/// same, and what is to be said of it.
pub fn environment(name: &str, to_levels: bool) -> Option<(Option<&'static str>, &'static str)> {
    Some(match (name, to_levels) {
        ("ACC_DEVICE_NUM", false) => (Some("OMP_DEFAULT_DEVICE"), "the same number"),
        ("ACC_DEVICE_TYPE", false) => (
            None,
            "for the host, OMP_TARGET_OFFLOAD=disabled; for others OMP_TARGET_OFFLOAD=mandatory",
        ),
        ("ACC_PROFLIB", false) => (None, "OMP_TOOL_LIBRARIES, whose tools have another interface"),
        ("OMP_DEFAULT_DEVICE", true) => (Some("ACC_DEVICE_NUM"), "the same number"),
        ("OMP_TARGET_OFFLOAD", true) => {
            (None, "for `disabled`, ACC_DEVICE_TYPE=host; others have none")
        }
        ("OMP_TOOL_LIBRARIES", true) => (None, "ACC_PROFLIB, whose tools have another interface"),
        ("OMP_NUM_TEAMS" | "OMP_TEAMS_THREAD_LIMIT", true) => (None, "no counterpart"),
        _ => return None,
    })
}

/// Calls of C's library whose first argument names such a variable.
pub const ENVIRONMENT_CALLS: &[&str] = &["getenv", "secure_getenv", "setenv", "unsetenv", "putenv"];

/// Calls that keep to the header what they are about: it must have seen the calls of `name`.
pub fn keeps(name: &str) -> Option<fn(&str) -> bool> {
    match name {
        "acc_malloc" | "acc_free" => Some(|it| it == "acc_get_property"),
        "acc_deviceptr" => Some(|it| it == "acc_hostptr"),
        _ => None,
    }
}

/// The headers of the runtimes themselves, as a line includes them.
pub const HEADER_OF_TEAMS: &str = "<omp.h>";
#[allow(missing_docs, reason = "said above")]
pub const HEADER_OF_LEVELS: &str = "<openacc.h>";

/// Whether a text names something of a runtime, or of headers of ours; comments and literals say nothing.
pub fn names_runtime(text: &[u8], of_levels: bool) -> bool {
    let own: &[u8] = if of_levels { b"acc_" } else { b"omp_" };
    let prefixes: [&[u8]; 3] = [own, b"ferry_acc_", b"ferry_omp_"];
    words(text)
        .into_iter()
        .filter_map(|it| text.get(it))
        .any(|word| prefixes.iter().any(|it| word.starts_with(it)))
}

/// The words of a text, without those of comments and literals.
pub(crate) fn words(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let rest = text.get(at..).unwrap_or_default();
        if rest.starts_with(b"/*") {
            at += 2 + rest
                .windows(2)
                .skip(2)
                .position(|it| it == b"*/")
                .map_or(rest.len(), |it| it + 2);
        } else if rest.starts_with(b"//") {
            at += rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len());
        } else if matches!(byte, b'"' | b'\'') {
            at += 1;
            while text.get(at).is_some_and(|it| it != byte && *it != b'\n') {
                at += if text.get(at) == Some(&b'\\') { 2 } else { 1 };
            }
            at += 1;
        } else if byte.is_ascii_alphanumeric() || *byte == b'_' {
            let is_word = |it: &u8| it.is_ascii_alphanumeric() || *it == b'_';
            let length = rest.iter().position(|it| !is_word(it)).unwrap_or(rest.len());
            found.push(at..at + length);
            at += length;
        } else {
            at += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const PURE: Argument<'static> = Argument::Other { is_pure: true };

    #[test]
    fn there_and_back_is_the_same_call() {
        let default = Argument::Call("omp_get_default_device");
        let host = Argument::Call("omp_get_initial_device");
        let zero = Argument::Integer(0);
        for (name, kept, more) in [
            ("acc_malloc", 1, vec![default.clone()]),
            ("acc_free", 1, vec![default.clone()]),
            (
                "acc_memcpy_to_device",
                3,
                vec![zero.clone(), zero.clone(), default.clone(), host.clone()],
            ),
            ("acc_memcpy_from_device", 3, vec![zero.clone(), zero.clone(), host, default.clone()]),
            ("acc_memcpy_device", 3, vec![zero.clone(), zero, default.clone(), default]),
        ] {
            let arguments = vec![PURE; kept];
            let Some(Rewritten::Call { head, .. }) = call_for_teams(name, &arguments, true) else {
                panic!("{name} has a counterpart");
            };
            let all = [arguments, more].concat();
            let back = call_for_levels(head.trim_end_matches('('), &all, false);
            let expected = format!("{name}(");
            assert!(
                matches!(back, Some(Rewritten::Call { head, kept: k, .. }) if head == expected && k == kept),
                "{name}: {back:?}"
            );
        }
    }

    #[test]
    fn only_what_means_the_same_is_rewritten() {
        let of = |name: &str, arguments: &[Argument<'_>]| call_for_teams(name, arguments, false);
        assert_eq!(of("acc_get_num_devices", &[PURE]), None);
        assert_eq!(of("acc_deviceptr", &[PURE]), None);
        assert_eq!(of("acc_is_present", &[PURE, PURE]), None);
        assert_eq!(of("acc_copyin", &[PURE, PURE]), None);
        let host = Argument::Constant("acc_device_host");
        let changes = Argument::Other { is_pure: false };
        assert_eq!(of("acc_set_device_num", &[changes, host.clone()]), None);
        assert!(of("acc_set_device_num", &[Argument::Integer(1), host]).is_some());
        let (zero, default) = (Argument::Integer(0), Argument::Call("omp_get_default_device"));
        let copy = [PURE, PURE, PURE, zero.clone(), zero, default.clone(), default];
        let tail = |is_used| match call_for_levels("omp_target_memcpy", &copy, is_used) {
            Some(Rewritten::Call { tail, .. }) => tail,
            _ => "",
        };
        assert_eq!((tail(false), tail(true)), (")", "), 0)"), "what has no value gets one");
        let named = Argument::Integer(3);
        assert_eq!(call_for_levels("omp_target_alloc", &[PURE, named], true), None);
    }

    #[test]
    fn names_are_looked_for_outside_of_comments_and_literals() {
        let names = |it: &str| names_runtime(it.as_bytes(), true);
        assert!(names("int x = acc_async_sync;"));
        assert!(names("/* a */ acc_wait(1);"));
        assert!(!names("/* acc_wait */ // acc_wait\n\"acc_wait\" my_acc_wait '\\'' 3acc_"));
        assert!(!names("/* acc_wait"));
    }
}
