//! Flags of other compilers: the devices that they name are ours where we can compile for them, and those
//! without a meaning are told, all in one line.

use super::args::{Arguments, Input};
use super::device::Targets;
use super::language::Language;
use super::{amd, nvidia};

/// The device that every program has besides those of its flags.
const ALWAYS: &str = "cpu";

/// Takes what flags of other compilers ask for; says what cannot be had.
pub(crate) fn settle(arguments: &mut Arguments) -> Vec<u8> {
    let is_translated = |it: &Input| it.language != Language::Linked;
    let compiles = arguments.inputs.iter().any(is_translated);
    let mut said = Vec::new();
    if let Some(named) = arguments.foreign.devices.take().filter(|_| !arguments.names_devices) {
        // Where nothing is compiled there is nothing to find a compiler for.
        let lacking = |device: &str| if compiles { lacking(device) } else { None };
        let (targets, left_out) = chosen(&named, lacking);
        arguments.targets = targets;
        said.extend(
            left_out.into_iter().map(|it| format!("flags name a device that is left out: {it}")),
        );
    }
    let ignored = &arguments.foreign.ignored;
    if !ignored.is_empty() {
        let mut flags: Vec<&str> = Vec::new();
        for flag in ignored {
            flags.extend(Some(flag.as_str()).filter(|it| !flags.contains(it)));
        }
        said.push(format!(
            "flags of another compiler, which mean nothing here: {}",
            flags.join(", ")
        ));
    }
    if arguments.no_warnings {
        return Vec::new();
    }
    said.iter().map(|it| format!("ferry cc: warning: {it}\n")).collect::<String>().into_bytes()
}

/// The devices of a list that can be compiled for, and what is to be said of the others.
fn chosen(named: &[String], lacking: impl Fn(&str) -> Option<String>) -> (Targets, Vec<String>) {
    let mut list: Vec<&str> = Vec::new();
    let mut left_out = Vec::new();
    for name in named {
        let kind = name.split(':').next().unwrap_or_default();
        // A GPU by its name says more than its maker's.
        let is_told =
            !name.contains(':') && named.iter().any(|it| it.starts_with(&format!("{name}:")));
        if is_told || list.contains(&name.as_str()) {
            continue;
        }
        match Targets::read(name).err().or_else(|| lacking(kind)) {
            Some(why) => left_out.push(why),
            None => list.push(name),
        }
    }
    left_out.dedup();
    list.push(ALWAYS);
    (Targets::read(&list.join(",")).unwrap_or_default(), left_out)
}

/// Why there is no code for a device.
fn lacking(device: &str) -> Option<String> {
    match device {
        "cuda" => nvidia::Compiler::find().err(),
        "hip" => amd::Compiler::find().err(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(named: &[&str], targets: &str, count: usize) {
        let named: Vec<String> = named.iter().map(|it| (*it).to_owned()).collect();
        let lacking = |it: &str| (it == "hip").then(|| "no compiler".to_owned());
        let (found, left_out) = chosen(&named, lacking);
        assert_eq!((found.text.as_str(), left_out.len()), (targets, count), "{named:?}");
    }

    #[test]
    fn devices_that_can_be_compiled_for_come_before_the_processor() {
        check(&[], "cpu", 0);
        check(&["cuda", "cuda:sm_80"], "cuda,cpu", 0);
        check(&["opencl", "cuda"], "opencl,cuda,cpu", 0);
        check(&["hip", "cuda"], "cuda,cpu", 1);
        check(&["hip:gfx90a", "hip:gfx942"], "cpu", 1);
        check(&["cuda:sm_35"], "cpu", 1);
    }

    #[test]
    fn a_named_gpu_stands_for_its_kind() {
        let named = ["cuda".to_owned(), "cuda:sm_80".to_owned()];
        let (targets, _) = chosen(&named, |_| None);
        assert_eq!(targets.gpus.oldest(70), 80);
    }
}
