//! Who makes device code: one table of toolchains, each in a file of its own.
//!
//! A toolchain compiles the texts that lowering made of a file to device code, which travels in the file's object; and it
//! makes images of all device code of a program that is its own, when that is linked.

use std::ffi::OsString;
use std::path::Path;

use super::bundle::Code;
use super::compile::Job;
use super::image::{HostCompiler, Part};
use super::native::Linked;
use super::numbers::Numbers;
use super::{Context, Failure, cuda, hardware, hip, opencl, remote, riscv};

/// Every toolchain, in the order in which images of a program lie in it. Devices take the last that they can run.
pub(crate) const TOOLCHAINS: &[&dyn Toolchain] = &[
    &HostCompiler,
    &opencl::Driver,
    &cuda::Nvidia,
    &hip::Amd,
    &riscv::Cluster,
    &hardware::Designs,
    &remote::Others,
];

/// What lowering made of a file for devices.
pub(crate) struct Texts<'a> {
    /// C for devices that do not see the host's memory.
    pub(crate) device: Option<&'a [u8]>,
    /// The same for the cluster, where it differs.
    pub(crate) cluster: Option<&'a [u8]>,
    /// Texts for grids of threads.
    pub(crate) grids: &'a [(emit::Grid, Vec<u8>)],
    /// Designs of hardware.
    pub(crate) hardware: Option<&'a [u8]>,
}

impl Texts<'_> {
    /// The text in a language of grids, if that was asked for.
    pub(crate) fn grid(&self, grid: emit::Grid) -> Option<&[u8]> {
        self.grids.iter().find(|it| it.0 == grid).map(|it| it.1.as_slice())
    }
}

/// A program that is linked.
pub(crate) struct Program<'a> {
    /// Images of its shared libraries.
    pub(crate) images: &'a [Code],
    /// The user's folders and libraries that device code may use.
    pub(crate) flags: &'a [OsString],
    pub(crate) output: &'a Path,
    /// What LLVM has compiled of it.
    pub(crate) native: Option<&'a Linked>,
}

/// What makes device code of texts, and images of device code.
pub(crate) trait Toolchain: Sync {
    /// Compiles what is meant for it: device code for the file's object.
    fn compile(
        &self,
        cx: &Context<'_>,
        job: &Job<'_>,
        texts: &Texts<'_>,
        numbers: &Numbers,
    ) -> Result<Vec<Code>, Failure>;

    /// Whether it makes images of such device code.
    fn owns(&self, code: &Code) -> bool;

    /// Whether there is no device without an image: a program then has one without device code too.
    fn is_always_asked(&self, cx: &Context<'_>) -> bool {
        let _ = cx;
        false
    }

    /// The images of a program of its device code, which is not empty unless it is always asked.
    fn link(
        &self,
        cx: &Context<'_>,
        parts: Vec<Part>,
        program: &Program<'_>,
    ) -> Result<Vec<Code>, Failure>;
}

#[cfg(test)]
mod tests {
    use abi::image::ImageKind;

    use super::*;

    #[test]
    fn all_device_code_belongs_to_one_toolchain() {
        let code = |kind, triple: &str| {
            let (arch, bytes) = (String::new(), Vec::new());
            Code { kind, triple: triple.to_owned(), arch, bytes }
        };
        let own = [
            Code::of(Vec::new()),
            Code::of(abi::image::OPENCL.as_bytes().to_vec()),
            code(ImageKind::Ptx, cuda::TRIPLE),
            code(ImageKind::Cubin, cuda::TRIPLE),
            code(ImageKind::Object, hip::TRIPLE),
            code(ImageKind::Bitcode, hip::TRIPLE),
            code(ImageKind::Bitcode, cuda::TRIPLE),
            code(ImageKind::Bitcode, abi::cluster::TRIPLE),
            code(ImageKind::Object, remote::TRIPLE),
            code(ImageKind::Source, hardware::TRIPLE),
        ];
        for it in &own {
            assert_eq!(TOOLCHAINS.iter().filter(|that| that.owns(it)).count(), 1, "{it:?}");
        }
        for triple in [super::super::unread::TRIPLE, super::super::native::TRIPLE] {
            let note = code(ImageKind::Source, triple);
            assert!(!TOOLCHAINS.iter().any(|it| it.owns(&note)), "{triple}");
        }
    }
}
