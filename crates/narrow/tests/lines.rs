//! Lines of the source in programs and messages; programs of several files; the same result at every level.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod common;

use common::{Model, OnHost, config, folder, intermediate, link, run, same, tools_are_here};
use narrow::{Hardware, Options};
use sim::{Cluster, NoMemory};

/// Intermediate code of texts, a file each.
#[track_caller]
fn files(texts: &[(&str, &str)], flags: &[&str]) -> Vec<(String, Vec<u8>)> {
    let work = tempfile::tempdir().unwrap();
    let mut inputs = Vec::new();
    for (name, text) in texts {
        let file = work.path().join(name);
        std::fs::write(&file, text).unwrap();
        inputs.push(intermediate(&file, Model::Host, flags));
    }
    inputs.push(intermediate(&folder("device").join("runtime.c"), Model::Host, flags));
    inputs
}

#[test]
fn a_fault_is_told_with_its_line() {
    if !tools_are_here() {
        return;
    }
    let text = "#include \"device.h\"\nvoid __ferry_k_a(void *const *slots) {\n    int *p = slots[0];\n\n    p[1] = 7;\n}\n";
    for level in 0..=3 {
        let options = Options { level, hardware: Hardware::Csr, ..Options::default() };
        let (object, _) = narrow::compile(&files(&[("fault.c", text)], &["-g"]), &options).unwrap();
        let mut cluster = Cluster::new(&config(Hardware::Csr));
        cluster.load(&link(&object, "__ferry_k_a")).unwrap();
        let slots = cluster.symbol("slots").unwrap();
        assert!(cluster.write(slots, &0x7_0000_0000_u64.to_le_bytes()));
        let fault = cluster.run(&mut NoMemory, Some(100_000)).unwrap_err();
        let place = fault.place.unwrap_or_else(|| panic!("-O{level}: no line"));
        assert!(place.file.ends_with("fault.c") && place.line == 5, "-O{level}: {place:?}");
    }
}

#[test]
fn files_are_one_program_at_every_level() {
    if !tools_are_here() {
        return;
    }
    let one = "#include \"device.h\"\nint sum(const int *p, int n); extern int *kept; void keep(int *p);\n\
               void __ferry_k_a(void *const *slots) {\n  int near[8]; int *out = slots[1];\n\
               for (int i = 0; i < 8; i++) near[i] = i * i;\n  out[0] = sum(near, 8); out[1] = sum(slots[0], 8);\n\
               keep(slots[0]); out[2] = kept[3]; keep(0); }\n";
    let two = "#include \"device.h\"\nint *kept;\nvoid keep(int *p) { kept = p; }\n\
               int sum(const int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }\n\
               #ifdef HOST\nvoid prepare(void *const *slots) { for (int i = 0; i < 8; i++) ((int *)slots[0])[i] = i + 90; }\n#endif\n";
    let work = tempfile::tempdir().unwrap();
    let both = work.path().join("both.c");
    std::fs::write(&both, format!("{two}\n{one}")).unwrap();
    let [before, after] = OnHost::new(&both, &[]).run("__ferry_k_a");
    for flags in [&[][..], &["-g"], &["-O0", "-g"], &["-fno-inline"]] {
        let inputs = files(&[("one.c", one), ("two.c", two)], flags);
        for level in 0..=3 {
            let options = Options { level, hardware: Hardware::Isa, ..Options::default() };
            let (object, _) = narrow::compile(&inputs, &options).unwrap();
            let ran = run(&object, "__ferry_k_a", Hardware::Isa, &before);
            same(&ran.buffers, &after, &format!("{flags:?}, -O{level}"));
        }
    }
}

#[test]
fn the_same_input_gives_the_same_output() {
    if !tools_are_here() {
        return;
    }
    let inputs = common::inputs(&folder("programs").join("lists.c"), Model::Host, &[]);
    let [first, second] =
        [(); 2].map(|()| narrow::compile(&inputs, &Options::default()).unwrap().0);
    assert!(first == second, "the outputs differ");
}
