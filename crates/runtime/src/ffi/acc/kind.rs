//! Types of devices: the numbers of the header, and the words of the environment and of directives.

use std::ffi::c_int;

use crate::devices;
use crate::error::Error;
pub(crate) use crate::profile::layout::{HOST, NOT_HOST};

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
    /// A device of one maker, or of one interface.
    Maker(&'static str),
}

pub(crate) const NONE: c_int = 0;
pub(crate) const DEFAULT: c_int = 1;
pub(crate) const CURRENT: c_int = -1;

/// Makers' types, with the numbers and words for them, and our kinds of devices that are of the type.
const MAKERS: &[(c_int, &str, &[&str])] = &[
    (5, "nvidia", &["cuda"]),
    (6, "opencl", &["opencl", "opencl:1.2"]),
    (8, "radeon", &["hip"]),
    (9, "riscv", &["riscv", "riscv:shared"]),
];

/// The number of the header for a kind of devices of ours.
pub(crate) fn type_of(kind: &str) -> c_int {
    MAKERS.iter().find(|it| it.2.contains(&kind)).map_or(NOT_HOST, |it| it.0)
}

impl Kind {
    /// What a number of the header means.
    pub(crate) fn numbered(number: c_int) -> Result<Kind, Error> {
        Ok(match number {
            NONE | CURRENT => Kind::Unsaid,
            DEFAULT => Kind::Default,
            HOST => Kind::Host,
            NOT_HOST => Kind::Device,
            number => match MAKERS.iter().find(|it| it.0 == number) {
                Some((_, word, _)) => Kind::Maker(word),
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
            word => Kind::Maker(MAKERS.iter().find(|it| it.1 == word)?.1),
        })
    }

    /// The numbers of the devices of the type, where there are devices of these kinds; none for the host.
    pub(crate) fn numbers(self, kinds: &[&str]) -> Vec<c_int> {
        let is_of_type = |kind: &str| match self {
            Kind::Default | Kind::Device => true,
            Kind::Maker(word) => MAKERS.iter().any(|it| it.1 == word && it.2.contains(&kind)),
            Kind::Host | Kind::Unsaid => false,
        };
        (0..).zip(kinds).filter(|(_, kind)| is_of_type(kind)).map(|it| it.0).collect()
    }

    /// How many devices of the type there are.
    pub(crate) fn count(self) -> c_int {
        let found = || c_int::try_from(self.numbers(&devices::kinds()).len()).unwrap_or(c_int::MAX);
        match self {
            Kind::Host => 1,
            // Without devices the host is what is used by default.
            Kind::Default => found().max(1),
            Kind::Device | Kind::Maker(_) => found(),
            Kind::Unsaid => 0,
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
        assert_eq!(Kind::numbered(type_of("cuda")).ok(), Some(Kind::Maker("nvidia")));
        assert_eq!(type_of("cpu:separate"), NOT_HOST);
        assert!(Kind::numbered(77).is_err());
    }

    #[test]
    fn devices_of_a_maker_are_numbered_among_themselves() {
        let kinds = ["cpu", "cuda", "opencl", "cuda"];
        assert_eq!(Kind::Maker("nvidia").numbers(&kinds), [1, 3]);
        assert_eq!(Kind::Maker("opencl").numbers(&kinds), [2]);
        assert_eq!(Kind::Maker("radeon").numbers(&kinds), [0; 0]);
        assert_eq!(Kind::Device.numbers(&kinds), [0, 1, 2, 3]);
        assert_eq!(Kind::Host.numbers(&kinds), [0; 0]);
    }
}
