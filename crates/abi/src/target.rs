//! The kinds of devices: one table for the compiler, the runtime and the tools.
//!
//! One more kind is one line in [`TARGETS`], a plugin in crate `device`, and what the exhaustive matches on [`Kind`] ask for.

use crate::requires;

/// A kind of device, as `--device` and `FERRY_DEVICE` know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The processor, sharing the host's memory.
    Cpu,
    /// The processor with copies of mapped data, in the same process.
    CpuCopy,
    /// The processor with memory of its own, in another process.
    CpuSeparate,
    /// What an OpenCL driver offers.
    OpenCl,
    /// The same, with nothing that came after version 1.2.
    OpenCl12,
    /// NVIDIA GPUs.
    Cuda,
    /// AMD's GPUs.
    Hip,
    /// The simulated cluster.
    Riscv,
    /// The same, whose cores reach the host's memory.
    RiscvShared,
    /// An FPGA, whose pipelines an OpenCL driver emulates.
    Fpga(Vendor),
    /// The same as hardware, which is simulated cycle by cycle.
    Rtl,
    /// Another machine, reached by messages, whose compiler makes its code.
    Remote(Remote),
}

/// Whose tools make an FPGA of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vendor {
    /// Intel's SDK for OpenCL.
    Intel,
    /// Vitis of AMD (Xilinx).
    Xilinx,
}

impl Vendor {
    /// The device that is meant where none is named, in the table of crate `fpga`.
    pub fn board(self) -> &'static str {
        match self {
            Vendor::Intel => "stratix-v",
            Vendor::Xilinx => "alveo-u250",
        }
    }
}

/// Which other machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remote {
    /// 64-bit ARM.
    Aarch64,
    /// 64-bit POWER, little-endian.
    Ppc64le,
    /// 64-bit RISC-V.
    Riscv64,
    /// NEC's vector engine.
    Ve,
    /// 64-bit x86.
    X86_64,
    /// What a file of the user's describes.
    Described,
}

/// The languages of grids of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// OpenCL C 2.0: a pointer leads to memory of any kind.
    OpenCl,
    /// OpenCL C 1.2: all pointers lead to the memory of the device, a text has no variables, and what threads
    /// have is passed from function to function.
    OpenCl12,
    /// CUDA C++, which is a C++ without the extensions of other compilers.
    Cuda,
    /// HIP, which is the same C++ for AMD's GPUs.
    Hip,
    /// OpenCL C 1.2 with the words of an FPGA's vendor; its kernels are pipelines that one work-item runs.
    Fpga(Vendor),
}

/// What the kernels of a device are compiled to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Part of the host's object.
    Host,
    /// An image that the host's compiler makes.
    Image,
    /// Texts for grids of threads, in these languages; what becomes of them is the toolchain's.
    Grids(&'static [Grid]),
    /// A program for the cluster.
    Cluster,
    /// Designs of hardware.
    Hardware,
    /// A program of another machine, which serves messages.
    Server,
}

/// What is known of a kind of device before there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Which it is.
    pub kind: Kind,
    /// As the user writes it.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// What its kernels are.
    pub code: Code,
    /// What programs may require of devices and this kind cannot give: bits of [`crate::requires`].
    pub lacks: u32,
    /// Host addresses are device addresses.
    pub shares_host_memory: bool,
    /// What it is to directives that choose by kind: a processor, a GPU, an FPGA, or none of them.
    pub is: Is,
    /// Names of its instruction set in such directives; none where that is the host's.
    pub arch: &'static [&'static str],
}

/// What directives that choose by kind of device take it for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    /// `cpu`
    Processor,
    /// `gpu`
    Gpu,
    /// `fpga`
    Fpga,
    /// Neither.
    Other,
}

const APART: u32 = requires::UNIFIED_SHARED_MEMORY | requires::REVERSE_OFFLOAD;
const OPENCL: Code = Code::Grids(&[Grid::OpenCl, Grid::OpenCl12]);
const CLUSTER: &[&str] = &["riscv32", "riscv"];

/// The processor, sharing memory: it lacks nothing and stands in for others.
const CPU: Target = Target {
    kind: Kind::Cpu,
    name: "cpu",
    about: "the host's processor and memory: nothing is copied",
    code: Code::Host,
    lacks: 0,
    shares_host_memory: true,
    is: Is::Processor,
    arch: &[],
};

/// An FPGA.
const FPGA: Target = Target {
    kind: Kind::Fpga(Vendor::Intel),
    name: "fpga-intel",
    about: "pipelines for an FPGA of Intel's, emulated by an OpenCL driver",
    code: Code::Grids(&[Grid::Fpga(Vendor::Intel)]),
    lacks: APART,
    shares_host_memory: false,
    is: Is::Fpga,
    arch: &["fpga"],
};

/// Another machine.
const REMOTE: Target = Target {
    kind: Kind::Remote(Remote::Described),
    name: "remote",
    about: "the machine that `--device remote:FILE.toml` describes, in a process of its own",
    code: Code::Server,
    lacks: requires::UNIFIED_SHARED_MEMORY,
    shares_host_memory: false,
    is: Is::Processor,
    arch: &["remote"],
};

/// Every kind of device there is.
pub const TARGETS: [Target; 18] = [
    CPU,
    Target {
        kind: Kind::CpuCopy,
        name: "cpu:copy",
        about: "the host's processor with copies of mapped data in the same process",
        code: Code::Image,
        lacks: requires::REVERSE_OFFLOAD,
        shares_host_memory: false,
        ..CPU
    },
    Target {
        kind: Kind::CpuSeparate,
        name: "cpu:separate",
        about: "the host's processor with memory and a process of its own",
        code: Code::Image,
        lacks: requires::UNIFIED_SHARED_MEMORY,
        shares_host_memory: false,
        ..CPU
    },
    Target {
        kind: Kind::OpenCl,
        name: "opencl",
        about: "a device of an OpenCL driver",
        code: OPENCL,
        lacks: APART,
        shares_host_memory: false,
        ..CPU
    },
    Target {
        kind: Kind::OpenCl12,
        name: "opencl:1.2",
        about: "the same, with nothing that came after version 1.2",
        code: OPENCL,
        lacks: APART,
        shares_host_memory: false,
        ..CPU
    },
    Target {
        kind: Kind::Cuda,
        name: "cuda",
        about: "an NVIDIA GPU",
        code: Code::Grids(&[Grid::Cuda]),
        lacks: requires::UNIFIED_SHARED_MEMORY,
        shares_host_memory: false,
        is: Is::Gpu,
        arch: &["nvptx64", "nvptx"],
    },
    Target {
        kind: Kind::Hip,
        name: "hip",
        about: "a GPU of AMD",
        code: Code::Grids(&[Grid::Hip]),
        lacks: APART,
        shares_host_memory: false,
        is: Is::Gpu,
        arch: &["amdgcn", "gcn"],
    },
    Target {
        kind: Kind::Riscv,
        name: "riscv",
        about: "a simulated cluster of 32-bit RISC-V cores",
        code: Code::Cluster,
        lacks: requires::UNIFIED_SHARED_MEMORY,
        shares_host_memory: false,
        is: Is::Other,
        arch: CLUSTER,
    },
    Target {
        kind: Kind::RiscvShared,
        name: "riscv:shared",
        about: "the same, whose cores reach the host's memory: nothing is copied",
        code: Code::Cluster,
        lacks: 0,
        shares_host_memory: true,
        is: Is::Other,
        arch: CLUSTER,
    },
    FPGA,
    Target {
        kind: Kind::Fpga(Vendor::Xilinx),
        name: "fpga-xilinx",
        about: "pipelines for an FPGA of AMD's (Xilinx), emulated by an OpenCL driver",
        code: Code::Grids(&[Grid::Fpga(Vendor::Xilinx)]),
        ..FPGA
    },
    Target {
        kind: Kind::Rtl,
        name: "fpga-rtl",
        about: "pipelines as hardware, simulated cycle by cycle in the process",
        code: Code::Hardware,
        ..FPGA
    },
    Target {
        kind: Kind::Remote(Remote::Aarch64),
        name: "remote:aarch64",
        about: "a 64-bit ARM processor, emulated by qemu",
        arch: &["aarch64", "arm64"],
        ..REMOTE
    },
    Target {
        kind: Kind::Remote(Remote::Ppc64le),
        name: "remote:ppc64le",
        about: "a 64-bit POWER processor, emulated by qemu",
        arch: &["ppc64le", "powerpc64le", "ppc64", "ppc"],
        ..REMOTE
    },
    Target {
        kind: Kind::Remote(Remote::Riscv64),
        name: "remote:riscv64",
        about: "a 64-bit RISC-V processor, emulated by qemu",
        arch: &["riscv64", "riscv"],
        ..REMOTE
    },
    Target {
        kind: Kind::Remote(Remote::Ve),
        name: "remote:ve",
        about: "NEC's vector engine (never tried)",
        is: Is::Other,
        arch: &["ve"],
        ..REMOTE
    },
    Target {
        kind: Kind::Remote(Remote::X86_64),
        name: "remote:x86_64",
        about: "a 64-bit x86 processor, for programs that start on other machines beside it",
        arch: &["x86_64"],
        ..REMOTE
    },
    REMOTE,
];

impl Kind {
    /// Its line in the table.
    pub fn target(self) -> &'static Target {
        TARGETS.iter().find(|it| it.kind == self).unwrap_or(&CPU)
    }
}

impl Target {
    /// The toolchain of another machine: `aarch64` of `remote:aarch64`.
    pub fn toolchain(&self) -> Option<&'static str> {
        self.name.strip_prefix("remote:")
    }
}

/// The kind that users call so.
pub fn named(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|it| it.name == name)
}

impl Grid {
    /// The kind of device that has it, as users write it.
    pub fn device(self) -> &'static str {
        let has = |it: &&Target| matches!(it.code, Code::Grids(grids) if grids.contains(&self));
        TARGETS.iter().find(has).map_or("", |it| it.name)
    }

    /// As users write it.
    pub fn name(self) -> &'static str {
        match self {
            Grid::OpenCl12 => Kind::OpenCl12.target().name,
            Grid::OpenCl | Grid::Cuda | Grid::Hip | Grid::Fpga(_) => self.device(),
        }
    }

    /// The vendor of the FPGA that it is for.
    pub fn vendor(self) -> Option<Vendor> {
        match self {
            Grid::Fpga(vendor) => Some(vendor),
            Grid::OpenCl | Grid::OpenCl12 | Grid::Cuda | Grid::Hip => None,
        }
    }

    /// Whether it is C++.
    pub fn is_cpp(self) -> bool {
        match self {
            Grid::OpenCl | Grid::OpenCl12 | Grid::Fpga(_) => false,
            Grid::Cuda | Grid::Hip => true,
        }
    }

    /// Whether it is OpenCL C.
    pub fn is_opencl(self) -> bool {
        !self.is_cpp()
    }

    /// Whether types say what kind of memory a pointer leads to: all to that of the device.
    pub fn names_memory(self) -> bool {
        match self {
            Grid::OpenCl12 | Grid::Fpga(_) => true,
            Grid::OpenCl | Grid::Cuda | Grid::Hip => false,
        }
    }

    /// The word before what a pointer leads to, where types say that.
    pub fn memory(self) -> &'static str {
        if self.names_memory() { "__global " } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_line_and_every_grid_a_device() {
        for it in &TARGETS {
            assert_eq!(it.kind.target(), it);
            assert_eq!(named(it.name), Some(it));
        }
        let grids = [Grid::OpenCl, Grid::OpenCl12, Grid::Cuda, Grid::Hip];
        assert_eq!(grids.map(Grid::device), ["opencl", "opencl", "cuda", "hip"]);
        assert_eq!(grids.map(Grid::name), ["opencl", "opencl:1.2", "cuda", "hip"]);
        let fpgas = TARGETS.iter().filter(|it| matches!(it.kind, Kind::Fpga(_)));
        for it in fpgas {
            let Code::Grids([grid]) = it.code else { unreachable!("{it:?}") };
            assert_eq!((grid.name(), grid.vendor().map(Kind::Fpga)), (it.name, Some(it.kind)));
        }
    }
}
