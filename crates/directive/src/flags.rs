//! Flags of other compilers that builds carry, and what they mean to ours.

/// What a flag of another compiler means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Devices, as ours are called: `cuda`, `hip:gfx90a`. None: the processor alone.
    Devices(Vec<String>),
    /// The version of the standard that a program is written for, as its macro has it.
    Version(&'static str),
    /// Regions run on devices, or the program ends.
    Mandatory,
    /// What the host compiler calls it.
    Host(&'static str),
    /// The next word is for the compiler of devices.
    ForDevices,
    /// Nothing; the word behind it, if it takes one, goes with it.
    Nothing {
        /// Whether it takes one.
        takes_word: bool,
    },
}

/// What a flag means that gcc does not know; none where it is not one of them.
pub fn foreign(flag: &str) -> Option<Meaning> {
    let (name, value) =
        flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
    if let Some(meaning) = about_devices(name, value) {
        return Some(meaning);
    }
    if let ("-fopenmp-version", Some(value)) = (name, value) {
        let known = VERSIONS.iter().find(|it| it.0 == value);
        return Some(
            known.map_or(Meaning::Nothing { takes_word: false }, |it| Meaning::Version(it.1)),
        );
    }
    Some(match flag {
        "-fopenmp-offload-mandatory" => Meaning::Mandatory,
        "-fast" => Meaning::Host("-O3"),
        "-xHost" | "-tp=native" | "-tp=host" => Meaning::Host("-march=native"),
        "-tp" => Meaning::Nothing { takes_word: true },
        _ if is_without_meaning(flag) => Meaning::Nothing { takes_word: false },
        _ => return None,
    })
}

/// What the word behind such a flag says of devices.
pub fn for_devices(word: &str) -> Option<Meaning> {
    let arch = ["-march=", "-mcpu=", "--offload-arch=", "-misa="]
        .iter()
        .find_map(|it| word.strip_prefix(it))?;
    gpu(arch).map(|it| Meaning::Devices(vec![it]))
}

/// Versions of OpenMP by the number that clang has for them.
const VERSIONS: &[(&str, &str)] = &[
    ("31", "201107"),
    ("40", "201307"),
    ("45", "201511"),
    ("50", "201811"),
    ("51", "202011"),
    ("52", "202111"),
];

fn about_devices(name: &str, value: Option<&str>) -> Option<Meaning> {
    let nothing = Meaning::Nothing { takes_word: false };
    let devices = |list: Vec<String>| Meaning::Devices(list);
    let named = |value: &str, find: fn(&str) -> Option<String>| -> Vec<String> {
        value.split(',').filter_map(find).collect()
    };
    Some(match (name, value) {
        ("-Xopenmp-target" | "-Xarch_device", _) => Meaning::ForDevices,
        ("-fopenmp-targets", Some(value)) => {
            let found = named(value, triple);
            if found.is_empty() && !value.split(',').all(is_host) {
                nothing
            } else {
                devices(found)
            }
        }
        ("--offload-arch" | "--cuda-gpu-arch", Some(value)) => {
            let found = named(value, gpu);
            if found.is_empty() { nothing } else { devices(found) }
        }
        ("-foffload", Some("disable")) | ("-fno-offload", None) => devices(Vec::new()),
        ("-foffload", Some(value)) => {
            // What stands behind a second sign are flags for that compiler.
            let found = named(value.split('=').next().unwrap_or_default(), triple);
            if found.is_empty() { nothing } else { devices(found) }
        }
        ("-foffload-options" | "-foffload" | "-fopenacc-dim", _) => nothing,
        ("-gpu" | "-ta", Some(value)) => {
            let words = || value.split([',', ':']);
            let found: Vec<String> = words()
                .filter_map(|it| it.strip_prefix("cc"))
                .filter_map(|it| gpu(&format!("sm_{it}")))
                .collect();
            let is_gpu = words().any(|it| matches!(it, "tesla" | "nvidia"));
            let is_host = words().any(|it| matches!(it, "multicore" | "host"));
            match (found.is_empty(), is_gpu) {
                (false, _) => devices(found),
                (true, true) => devices(vec!["cuda".to_owned()]),
                (true, false) if is_host => devices(Vec::new()),
                (true, false) => nothing,
            }
        }
        ("-qoffload", None) => devices(vec!["cuda".to_owned()]),
        _ => return None,
    })
}

/// What the value of a flag that switches a standard on says of devices: `-mp=gpu`, `-acc=multicore`.
pub fn switched_devices(flag: &str) -> Option<Meaning> {
    let (name, value) = flag.split_once('=')?;
    match (name, value.split(',').next()?) {
        ("-mp" | "-acc", "gpu") => Some(Meaning::Devices(vec!["cuda".to_owned()])),
        ("-mp" | "-acc", "multicore" | "host") => Some(Meaning::Devices(Vec::new())),
        _ => None,
    }
}

/// The device behind a triple of LLVM's or gcc's.
fn triple(text: &str) -> Option<String> {
    let machine = text.split('-').next().unwrap_or_default();
    let name = match machine {
        "nvptx64" | "nvptx" => "cuda",
        "amdgcn" => "hip",
        "spir64" | "spirv64" | "spir64_gen" | "spir64_x86_64" => "opencl",
        _ => return None,
    };
    Some(name.to_owned())
}

fn is_host(text: &str) -> bool {
    ["x86_64", "aarch64", "powerpc64le", "ppc64le", "riscv64"].iter().any(|it| text.starts_with(it))
}

/// The device behind the name of a GPU: `sm_80`, `gfx90a:xnack+`.
fn gpu(name: &str) -> Option<String> {
    let name = name.split(':').next().unwrap_or_default();
    if let Some(number) = name.strip_prefix("sm_") {
        let number: String = number.chars().take_while(char::is_ascii_digit).collect();
        return Some(format!("cuda:sm_{number}"));
    }
    name.starts_with("gfx").then(|| format!("hip:{name}"))
}

/// Flags about what only another compiler has: its reports, its ways to optimise, where its parts lie.
fn is_without_meaning(flag: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "-fopenmp-",
        "-fno-openmp-",
        "-tp=",
        "-Rpass",
        "--cuda-path=",
        "--cuda-path-ignore-env",
        "--no-cuda-version-check",
        "--cuda-host-only",
        "--rocm-path=",
        "--rocm-device-lib-path=",
        "--hip-path=",
        "--libomptarget-",
        "--offload-",
        "-foffload-lto",
        "-fno-offload-lto",
        "-xCORE-",
        "-cudalib",
        "-cuda",
    ];
    // `-fopenmp-simd` is gcc's own. Its options about dependences have capital letters behind `-M`.
    let is_gnu = matches!(flag, "-fopenmp-simd" | "-fno-openmp-simd");
    let follows = |beginning: &str| {
        flag.strip_prefix(beginning)
            .is_some_and(|it| it.starts_with(|it: char| it.is_ascii_lowercase()))
    };
    !is_gnu && (BEGINNINGS.iter().any(|it| flag.starts_with(it)) || follows("-M") || follows("-q"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices(names: &[&str]) -> Option<Meaning> {
        Some(Meaning::Devices(names.iter().map(|it| (*it).to_owned()).collect()))
    }

    #[test]
    fn flags_that_name_devices_name_ours() {
        let check =
            |flag: &str, names: &[&str]| assert_eq!(foreign(flag), devices(names), "{flag}");
        check("-fopenmp-targets=nvptx64-nvidia-cuda", &["cuda"]);
        check("-fopenmp-targets=nvptx64,amdgcn-amd-amdhsa", &["cuda", "hip"]);
        check("-fopenmp-targets=spir64", &["opencl"]);
        check("-fopenmp-targets=x86_64-pc-linux-gnu", &[]);
        check("--offload-arch=gfx90a:xnack+,sm_90a", &["hip:gfx90a", "cuda:sm_90"]);
        check("--cuda-gpu-arch=sm_70", &["cuda:sm_70"]);
        check("-foffload=nvptx-none=-misa=sm_80", &["cuda"]);
        check("-foffload=disable", &[]);
        check("-gpu=cc80,cc90,managed", &["cuda:sm_80", "cuda:sm_90"]);
        check("-ta=tesla:cc70", &["cuda:sm_70"]);
        check("-ta=tesla", &["cuda"]);
        check("-ta=multicore", &[]);
        check("-qoffload", &["cuda"]);
        assert_eq!(switched_devices("-mp=gpu"), devices(&["cuda"]));
        assert_eq!(switched_devices("-acc=multicore"), devices(&[]));
        assert_eq!(switched_devices("-fopenmp=libomp"), None);
        assert_eq!(foreign("-Xopenmp-target=nvptx64"), Some(Meaning::ForDevices));
        assert_eq!(for_devices("-march=sm_80"), devices(&["cuda:sm_80"]));
        assert_eq!(for_devices("-march=gfx908"), devices(&["hip:gfx908"]));
        assert_eq!(for_devices("-O3"), None);
    }

    #[test]
    fn flags_of_other_compilers_are_told_from_gccs() {
        let nothing = |flag: &str| matches!(foreign(flag), Some(Meaning::Nothing { .. }));
        for flag in [
            "-Minfo=mp",
            "-Minfo",
            "-Mfma",
            "-tp=zen3",
            "-tp",
            "-fopenmp-cuda-mode",
            "-gpu=managed",
            "-qreport",
            "-fopenmp-assume-no-thread-state",
            "--cuda-path=/opt/cuda",
            "-foffload-options=-lm",
            "-foffload=-lm",
            "--offload-arch=native",
            "-fopenmp-version=99",
            "-Rpass=openmp-opt",
            "-fopenmp-targets=ve",
        ] {
            assert!(nothing(flag), "{flag}");
        }
        for flag in [
            "-MD",
            "-MF",
            "-MFa.d",
            "-MMD",
            "-M",
            "-MQx",
            "-fopenmp-simd",
            "-fopenmp",
            "-march=native",
            "-O3",
            "-xc",
            "-fopt-info",
            "-pg",
            "-g",
            "-mtune=native",
            "-include",
            "--param=x",
            "-Q",
        ] {
            assert_eq!(foreign(flag), None, "{flag}");
        }
        assert_eq!(foreign("-fast"), Some(Meaning::Host("-O3")));
        assert_eq!(foreign("-fopenmp-version=45"), Some(Meaning::Version("201511")));
        assert_eq!(foreign("-fopenmp-offload-mandatory"), Some(Meaning::Mandatory));
    }
}
