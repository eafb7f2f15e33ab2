//! Devices by the words of the command line: a name that is always known, or a file of the user's own.

use std::fs;

use opt::profile::{Profile, Profiles};

use crate::report::reason;

/// How files of profiles end.
const ENDING: &str = ".toml";

/// The device called `word`: one of ours, `FILE.toml` with one profile, or `FILE.toml:NAME`.
pub(crate) fn device(word: &str) -> Result<Profile, String> {
    let (file, name) = match word.rsplit_once(':') {
        Some((file, name)) if file.ends_with(ENDING) => (file, Some(name)),
        _ => (word, None),
    };
    if !file.ends_with(ENDING) && !file.contains('/') {
        let unknown = |it: opt::profile::Fault| format!("{it}, or give a file, as in `mine.toml`");
        return Profiles::built_in().get(word).map_err(unknown);
    }
    let text = fs::read_to_string(file)
        .map_err(|error| format!("cannot read `{file}`: {}", reason(&error)))?;
    let wrong = |it: opt::profile::Fault| format!("`{file}`: {it}");
    let profiles = Profiles::with(&text).map_err(wrong)?;
    let own = opt::profile::names_in(&text).map_err(wrong)?;
    let name = match (name, own.as_slice()) {
        (Some(name), _) => name,
        (None, [one]) => one,
        (None, []) => return Err(format!("`{file}` has no profile")),
        (None, [first, ..]) => {
            return Err(format!(
                "`{file}` has several profiles; say which, as in `{file}:{first}`"
            ));
        }
    };
    profiles.get(name).map_err(wrong)
}

/// The FPGA called `word`: one of ours, or `FILE.toml:NAME`.
pub(crate) fn fpga(word: &str) -> Result<fpga::device::Device, String> {
    let Some((file, name)) = word.rsplit_once(':').filter(|it| it.0.ends_with(ENDING)) else {
        let hint =
            |it: fpga::device::Fault| format!("{it}, or give a file, as in `mine.toml:NAME`");
        return fpga::device::Devices::built_in().get(word).map_err(hint);
    };
    let text = fs::read_to_string(file)
        .map_err(|error| format!("cannot read `{file}`: {}", reason(&error)))?;
    let wrong = |it: fpga::device::Fault| format!("`{file}`: {it}");
    fpga::device::Devices::with(&text).and_then(|it| it.get(name)).map_err(wrong)
}
