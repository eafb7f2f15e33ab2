//! Which devices a program is compiled for.

/// A kind of device that `--device` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The processor, sharing the host's memory: kernels are part of the host object.
    Cpu,
    /// The processor with copies of mapped data, in the same process: kernels are an image.
    CpuCopy,
    /// The processor with memory of its own, in another process: kernels are an image.
    CpuSeparate,
    /// What an OpenCL driver offers: kernels are a text, which the driver compiles.
    OpenCl,
}

/// Their names.
pub(crate) const KINDS: &[(&str, Kind)] = &[
    ("cpu", Kind::Cpu),
    ("cpu:copy", Kind::CpuCopy),
    ("cpu:separate", Kind::CpuSeparate),
    ("opencl", Kind::OpenCl),
];

/// The devices that a program is compiled for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Targets {
    kinds: Vec<Kind>,
    /// As the user wrote it.
    pub(crate) text: String,
}

impl Default for Targets {
    fn default() -> Targets {
        Targets { kinds: vec![Kind::Cpu], text: "cpu".to_owned() }
    }
}

impl Targets {
    /// Reads a list as FERRY_DEVICE has it: `cpu`, `cpu:separate`, `cpu*4,cpu:separate`.
    pub(crate) fn read(text: &str) -> Result<Targets, String> {
        let mut kinds = Vec::new();
        for part in text.split(',') {
            let (name, count) = part.split_once('*').unwrap_or((part, "1"));
            let kind = KINDS.iter().find(|(it, _)| *it == name.trim()).map(|it| it.1);
            let Some(kind) = kind else { return Err(unknown(name.trim())) };
            if !count.trim().parse::<u16>().is_ok_and(|it| it > 0) {
                return Err(format!("`{part}`: `*` is followed by a number of devices"));
            }
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        Ok(Targets { kinds, text: text.to_owned() })
    }

    /// Whether any of them runs kernels from an image in machine code.
    pub(crate) fn need_image(&self) -> bool {
        self.kinds.iter().any(|it| match it {
            Kind::Cpu | Kind::OpenCl => false,
            Kind::CpuCopy | Kind::CpuSeparate => true,
        })
    }

    /// The languages that grids of threads among them want.
    pub(crate) fn grids(&self) -> Vec<emit::Grid> {
        let grid = |it: &Kind| match it {
            Kind::OpenCl => Some(emit::Grid::OpenCl),
            Kind::Cpu | Kind::CpuCopy | Kind::CpuSeparate => None,
        };
        self.kinds.iter().filter_map(grid).collect()
    }
}

fn unknown(name: &str) -> String {
    let known: Vec<String> = KINDS.iter().map(|(it, _)| format!("`{it}`")).collect();
    format!("no device is called `{name}`; known are {}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_the_runtime_reads_them() {
        let kinds = |text: &str| Targets::read(text).map(|it| it.kinds);
        assert_eq!(kinds("cpu"), Ok(vec![Kind::Cpu]));
        assert_eq!(kinds("cpu*4, cpu:separate,cpu"), Ok(vec![Kind::Cpu, Kind::CpuSeparate]));
        assert!(!Targets::default().need_image());
        assert!(Targets::read("cpu,cpu:separate").is_ok_and(|it| it.need_image()));
        for wrong in ["", "gpu", "cpu*", "cpu*0", "cpu,,"] {
            assert!(kinds(wrong).is_err(), "{wrong}");
        }
    }
}
