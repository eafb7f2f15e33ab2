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
    /// Work crosses sides whether it pays or not.
    pub(crate) crosses_always: bool,
    /// Users want to read what happens.
    pub(crate) info: bool,
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
        crosses_always: is("FERRY_TASKS_CROSS", "always"),
        info: is("FERRY_INFO", "1"),
    }
}
