//! Where memory lies: asked of the kernel, page by page, and never taken from what was wished for.
//!
//! Nodes are what `move_pages` answers, page sizes, locks and files what `/proc/self/smaps` tells. A page that nobody has
//! touched is nowhere yet.

use std::fmt;
use std::fs;
use std::io;

use crate::os;
use crate::topology::Machine;

/// Where a range lies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whereabouts {
    /// Ordinary pages that the range touches.
    pub pages: usize,
    /// Of these, pages on each node, by its number.
    pub nodes: Vec<(usize, usize)>,
    /// Bytes of the pages that the kernel uses for the mapping.
    pub page_size: usize,
    /// Bytes of the mapping that lie on pages which the kernel has made huge.
    pub huge: usize,
    /// Whether the pages are locked by the kernel.
    pub is_locked: bool,
    /// The file that is mapped.
    pub file: Option<String>,
}

impl Whereabouts {
    /// Pages that have come.
    pub fn present(&self) -> usize {
        self.nodes.iter().map(|it| it.1).sum()
    }

    /// The node of most pages; `None` if none has come.
    pub fn node(&self) -> Option<usize> {
        self.nodes.iter().max_by_key(|it| it.1).map(|it| it.0)
    }

    /// For people, with what the machine tells of the nodes.
    pub fn describe(&self, machine: &Machine) -> String {
        let mut text = match self.nodes.as_slice() {
            [] => "no page has come yet".to_owned(),
            nodes => {
                let nodes: Vec<String> = nodes
                    .iter()
                    .map(|(node, pages)| {
                        let tier = machine.node(*node).and_then(|it| it.tier);
                        let tier = tier.map(|it| format!(" (tier {it})")).unwrap_or_default();
                        format!("node {node}{tier}: {pages}")
                    })
                    .collect();
                format!("{} of {} pages", nodes.join(", "), self.pages)
            }
        };
        text.push_str(&format!(", {} KiB each", self.page_size / 1024));
        if self.huge > 0 {
            text.push_str(&format!(" ({} KiB of the mapping on huge ones)", self.huge / 1024));
        }
        if self.is_locked {
            text.push_str(", locked");
        }
        if let Some(file) = &self.file {
            text.push_str(&format!(", file {file}"));
        }
        text
    }
}

impl fmt::Display for Whereabouts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(&Machine::default()))
    }
}

/// Pages of one question.
const STEP: usize = 4096;

/// Asks where a range lies.
pub fn of(at: usize, bytes: usize) -> io::Result<Whereabouts> {
    let page = os::page_size();
    let first = at & !(page - 1);
    let end = at.checked_add(bytes.max(1)).ok_or(io::ErrorKind::InvalidInput)?;
    let pages = (end - first).div_ceil(page);
    let mut found = Whereabouts { pages, page_size: page, ..Whereabouts::default() };
    for from in (0..pages).step_by(STEP) {
        let offsets: Vec<usize> = (from..pages.min(from + STEP)).map(|it| it * page).collect();
        for node in os::nodes_of(first, &offsets)?.into_iter().flatten() {
            match found.nodes.iter_mut().find(|it| it.0 == node) {
                Some(it) => it.1 += 1,
                None => found.nodes.push((node, 1)),
            }
        }
    }
    found.nodes.sort_unstable();
    if let Ok(text) = fs::read_to_string("/proc/self/smaps") {
        mapping(&text, at, &mut found);
    }
    Ok(found)
}

/// `7f0000000000-7f0000001000 rw-p 00000000 fe:00 42   /path`
fn bounds(line: &str) -> Option<(usize, usize, &str)> {
    let (range, rest) = line.split_once(' ')?;
    let (begin, end) = range.split_once('-')?;
    let bounds = |it: &str| usize::from_str_radix(it, 16).ok();
    let file = rest.splitn(5, ' ').nth(4).map_or("", str::trim);
    Some((bounds(begin)?, bounds(end)?, file))
}

/// What the kernel tells of the mapping that an address is in.
fn mapping(smaps: &str, at: usize, found: &mut Whereabouts) {
    let mut is_ours = false;
    for line in smaps.lines() {
        if let Some((begin, end, file)) = bounds(line) {
            if is_ours {
                return;
            }
            is_ours = (begin..end).contains(&at);
            if is_ours && file.starts_with('/') && !file.ends_with("(deleted)") {
                found.file = Some(file.to_owned());
            }
            continue;
        }
        let Some((name, value)) = line.split_once(':').filter(|_| is_ours) else { continue };
        let kib = || value.split_whitespace().next().and_then(|it| it.parse::<usize>().ok());
        match name {
            "KernelPageSize" => found.page_size = kib().map_or(found.page_size, |it| it * 1024),
            "AnonHugePages" | "ShmemPmdMapped" | "FilePmdMapped" => {
                found.huge += kib().unwrap_or(0) * 1024;
            }
            "VmFlags" => found.is_locked = value.split_whitespace().any(|it| it == "lo"),
            _ => {}
        }
    }
}

#[cfg(test)]
#[allow(unsafe_code, reason = "blocks of tests")]
mod tests {
    use super::*;
    use crate::allocator;

    #[test]
    fn a_block_is_on_nodes_that_have_memory() {
        let at = allocator::alloc(1, 100_000, 4096, true).unwrap();
        // SAFETY: so many bytes are the test's.
        unsafe { at.write_bytes(1, 100_000) };
        let found = of(at as usize, 100_000).unwrap();
        assert_eq!((found.pages, found.present()), (25, 25), "{found}");
        let machine = Machine::here();
        assert!(found.nodes.iter().all(|it| machine.node(it.0).unwrap().total > 0));
        // SAFETY: a block of the test.
        unsafe { allocator::free(at, 1) }.unwrap();
    }

    #[test]
    fn pinned_memory_is_locked_and_there() {
        let pinned = allocator::make(0, &[crate::traits::Trait { key: 7, value: 1 }]).unwrap();
        let at = allocator::alloc(pinned, 10_000, 1, false).unwrap();
        let found = of(at as usize, 10_000).unwrap();
        assert!(found.is_locked && found.present() == 3, "{found}");
        // SAFETY: a block of the test.
        unsafe { allocator::free(at, pinned) }.unwrap();
        allocator::end(pinned).unwrap();
    }

    #[test]
    fn untouched_pages_are_nowhere() {
        let at = os::pages(1 << 16, 1 << 16, crate::kinds::Pages::System).unwrap();
        let found = of(at as usize, 1 << 16).unwrap();
        assert_eq!((found.present(), found.node()), (0, None));
        assert!(found.to_string().starts_with("no page"));
        // SAFETY: pages of this test.
        unsafe { os::unmap(at, 1 << 16) };
    }

    #[test]
    fn the_kernels_text_is_understood() {
        let text = "\
7f10-7f20 rw-p 00000000 00:00 0 \nKernelPageSize:        4 kB\nVmFlags: rd wr\n\
7f20-7f30 rw-s 00000000 fe:00 42                         /data/a file\n\
KernelPageSize:     2048 kB\nAnonHugePages:      8 kB\nVmFlags: rd wr lo sh \n";
        let mut found = Whereabouts::default();
        mapping(text, 0x7f25, &mut found);
        assert_eq!(found.file.as_deref(), Some("/data/a file"));
        assert_eq!((found.page_size, found.huge, found.is_locked), (2 << 20, 8192, true));
    }
}
