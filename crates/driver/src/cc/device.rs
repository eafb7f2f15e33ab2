//! Which devices a program is compiled for.

use std::collections::BTreeSet;

use abi::target::{Code, Kind, TARGETS, named};

use super::remote::describe::READY;
use super::{cuda, hardware, hip, remote};

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
    /// The oldest that is meant, of those that the compiler knows: assembly is made for it.
    pub(crate) fn oldest(&self, known: u32) -> u32 {
        match (self.all, self.named.first()) {
            (true, Some(first)) => known.min(*first),
            (true, None) | (false, None) => known,
            (false, Some(first)) => *first,
        }
    }

    /// All that something is made for, in order; `known` is the oldest that the compiler knows.
    pub(crate) fn architectures(&self, known: u32) -> BTreeSet<u32> {
        self.named.iter().copied().chain([self.oldest(known)]).collect()
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

/// Which GPUs of AMD's are meant: machine code is made for each, as there is no assembly for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AmdGpus {
    named: BTreeSet<String>,
    /// The one that stands for those that were not named.
    usual: bool,
}

impl AmdGpus {
    /// All that something is made for, in order.
    pub(crate) fn architectures(&self) -> BTreeSet<String> {
        let usual = self.usual.then(|| hip::USUAL.to_owned());
        self.named.iter().cloned().chain(usual).collect()
    }

    /// Reads `hip` or `hip:gfx90a`; says whether it is one of them.
    fn read(&mut self, name: &str) -> Result<bool, String> {
        let Some(arch) = name.strip_prefix("hip:") else {
            self.usual |= name == "hip";
            return Ok(name == "hip");
        };
        let is_digit = |it: u8| it.is_ascii_digit() || matches!(it, b'a'..=b'f');
        // All but the last two digits are the generation. Which GPUs it has the compiler knows.
        let generation =
            arch.strip_prefix("gfx").and_then(|it| it.split_at_checked(it.len().checked_sub(2)?));
        let is_gpu = generation.is_some_and(|(generation, version)| {
            generation.len() <= 2
                && generation.parse::<u32>().is_ok_and(|it| it >= hip::OLDEST)
                && version.bytes().all(is_digit)
        });
        if is_gpu {
            self.named.insert(arch.to_owned());
            return Ok(true);
        }
        Err(format!(
            "`{name}`: GPUs are called as AMD calls them, `hip:gfx90a` (what `hip` alone means), \
             `hip:gfx942`, `hip:gfx1100`, and are of generation {} or newer",
            hip::OLDEST
        ))
    }
}

/// The devices that a program is compiled for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Targets {
    kinds: Vec<Kind>,
    pub(crate) gpus: Gpus,
    pub(crate) amd: AmdGpus,
    /// The cluster that is meant, if one is named.
    pub(crate) cluster: Option<String>,
    /// The FPGA whose latencies simulated hardware has, if one is named.
    pub(crate) board: Option<String>,
    /// Toolchains of other machines, by name or file.
    pub(crate) remotes: Vec<String>,
    /// The list as a program that runs is told it, in FERRY_DEVICE.
    pub(crate) text: String,
}

impl Default for Targets {
    fn default() -> Targets {
        let (gpus, amd) = (Gpus::default(), AmdGpus::default());
        Targets {
            kinds: vec![Kind::Cpu],
            gpus,
            amd,
            cluster: None,
            board: None,
            remotes: Vec::new(),
            text: "cpu".to_owned(),
        }
    }
}

impl Targets {
    /// Reads a list as FERRY_DEVICE has it: `cpu`, `cpu:separate`, `cpu*4,cpu:separate`; GPUs may be
    /// named in it.
    pub(crate) fn read(text: &str) -> Result<Targets, String> {
        let mut kinds = Vec::new();
        let (mut gpus, mut amd) = (Gpus::default(), AmdGpus::default());
        let (mut cluster, mut board) = (None, None);
        let mut remotes: Vec<String> = Vec::new();
        let mut told = Vec::new();
        let parts: Vec<String> = text.split(',').map(whole).collect();
        for part in parts.iter().map(String::as_str) {
            let (name, count) = part.split_once('*').unwrap_or((part, "1"));
            let name = name.trim();
            let plain = if gpus.read(name)? {
                "cuda"
            } else if amd.read(name)? {
                "hip"
            } else if let Some(named) = name.strip_prefix("riscv:").filter(|it| *it != "shared") {
                if cluster.is_some_and(|it| it != named) {
                    return Err(format!("`{name}`: a program is made for one cluster"));
                }
                cluster = Some(named);
                "riscv"
            } else if let Some(named) = name.strip_prefix("fpga-rtl:") {
                if board.is_some_and(|it| it != named) {
                    return Err(format!("`{name}`: hardware is made for one device"));
                }
                board = Some(named);
                "fpga-rtl"
            } else if let Some(named) = name.strip_prefix("remote:") {
                if !remotes.iter().any(|it| it == named) {
                    remotes.push(named.to_owned());
                }
                let is_file = |it: &String| remote::is_file(it);
                if remotes.iter().filter(|it| is_file(it)).count() > 1 {
                    return Err(format!(
                        "`{name}`: a program is made for one machine that a file describes"
                    ));
                }
                if remote::is_file(named) { "remote" } else { name }
            } else if name == "remote" {
                let text = "`remote` is a family: name a machine, as in `remote:aarch64`, or a file, `remote:mine.toml`";
                return Err(text.to_owned());
            } else {
                name
            };
            let kind = named(plain).map(|it| it.kind);
            let Some(kind) = kind else { return Err(unknown(name)) };
            if !count.trim().parse::<u16>().is_ok_and(|it| it > 0) {
                return Err(format!("`{part}`: `*` is followed by a number of devices"));
            }
            // Several names for the code of GPUs are still one device.
            let is_named = match kind {
                Kind::Cuda => !gpus.named.is_empty(),
                Kind::Hip => !amd.named.is_empty(),
                Kind::Cpu | Kind::CpuCopy | Kind::CpuSeparate => false,
                Kind::OpenCl | Kind::OpenCl12 | Kind::Fpga(_) | Kind::Rtl => false,
                Kind::Riscv | Kind::RiscvShared | Kind::Remote(_) => false,
            };
            if !(is_named && kinds.contains(&kind)) {
                told.push(part.replace(name, plain));
            }
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let cluster = cluster.map(str::to_owned);
        let board = board.map(str::to_owned);
        Ok(Targets { kinds, gpus, amd, cluster, board, remotes, text: told.join(",") })
    }

    pub(crate) fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// Whether any of them runs kernels from an image that the host's compiler makes.
    pub(crate) fn need_image(&self) -> bool {
        self.kinds.iter().any(|it| it.target().code == Code::Image)
    }

    /// Whether any of them needs C for devices that do not see the host's memory.
    pub(crate) fn need_device_text(&self) -> bool {
        self.need_image() || self.has_cluster() || !self.remotes.is_empty()
    }

    /// The devices that one device text serves, by name.
    pub(crate) fn image_names(&self) -> Vec<&'static str> {
        let of_host = TARGETS.iter().filter(|it| it.code == Code::Image && self.need_image());
        let of_cluster = self.has_cluster().then(|| Kind::Riscv.target());
        let of_others =
            self.kinds.iter().map(|it| it.target()).filter(|it| it.code == Code::Server);
        of_host.chain(of_cluster).chain(of_others).map(|it| it.name).collect()
    }

    /// Whether the simulated cluster is among them.
    pub(crate) fn has_cluster(&self) -> bool {
        self.kinds.iter().any(|it| it.target().code == Code::Cluster)
    }

    /// The languages that grids of threads among them want.
    pub(crate) fn grids(&self) -> Vec<emit::Grid> {
        let grid = |it: &Kind| match it.target().code {
            Code::Grids(grids) => grids,
            Code::Host | Code::Image | Code::Cluster | Code::Hardware | Code::Server => &[],
        };
        let mut found: Vec<emit::Grid> = Vec::new();
        for it in self.kinds.iter().flat_map(grid) {
            found.extend(Some(*it).filter(|it| !found.contains(it)));
        }
        found
    }

    /// The FPGA that simulated hardware is made for, if any is.
    pub(crate) fn hardware(&self) -> Option<&str> {
        let is_asked = self.kinds.contains(&Kind::Rtl);
        is_asked.then(|| self.board.as_deref().unwrap_or(hardware::BOARD))
    }

    /// Whether kernels must run on OpenCL devices of version 1.2.
    pub(crate) fn need_opencl_12(&self) -> bool {
        self.kinds.contains(&Kind::OpenCl12)
    }
}

/// A machine alone stands for the device of that name.
fn whole(part: &str) -> String {
    let name = part.split('*').next().unwrap_or_default().trim();
    let is_machine = READY.iter().any(|it| it.0 == name);
    if is_machine { format!("remote:{}", part.trim_start()) } else { part.to_owned() }
}

fn unknown(name: &str) -> String {
    let known: Vec<String> = TARGETS.iter().map(|it| format!("`{}`", it.name)).collect();
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
            assert_eq!((told.as_str(), gpus.oldest(70)), (runtime, oldest), "{text}");
            assert_eq!(gpus.architectures(70), architectures.iter().copied().collect(), "{text}");
        };
        check("cuda", "cuda", 70, &[70]);
        check("cpu,cuda*2", "cpu,cuda*2", 70, &[70]);
        check("cuda:sm_90", "cuda", 90, &[90]);
        check("cuda:sm_90,cpu,cuda:sm_80", "cuda,cpu", 80, &[80, 90]);
        check("cuda,cuda:sm_90", "cuda", 70, &[70, 90]);
        check("cuda:sm_90,cuda", "cuda", 70, &[70, 90]);
        check("cuda,cuda", "cuda,cuda", 70, &[70]);
        assert!(read("cuda:sm_90").gpus.is_named(90) && !read("cuda").gpus.is_named(70));
        // A compiler that has forgotten the oldest of them.
        assert_eq!((read("cuda").gpus.oldest(75), read("cuda:sm_70").gpus.oldest(75)), (75, 70));
        assert_eq!(read("cuda,cuda:sm_90").gpus.architectures(75), [75, 90].into());
    }

    #[test]
    fn a_cluster_is_named_for_the_compiler_only() {
        let check = |text: &str, runtime: &str, cluster: Option<&str>| {
            let targets = Targets::read(text).expect(text);
            assert_eq!((targets.text.as_str(), targets.cluster.as_deref()), (runtime, cluster));
            assert!(targets.has_cluster() && !targets.need_image(), "{text}");
        };
        check("riscv", "riscv", None);
        check("riscv:hero-paper", "riscv", Some("hero-paper"));
        check("cpu,riscv:my/c.toml*2", "cpu,riscv*2", Some("my/c.toml"));
        check("riscv:shared", "riscv:shared", None);
        assert!(Targets::read("riscv:a,riscv:b").is_err());
    }

    #[test]
    fn an_fpga_is_named_for_the_compiler_only() {
        let check = |text: &str, runtime: &str, board: Option<&str>| {
            let targets = Targets::read(text).expect(text);
            assert_eq!((targets.text.as_str(), targets.hardware()), (runtime, board));
        };
        check("fpga-rtl", "fpga-rtl", Some("ecp5"));
        check("cpu,fpga-rtl:arria-10*2", "cpu,fpga-rtl*2", Some("arria-10"));
        check("fpga-rtl:my.toml:mine", "fpga-rtl", Some("my.toml:mine"));
        check("fpga-intel", "fpga-intel", None);
        assert!(Targets::read("fpga-rtl:ecp5,fpga-rtl:arria-10").is_err());
    }

    #[test]
    fn other_machines_are_named_for_programs_too_and_files_are_not() {
        let check = |text: &str, runtime: &str, remotes: &[&str]| {
            let targets = Targets::read(text).expect(text);
            assert_eq!(
                (targets.text.as_str(), &*targets.remotes),
                (runtime, remotes.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>().as_slice())
            );
            assert!(targets.need_device_text() && !targets.need_image(), "{text}");
        };
        check("remote:aarch64", "remote:aarch64", &["aarch64"]);
        check(
            "cpu,remote:riscv64*2,remote:aarch64",
            "cpu,remote:riscv64*2,remote:aarch64",
            &["riscv64", "aarch64"],
        );
        check("remote:my/c.toml*4", "remote*4", &["my/c.toml"]);
        check("cpu, x86_64*2", "cpu,remote:x86_64*2", &["x86_64"]);
        for wrong in ["remote", "remote:", "remote:sparc", "remote:a.toml,remote:b.toml"] {
            assert!(Targets::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn gpus_of_amd_are_named_too() {
        let check = |text: &str, runtime: &str, architectures: &[&str]| {
            let Targets { amd, text: told, .. } = Targets::read(text).expect(text);
            assert_eq!(told, runtime, "{text}");
            assert!(amd.architectures().iter().eq(architectures), "{text}");
        };
        check("hip", "hip", &["gfx90a"]);
        check("hip:gfx942", "hip", &["gfx942"]);
        check("hip:gfx942,cpu,hip:gfx90a,cuda", "hip,cpu,cuda", &["gfx90a", "gfx942"]);
        check("hip,hip:gfx1100", "hip", &["gfx1100", "gfx90a"]);
        check("hip,hip", "hip,hip", &["gfx90a"]);
        check("hip*2", "hip*2", &["gfx90a"]);
        check("cuda", "cuda", &[]);
        for wrong in [
            "hip:",
            "hip:gfx",
            "hip:90a",
            "hip:gfx90A",
            "hip:gfx90a:x",
            "hip:gfx12345",
            "hip:gfx803",
        ] {
            assert!(Targets::read(wrong).is_err_and(|it| it.contains("hip:gfx90a")), "{wrong}");
        }
    }
}
