//! What the environment says to tasks, read once.

use std::env;
use std::thread;

use abi::settings::SETTINGS;

use crate::hardware::CORES;
use crate::report;

/// What workers there are and how they work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Host workers, with the thread that begins.
    pub(crate) workers: usize,
    /// Accelerator cores.
    pub(crate) cores: u32,
    /// Cores do their oldest tasks first.
    pub(crate) is_fifo: bool,
    /// Non-coherence is checked.
    pub(crate) is_checked: bool,
    /// When work crosses sides.
    pub(crate) crossing: Crossing,
    /// Users want to read what happens.
    pub(crate) info: bool,
}

/// When work crosses sides; what is for cores alone always does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crossing {
    /// If it pays.
    Gate,
    Always,
    Never,
}

/// Reads them; a value that is not allowed ends the program.
pub(crate) fn read() -> Settings {
    let said = |name: &str| env::var_os(name).filter(|it| !it.is_empty());
    let wrong = SETTINGS.iter().filter(|it| it.name.starts_with("FERRY_TASKS_"));
    for (setting, value) in wrong.filter_map(|it| Some((it, said(it.name)?))) {
        if let Some((message, help)) = setting.fault(&value) {
            report::fail(&message, &help);
        }
    }
    let number = |name: &str| said(name)?.to_str()?.trim().parse::<usize>().ok();
    let is =
        |name: &str, word: &str| said(name).is_some_and(|it| it.to_string_lossy().trim() == word);
    let processors = thread::available_parallelism().map_or(1, usize::from);
    Settings {
        workers: number("FERRY_TASKS_HOST").unwrap_or(processors).max(1),
        cores: number("FERRY_TASKS_CORES").unwrap_or(0).min(CORES) as u32,
        is_fifo: is("FERRY_TASKS_QUEUES", "fifo"),
        is_checked: is("FERRY_TASKS_CHECK", "1"),
        crossing: match () {
            () if is("FERRY_TASKS_CROSS", "always") => Crossing::Always,
            () if is("FERRY_TASKS_CROSS", "never") => Crossing::Never,
            () => Crossing::Gate,
        },
        info: is("FERRY_INFO", "1"),
    }
}
