//! Variables of the environment that the command and the library follow, and what each may hold.
//!
//! One table for both: a value that is not allowed is an error, of whichever reads it first. An empty value is as none.

use std::ffi::OsStr;
use std::path::Path;

/// A variable.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// What it may hold.
    pub takes: Takes,
    /// Whether only the command follows it.
    pub is_of_command: bool,
}

/// What a variable may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A list of devices: who knows them says what is wrong.
    Devices,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A number from the first to the second.
    Number(u64, u64),
    /// A folder, there or to be made, with all of its path.
    WholeFolder,
    /// A folder that is there.
    Folder,
    /// A file or command: who opens it says what is wrong.
    File,
}

/// All of them.
pub const SETTINGS: &[Setting] = &[
    of_both("FERRY_DEVICE", Takes::Devices),
    of_both("FERRY_INFO", Takes::Word(&["0", "1", "cycles"])),
    of_both("FERRY_MEMORY_CHECK", Takes::Word(&["0", "1"])),
    of_both("FERRY_MEMORY_KINDS", Takes::File),
    of_both("FERRY_PERSISTENT", Takes::File),
    of_both("FERRY_TRACE", Takes::File),
    of_both("FERRY_WAIT", Takes::Word(&["always"])),
    of_both("FERRY_OPENCL_AS", Takes::Word(&["gpu"])),
    of_both("FERRY_DEVICE_MEMORY", Takes::Number(1, u64::MAX)),
    of_both("FERRY_COPY_THREADS", Takes::Number(1, 1024)),
    of_both("FERRY_CYCLE_LIMIT", Takes::Number(1, u64::MAX)),
    of_both("FERRY_KERNEL_TIMEOUT", Takes::Number(1, 1 << 32)),
    of_both("FERRY_CACHE", Takes::WholeFolder),
    of_both("FERRY_LIBEXEC", Takes::Folder),
    of_both("FERRY_COEXECUTE", Takes::Word(&["gate", "always", "never"])),
    of_both("FERRY_TASKS_HOST", Takes::Number(1, 1024)),
    of_both("FERRY_TASKS_CORES", Takes::Number(0, 32)),
    of_both("FERRY_TASKS_QUEUES", Takes::Word(&["lifo", "fifo"])),
    of_both("FERRY_TASKS_CROSS", Takes::Word(&["gate", "always", "never"])),
    of_both("FERRY_TASKS_CHECK", Takes::Word(&["0", "1"])),
    of_command("FERRY_CC"),
    of_command("FERRY_LLVM"),
    of_command("FERRY_NVRTC"),
    of_command("FERRY_HIP_CLANG"),
    of_command("FERRY_RISCV_CLANG"),
];

const fn of_both(name: &'static str, takes: Takes) -> Setting {
    Setting { name, takes, is_of_command: false }
}

const fn of_command(name: &'static str) -> Setting {
    Setting { name, takes: Takes::File, is_of_command: true }
}

impl Setting {
    /// What is wrong with a value and what is allowed; nothing if it is right.
    pub fn fault(&self, value: &OsStr) -> Option<(String, String)> {
        let text = value.to_str().map(str::trim);
        let is_right = match self.takes {
            _ if text == Some("") => true,
            Takes::Devices | Takes::File => true,
            Takes::Word(words) => text.is_some_and(|it| words.contains(&it)),
            Takes::Number(least, most) => {
                let number = text.and_then(|it| it.parse::<u64>().ok());
                number.is_some_and(|it| (least..=most).contains(&it))
            }
            Takes::WholeFolder => {
                let path = Path::new(value);
                path.is_absolute() && (path.is_dir() || !path.exists())
            }
            Takes::Folder => Path::new(value).is_dir(),
        };
        let told = || {
            let message = format!("{}: `{}` is not allowed", self.name, value.display());
            (message, self.allowed())
        };
        (!is_right).then(told)
    }

    /// What is allowed, in words.
    fn allowed(&self) -> String {
        match self.takes {
            Takes::Devices => "a list of devices".into(),
            Takes::Word(words) => format!("it is one of {}", words.join(", ")),
            Takes::Number(least, u64::MAX) => format!("it is a number, {least} or more"),
            Takes::Number(least, most) => format!("it is a number from {least} to {most}"),
            Takes::WholeFolder => "it is a folder with all of its path, as in /var/cache".into(),
            Takes::Folder => "it is a folder that is there".into(),
            Takes::File => "it is a file".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, value: &str, is_right: bool) {
        let setting = SETTINGS.iter().find(|it| it.name == name).unwrap();
        let fault = setting.fault(OsStr::new(value));
        assert_eq!(fault.is_none(), is_right, "{name}={value}");
        if let Some((message, allowed)) = fault {
            assert!(message.contains(name) && message.contains(value) && !allowed.is_empty());
        }
    }

    #[test]
    fn odd_values_are_faults_that_name_variable_and_value() {
        for value in ["", "0", "1", "cycles"] {
            check("FERRY_INFO", value, true);
        }
        check("FERRY_INFO", "yes", false);
        check("FERRY_DEVICE_MEMORY", "4096", true);
        for value in ["0", "-1", "1G", "many", "99999999999999999999"] {
            check("FERRY_DEVICE_MEMORY", value, false);
        }
        check("FERRY_COPY_THREADS", "0", false);
        check("FERRY_COPY_THREADS", "8", true);
        check("FERRY_CYCLE_LIMIT", "1e6", false);
        check("FERRY_CACHE", "cache", false);
        check("FERRY_CACHE", "/nowhere/yet", true);
        check("FERRY_CACHE", "/dev/null", false);
        check("FERRY_LIBEXEC", "/nowhere/at/all", false);
        check("FERRY_LIBEXEC", "/", true);
    }
}
