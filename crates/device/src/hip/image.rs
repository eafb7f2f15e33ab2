//! Images: code objects, each for one kind of GPU.

use abi::image::Payload;

use crate::gpu::parts;

/// AMD's number among the machines of ELF files.
const MACHINE: u16 = 224;

/// What stands before the name of the GPU in the notes of a code object.
const TARGET: &[u8] = b"amdgcn-amd-amdhsa--";

/// Whether a GPU, `gfx90a:sramecc+:xnack-`, runs all of an image.
pub(super) fn runs_on(image: &[u8], gpu: &str) -> bool {
    parts::of(image).iter().all(|part| target(part).is_some_and(|it| suits(&it, gpu)))
}

/// What a code object is for: `gfx90a`, or `gfx90a:xnack+` if it insists on a setting.
fn target(bytes: &[u8]) -> Option<String> {
    if Payload::of(bytes) != (Payload::Elf { machine: MACHINE }) {
        return None;
    }
    let at = bytes.windows(TARGET.len()).position(|it| it == TARGET)?;
    let rest = bytes.get(at + TARGET.len()..)?;
    let is_part = |it: &u8| it.is_ascii_lowercase() || it.is_ascii_digit() || b":+-".contains(it);
    let name: Vec<u8> = rest.iter().copied().take_while(is_part).collect();
    Some(String::from_utf8_lossy(&name).into_owned())
}

/// The same GPU, with every setting that the code insists on.
fn suits(code: &str, gpu: &str) -> bool {
    let mut wanted = code.split(':');
    let mut has = gpu.split(':');
    wanted.next() == has.next() && wanted.all(|it| has.clone().any(|that| that == it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use abi::image::{Container, ImageKind};

    /// The head of a code object, and a part of its notes.
    fn code(machine: u8, target: &str) -> Vec<u8> {
        let mut bytes = b"\x7fELF\x02\x01\x01\x40\x03".to_vec();
        bytes.resize(16, 0);
        bytes.extend([3, 0, machine, 0]);
        bytes.resize(64, 0);
        bytes.extend(b"amdhsa.target\xb9amdgcn-amd-amdhsa--");
        bytes.extend(target.as_bytes());
        bytes.extend(b"\xaeamdhsa.version");
        bytes
    }

    #[test]
    fn code_is_for_one_kind_of_gpu() {
        let gpu = "gfx90a:sramecc+:xnack-";
        for (target, runs) in [
            ("gfx90a", true),
            ("gfx90a:xnack-", true),
            ("gfx90a:xnack+", false),
            ("gfx942", false),
            ("gfx90", false),
        ] {
            assert_eq!(runs_on(&code(224, target), gpu), runs, "{target}");
        }
        assert!(runs_on(&code(224, "gfx1100"), "gfx1100"));
        assert!(!runs_on(&code(62, "gfx90a"), gpu), "code of the host");
        assert!(!runs_on(b"", gpu) && !runs_on(b"\x7fELF\x02\x01", gpu));
    }

    #[test]
    fn all_parts_must_run() {
        let contained = |target: &str| {
            let triple = "amdgcn-amd-amdhsa";
            let payload = &code(224, target);
            Container { kind: ImageKind::Object, triple, arch: target, payload }.write()
        };
        let (one, other) = (contained("gfx90a"), contained("gfx942"));
        assert!(runs_on(&[one.clone(), one.clone()].concat(), "gfx90a"));
        assert!(!runs_on(&[one, other].concat(), "gfx90a"));
    }
}
