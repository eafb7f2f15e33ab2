//! Types of devices: the numbers of the header, and the words of the environment and of directives.

use std::ffi::c_int;

use crate::devices;
use crate::error::Error;

/// What a number of the header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// No type: that of the current device.
    Unsaid,
    /// What is used where nothing is said: our devices.
    Default,
    /// The host itself, as if there were no devices.
    Host,
    /// Any device: our devices.
    Device,
    /// A device of one maker, of which we have none.
    Foreign(&'static str),
}

pub(crate) const NONE: c_int = 0;
pub(crate) const DEFAULT: c_int = 1;
pub(crate) const HOST: c_int = 2;
pub(crate) const NOT_HOST: c_int = 4;
pub(crate) const CURRENT: c_int = -1;

/// Makers' types, with the numbers and words for them.
const FOREIGN: &[(c_int, &str)] = &[(5, "nvidia"), (6, "opencl"), (8, "radeon"), (9, "riscv")];

impl Kind {
    /// What a number of the header means.
    pub(crate) fn numbered(number: c_int) -> Result<Kind, Error> {
        Ok(match number {
            NONE | CURRENT => Kind::Unsaid,
            DEFAULT => Kind::Default,
            HOST => Kind::Host,
            NOT_HOST => Kind::Device,
            number => match FOREIGN.iter().find(|it| it.0 == number) {
                Some((_, word)) => Kind::Foreign(word),
                None => {
                    return Err(Error::Argument {
                        message: format!("{number} is no type of devices"),
                        help: "use one of the acc_device_… constants of openacc.h".into(),
                    });
                }
            },
        })
    }

    /// What a word of the environment or of a directive means; none if it is not known.
    pub(crate) fn named(word: &str) -> Option<Kind> {
        let word = word.trim().to_ascii_lowercase();
        let word = word.strip_prefix("acc_device_").unwrap_or(&word);
        Some(match word {
            "default" | "*" => Kind::Default,
            "host" => Kind::Host,
            "not_host" | "multicore" | "cpu" => Kind::Device,
            "none" | "current" => Kind::Unsaid,
            word => Kind::Foreign(FOREIGN.iter().find(|it| it.1 == word)?.1),
        })
    }

    /// How many devices of the type there are.
    pub(crate) fn count(self) -> c_int {
        match self {
            Kind::Host => 1,
            // Without devices the host is what is used by default.
            Kind::Default => devices::count().max(1),
            Kind::Device => devices::count(),
            Kind::Unsaid | Kind::Foreign(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_mean_the_same() {
        for (number, word) in
            [(1, "default"), (2, "host"), (4, "not_host"), (5, "NVIDIA"), (8, "acc_device_radeon")]
        {
            assert_eq!(Kind::numbered(number).ok(), Kind::named(word), "{word}");
        }
        assert_eq!(Kind::named("fpga"), None);
        assert!(Kind::numbered(77).is_err());
    }
}
