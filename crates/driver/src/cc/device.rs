//! Which devices a program is compiled for.

use std::collections::BTreeSet;

use super::cuda;

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
    /// NVIDIA GPUs: kernels are machine code or assembly.
    Cuda,
}

/// Their names.
pub(crate) const KINDS: &[(&str, Kind)] = &[
    ("cpu", Kind::Cpu),
    ("cpu:copy", Kind::CpuCopy),
    ("cpu:separate", Kind::CpuSeparate),
    ("opencl", Kind::OpenCl),
    ("cuda", Kind::Cuda),
];

/// What stands before the name of a GPU: `cuda:sm_80`.
const GPU: &str = "cuda:sm_";

/// Which GPUs of NVIDIA's are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gpus {
    /// Those that machine code is made for: 80 for `sm_80`.
    named: BTreeSet<u32>,
    /// All that there are.
    all: bool,
}

impl Gpus {
    /// The oldest that is meant: assembly is made for it.
    pub(crate) fn oldest(&self) -> u32 {
        match (self.all, self.named.first()) {
            (true, _) | (false, None) => cuda::OLDEST,
            (false, Some(first)) => *first,
        }
    }

    /// All that something is made for, in order.
    pub(crate) fn architectures(&self) -> BTreeSet<u32> {
        self.named.iter().copied().chain([self.oldest()]).collect()
    }

    /// Machine code is made for it.
    pub(crate) fn is_named(&self, arch: u32) -> bool {
        self.named.contains(&arch)
    }

    /// Reads `cuda` or `cuda:sm_80`; says whether it is one of them.
    fn read(&mut self, name: &str) -> Result<bool, String> {
        let Some(number) = name.strip_prefix(GPU) else {
            self.all |= name == "cuda";
            return Ok(name == "cuda");
        };
        let oldest = cuda::OLDEST;
        match number.parse() {
            Ok(arch) if arch >= oldest && number.len() <= 3 => {
                self.named.insert(arch);
                Ok(true)
            }
            _ => Err(format!(
                "`{name}`: GPUs are called as NVIDIA calls them, `{GPU}{oldest}` (the oldest), \
                 `{GPU}80`, `{GPU}90`"
            )),
        }
    }
}

/// The devices that a program is compiled for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Targets {
    kinds: Vec<Kind>,
    pub(crate) gpus: Gpus,
    /// The list as a program that runs is told it, in FERRY_DEVICE.
    pub(crate) text: String,
}

impl Default for Targets {
    fn default() -> Targets {
        Targets { kinds: vec![Kind::Cpu], gpus: Gpus::default(), text: "cpu".to_owned() }
    }
}

impl Targets {
    /// Reads a list as FERRY_DEVICE has it: `cpu`, `cpu:separate`, `cpu*4,cpu:separate`; GPUs may be
    /// named in it.
    pub(crate) fn read(text: &str) -> Result<Targets, String> {
        let mut kinds = Vec::new();
        let mut gpus = Gpus::default();
        let mut told = Vec::new();
        for part in text.split(',') {
            let (name, count) = part.split_once('*').unwrap_or((part, "1"));
            let name = name.trim();
            let plain = if gpus.read(name)? { "cuda" } else { name };
            let kind = KINDS.iter().find(|(it, _)| *it == plain).map(|it| it.1);
            let Some(kind) = kind else { return Err(unknown(name)) };
            if !count.trim().parse::<u16>().is_ok_and(|it| it > 0) {
                return Err(format!("`{part}`: `*` is followed by a number of devices"));
            }
            // Several names for the code of GPUs are still one device.
            let is_again = kinds.contains(&kind) && kind == Kind::Cuda && !gpus.named.is_empty();
            if !is_again {
                told.push(part.replace(name, plain));
            }
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        Ok(Targets { kinds, gpus, text: told.join(",") })
    }

    /// Whether any of them runs kernels from an image in machine code.
    pub(crate) fn need_image(&self) -> bool {
        self.kinds.iter().any(|it| match it {
            Kind::Cpu | Kind::OpenCl | Kind::Cuda => false,
            Kind::CpuCopy | Kind::CpuSeparate => true,
        })
    }

    /// The languages that grids of threads among them want.
    pub(crate) fn grids(&self) -> Vec<emit::Grid> {
        let grid = |it: &Kind| match it {
            Kind::OpenCl => Some(emit::Grid::OpenCl),
            Kind::Cuda => Some(emit::Grid::Cuda),
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
        for wrong in
            ["", "gpu", "cpu*", "cpu*0", "cpu,,", "cuda:", "cuda:sm_", "cuda:sm_60", "cuda:9"]
        {
            assert!(kinds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn gpus_are_named_for_the_compiler_only() {
        let read = |text: &str| Targets::read(text).expect(text);
        let check = |text: &str, runtime: &str, oldest: u32, architectures: &[u32]| {
            let Targets { gpus, text: told, .. } = read(text);
            assert_eq!((told.as_str(), gpus.oldest()), (runtime, oldest), "{text}");
            assert_eq!(gpus.architectures(), architectures.iter().copied().collect(), "{text}");
        };
        check("cuda", "cuda", 70, &[70]);
        check("cpu,cuda*2", "cpu,cuda*2", 70, &[70]);
        check("cuda:sm_90", "cuda", 90, &[90]);
        check("cuda:sm_90,cpu,cuda:sm_80", "cuda,cpu", 80, &[80, 90]);
        check("cuda,cuda:sm_90", "cuda", 70, &[70, 90]);
        check("cuda:sm_90,cuda", "cuda", 70, &[70, 90]);
        check("cuda,cuda", "cuda,cuda", 70, &[70]);
        assert!(read("cuda:sm_90").gpus.is_named(90) && !read("cuda").gpus.is_named(70));
    }
}
