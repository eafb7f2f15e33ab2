//! The environment, read once.
//!
//! `FERRY_DEVICE`, `FERRY_INFO`, `FERRY_TRACE`; of the standard: whether offload is allowed or must
//! happen, the default device, and tools. Nothing else of the crate reads the environment.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, iter};

use abi::settings::{SETTINGS, Takes};
use device::{PLUGINS, Plugin};

use crate::error::Error;

/// Whether regions run on devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Everything runs on the host.
    Disabled,
    /// On a device if there is one.
    Default,
    /// On a device, or the program ends.
    Mandatory,
}

/// The program was built so that offload must happen.
static IS_BUILT_MANDATORY: AtomicBool = AtomicBool::new(false);

/// From now on offload must happen, where the environment does not say anything. Comes before all regions.
pub(crate) fn make_mandatory() {
    IS_BUILT_MANDATORY.store(true, Ordering::Relaxed);
}

/// The policy: what the environment says, else what the program was built for. A word that is not one of the three is
/// reported and means the default.
pub(crate) fn policy() -> Policy {
    static SAID: OnceLock<Option<Policy>> = OnceLock::new();
    let said = *SAID.get_or_init(|| {
        let word = env::var("OMP_TARGET_OFFLOAD").ok().filter(|it| !it.trim().is_empty())?;
        Some(policy_of(&word).unwrap_or_else(|| {
            crate::report::warn(&format!(
                "OMP_TARGET_OFFLOAD={word} is not understood and ignored; say MANDATORY, DISABLED \
                 or DEFAULT"
            ));
            Policy::Default
        }))
    });
    // The program says so after its files are registered.
    let is_built_mandatory = IS_BUILT_MANDATORY.load(Ordering::Relaxed);
    said.unwrap_or(if is_built_mandatory { Policy::Mandatory } else { Policy::Default })
}

/// Who runs regions whose iterations host and devices may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coexecute {
    /// Whoever is fastest: one of them, or all.
    Gate,
    /// All, each the same number of iterations.
    Always,
    /// One device.
    Never,
}

/// What the environment says of that.
pub(crate) fn coexecute() -> Coexecute {
    static SAID: OnceLock<Coexecute> = OnceLock::new();
    *SAID.get_or_init(|| match env::var("FERRY_COEXECUTE").as_deref() {
        Ok("always") => Coexecute::Always,
        Ok("never") => Coexecute::Never,
        _ => Coexecute::Gate,
    })
}

fn policy_of(word: &str) -> Option<Policy> {
    match word.trim().to_ascii_lowercase().as_str() {
        "" | "default" => Some(Policy::Default),
        "mandatory" => Some(Policy::Mandatory),
        "disabled" => Some(Policy::Disabled),
        _ => None,
    }
}

/// The default device where no host threading runtime keeps it. Every region asks.
pub(crate) fn default_device() -> i32 {
    static NUMBER: OnceLock<i32> = OnceLock::new();
    *NUMBER.get_or_init(|| {
        let word = env::var("OMP_DEFAULT_DEVICE").unwrap_or_default();
        match word.trim().parse::<i32>() {
            Ok(number) if number >= 0 => return number,
            _ if word.trim().is_empty() => {}
            _ => crate::report::warn(&format!(
                "OMP_DEFAULT_DEVICE={word} is not understood and ignored; say the number of a device"
            )),
        }
        0
    })
}

/// `ACC_DEVICE_TYPE`: what the first current device is to be.
pub(crate) fn device_type() -> Option<String> {
    env::var("ACC_DEVICE_TYPE").ok().filter(|it| !it.trim().is_empty())
}

/// `ACC_DEVICE_NUM`: its number.
pub(crate) fn device_number() -> Option<String> {
    env::var("ACC_DEVICE_NUM").ok().filter(|it| !it.trim().is_empty())
}

/// A setting that chooses code; none in a program that runs with other rights than its user's.
fn chosen(name: &str) -> Option<String> {
    device::library::setting(name).map(|it| it.to_string_lossy().into_owned())
}

/// `ACC_PROFLIB`: libraries with profiling tools, one after another with semicolons between them.
pub(crate) fn profiling_libraries() -> Vec<String> {
    let list = chosen("ACC_PROFLIB").unwrap_or_default();
    if env::var_os(device::separate::INSIDE_VARIABLE).is_some() {
        return Vec::new();
    }
    list.split(';').map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

/// `FERRY_INFO`: set, and not to 0 or to less than all.
pub(crate) fn info() -> bool {
    let word = env::var_os("FERRY_INFO");
    word.is_some_and(|it| !it.is_empty() && it != "0" && it != CYCLES)
}

/// `FERRY_MEMORY_CHECK`: wrong use of memory from allocators is looked for.
pub(crate) fn checks_memory() -> bool {
    env::var_os("FERRY_MEMORY_CHECK").is_some_and(|it| !it.is_empty() && it != "0")
}

/// `FERRY_PERSISTENT`: the folder of data that persist.
pub(crate) fn persistent() -> Option<std::path::PathBuf> {
    device::library::setting("FERRY_PERSISTENT").map(Into::into)
}

/// `FERRY_MEMORY_KINDS`: the file with a user's memory kinds.
pub(crate) fn kinds() -> Option<std::path::PathBuf> {
    device::library::setting("FERRY_MEMORY_KINDS").map(Into::into)
}

/// `OMP_ALLOCATOR`: the first default allocator.
pub(crate) fn allocator() -> Option<String> {
    env::var("OMP_ALLOCATOR").ok().filter(|it| !it.trim().is_empty())
}

/// What asks for the lines on cycles alone.
const CYCLES: &str = "cycles";

/// `FERRY_INFO`: what devices count by themselves is wanted.
pub(crate) fn counts() -> bool {
    info() || env::var_os("FERRY_INFO").is_some_and(|it| it == CYCLES)
}

/// `LIBOMPTARGET_INFO`: which lines of LLVM's runtime are wanted, as bits; -1 is all.
pub(crate) fn llvm_info() -> u32 {
    let bits = env::var("LIBOMPTARGET_INFO").ok();
    bits.and_then(|it| it.trim().parse::<i64>().ok()).unwrap_or(0) as u32
}

/// `FERRY_WAIT`: whether every region is waited for in place.
pub(crate) fn waits_always() -> bool {
    static SAID: OnceLock<bool> = OnceLock::new();
    *SAID.get_or_init(|| env::var_os("FERRY_WAIT").is_some_and(|it| it == "always"))
}

/// `FERRY_TRACE`: the file to write.
pub(crate) fn trace() -> Option<std::path::PathBuf> {
    device::library::setting("FERRY_TRACE").map(Into::into)
}

/// Tools may be started.
pub(crate) fn allows_tools() -> bool {
    env::var("OMP_TOOL").map_or(true, |it| !it.trim().eq_ignore_ascii_case("disabled"))
}

/// Libraries in which a tool is looked for.
pub(crate) fn tool_libraries() -> Vec<String> {
    let list = chosen("OMP_TOOL_LIBRARIES").unwrap_or_default();
    list.split(':').map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

/// The devices that `FERRY_DEVICE` asks for; nothing if it does not.
pub(crate) fn devices() -> Result<Option<Vec<&'static Plugin>>, Error> {
    // In the process of a device: as many as the program has, and none is opened a second time.
    if let Some(number) = env::var_os(device::separate::INSIDE_VARIABLE) {
        let number = number.to_str().and_then(|it| it.parse().ok()).unwrap_or(1);
        return Ok(Some(PLUGINS.iter().take(1).cycle().take(number).collect()));
    }
    check()?;
    let Some(list) = env::var_os("FERRY_DEVICE") else { return Ok(None) };
    let list = list.to_string_lossy();
    if list.trim().is_empty() { Ok(None) } else { devices_of(&list).map(Some) }
}

/// Whether all that the environment says to the library is allowed.
fn check() -> Result<(), Error> {
    for it in SETTINGS.iter().filter(|it| !it.is_of_command) {
        // What chooses files is not followed with other rights than the user's.
        let value = match it.takes {
            Takes::WholeFolder | Takes::Folder | Takes::File => device::library::setting(it.name),
            Takes::Devices | Takes::Word(_) | Takes::Number(..) => env::var_os(it.name),
        };
        if let Some((message, help)) = value.and_then(|value| it.fault(&value)) {
            return Err(Error::Setting { message, help });
        }
    }
    Ok(())
}

/// More devices than any program can mean.
const MOST_DEVICES: usize = 1024;

/// Reads `cpu`, `cpu*4`, `cpu,cpu:copy`; `none` is an empty list.
pub(crate) fn devices_of(list: &str) -> Result<Vec<&'static Plugin>, Error> {
    let kinds = kinds_of(list)?;
    let devices = kinds.into_iter().flat_map(|(it, count)| iter::repeat_n(it, count.unwrap_or(1)));
    Ok(devices.collect())
}

/// The same as kinds of devices, with the number of each where one is given.
pub(crate) fn kinds_of(list: &str) -> Result<Vec<(&'static Plugin, Option<usize>)>, Error> {
    if list.trim() == "none" {
        return Ok(Vec::new());
    }
    let mut kinds = Vec::new();
    for word in list.split(',').map(str::trim) {
        let (name, count) = match word.split_once('*') {
            None => (word, None),
            Some((name, count)) => (name.trim(), Some(count.trim().parse().unwrap_or(0))),
        };
        if count.is_some_and(|it| !(1..=MOST_DEVICES).contains(&it)) {
            return Err(Error::Setting {
                message: format!("FERRY_DEVICE: `{word}` does not say how many devices"),
                help: "write a number behind the star, as in cpu*4".into(),
            });
        }
        let Some(plugin) = PLUGINS.iter().find(|it| it.name() == name) else {
            let known: Vec<String> =
                PLUGINS.iter().map(|it| format!("{} ({})", it.name(), it.target().about)).collect();
            return Err(Error::Setting {
                message: format!("FERRY_DEVICE: there is no device `{name}`"),
                help: format!("choose among {}; or none", known.join(", ")),
            });
        };
        kinds.push((plugin, count));
    }
    Ok(kinds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(list: &str, expect: &[&str]) {
        let names: Vec<_> = devices_of(list).unwrap().iter().map(|it| it.name()).collect();
        assert_eq!(names, expect);
    }

    #[test]
    fn lists_and_multiples() {
        check("cpu", &["cpu"]);
        check("cpu*2, cpu:copy", &["cpu", "cpu", "cpu:copy"]);
        check("none", &[]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (list, part) in
            [("gpu", "`gpu`"), ("cpu*0", "cpu*0"), ("cpu*x", "cpu*x"), ("cpu,", "``")]
        {
            let error = devices_of(list).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
            assert!(!error.help().is_empty());
        }
    }

    #[test]
    fn a_policy_is_a_word_in_any_case() {
        assert_eq!(policy_of("Mandatory"), Some(Policy::Mandatory));
        assert_eq!(policy_of(""), Some(Policy::Default));
        assert_eq!(policy_of("always"), None);
    }
}
