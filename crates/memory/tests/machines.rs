//! Machines of several memories, each described in a file: lines `path = content` of the kernel's folder.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use std::fs;
use std::path::Path;

use memory::kinds::{Kind, Place};
use memory::topology::Machine;

fn machine(name: &str) -> Machine {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines").join(name);
    let root = tempfile::tempdir().unwrap();
    for line in fs::read_to_string(file.with_extension("txt")).unwrap().lines() {
        let Some((path, content)) = line.split_once(" =") else {
            assert!(line.starts_with('#'), "{line}");
            continue;
        };
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{}\n", content.trim())).unwrap();
    }
    Machine::read(root.path())
}

/// The nodes of a kind, and whether the machine has other memory.
#[track_caller]
fn check(name: &str, kind: Kind, nodes: &[usize], is_distinct: bool) {
    let found = machine(name).serves(kind);
    assert_eq!(
        (found.nodes.as_slice(), found.is_distinct),
        (nodes, is_distinct),
        "{name} {kind:?}"
    );
}

#[test]
fn firmware_tells_which_memory_is_fast() {
    check("xeon-max-flat", Kind::HighBandwidth, &[2, 3], true);
    check("xeon-max-flat", Kind::LargeCapacity, &[0, 1], true);
    check("xeon-max-flat", Kind::LowLatency, &[0, 1], true);
    check("xeon-max-flat", Kind::Default, &[0, 1], true);
}

#[test]
fn memory_that_is_a_cache_is_no_memory_to_place_data_in() {
    check("xeon-max-cache", Kind::HighBandwidth, &[0, 1], false);
    assert_eq!(machine("xeon-max-cache").nodes[1].cache, 64 << 30);
}

#[test]
fn a_model_with_memory_in_its_package_is_known() {
    check("knights-landing", Kind::HighBandwidth, &[1], true);
    check("knights-landing", Kind::LargeCapacity, &[0], true);
}

#[test]
fn a_slower_tier_is_large_and_not_fast() {
    check("dram-optane", Kind::HighBandwidth, &[0, 1], true);
    check("dram-optane", Kind::LargeCapacity, &[2, 3], true);
    check("dram-optane", Kind::LowLatency, &[0, 1], true);
}

#[test]
fn what_nobody_tells_is_not_guessed() {
    check("grace-hopper", Kind::HighBandwidth, &[0, 1], false);
    check("grace-hopper", Kind::Default, &[0], true);
    assert_eq!(machine("grace-hopper").huge_pages, [2 << 20, 512 << 20, 16 << 30]);
}

#[test]
fn memory_that_is_all_alike_serves_every_kind() {
    for kind in memory::kinds::KINDS {
        check("mi300a", kind, &[0, 1, 2, 3], false);
        assert_eq!(machine("mi300a").place(kind), Place::default());
    }
}

#[test]
fn the_nearest_memory_comes_first() {
    let max = machine("xeon-max-flat");
    assert_eq!(max.nearest(0), [0, 2, 1, 3]);
    assert_eq!(max.nearest(3), [3, 1, 0, 2]);
    assert_eq!(machine("grace-hopper").nearest(0), [0, 1]);
    assert_eq!(max.nodes[2].huge_pages, [(2 << 20, 512, 500)]);
}

#[test]
fn a_machine_is_drawn_with_all_that_is_known() {
    let text = machine("xeon-max-flat").draw();
    let rows: Vec<Vec<&str>> = text.lines().map(|it| it.split_whitespace().collect()).collect();
    assert_eq!(rows[3][..3], ["2", "0", "64.0"], "{text}");
    assert_eq!(rows[3][rows[3].len() - 4..], ["13", "23", "10", "23"], "{text}");
    assert!(rows[3].contains(&"819") && rows[3].contains(&"130"), "{text}");
    assert!(
        text.contains("huge pages: 2 MiB (500 of 512 free), 1.0 GiB (0 of 0 free), made by"),
        "{text}"
    );
    assert!(machine("mi300a").draw().contains("huge pages: none"));
}
