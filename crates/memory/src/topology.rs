//! The memory of a machine, as the kernel describes it: nodes, tiers, distances, performance, page sizes.
//!
//! In: the folder that holds `devices`, `kernel` and so on (`/sys`, or a description of another machine).
//! Out: a [`Machine`]. What a machine does not tell is absent, never guessed. Which nodes serve which kind
//! of memory is decided in [`crate::kinds`].

use std::fs;
use std::path::Path;

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Nodes that have memory or processors, by number.
    pub nodes: Vec<Node>,
    /// Sizes of huge pages that the kernel offers, in bytes, smallest first.
    pub huge_pages: Vec<usize>,
    /// Whether the kernel makes huge pages of ordinary memory by itself or when asked.
    pub has_transparent_huge_pages: bool,
    /// Memory without processors of its own is the fast memory of the package: a processor that has such
    /// memory and no table that tells so.
    pub has_package_memory: bool,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Its number.
    pub number: usize,
    /// Its processors.
    pub processors: Vec<usize>,
    /// Bytes of memory.
    pub total: u64,
    /// Of these, bytes that nobody uses.
    pub free: u64,
    /// Distances to nodes in the order of [`Machine::nodes`].
    pub distances: Vec<u32>,
    /// The memory tier that the kernel has put it in; less is faster.
    pub tier: Option<u32>,
    /// What the nearest processors get of it.
    pub performance: Option<Performance>,
    /// Bytes of memory that stands before it as a cache.
    pub cache: u64,
    /// Huge pages: their size, how many there are, how many are free.
    pub huge_pages: Vec<(usize, u64, u64)>,
}

/// Performance of a node's memory as its firmware tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Performance {
    /// MB in a second.
    pub read_bandwidth: u64,
    /// MB in a second.
    pub write_bandwidth: u64,
    /// Nanoseconds.
    pub read_latency: u64,
    /// Nanoseconds.
    pub write_latency: u64,
}

impl Machine {
    /// This machine.
    pub fn here() -> Machine {
        Machine::read(Path::new("/sys"))
    }

    /// The machine that a folder describes. Where it says nothing there is one node with number 0.
    pub fn read(root: &Path) -> Machine {
        let nodes = root.join("devices/system/node");
        let online = text(&nodes.join("online")).map_or_else(Vec::new, |it| list(&it));
        let mut machine = Machine {
            nodes: online.iter().map(|it| node(&nodes, *it)).collect(),
            huge_pages: huge_sizes(&root.join("kernel/mm/hugepages")),
            has_transparent_huge_pages: text(&root.join("kernel/mm/transparent_hugepage/enabled"))
                .is_some_and(|it| !it.contains("[never]")),
            has_package_memory: text(&root.join("devices/system/cpu/modalias"))
                .is_some_and(|it| PACKAGE_MEMORY.iter().any(|model| it.contains(model))),
        };
        if machine.nodes.is_empty() {
            machine.nodes.push(Node { distances: vec![LOCAL], ..Node::default() });
        }
        for (tier, members) in tiers(&root.join("devices/virtual/memory_tiering")) {
            for node in machine.nodes.iter_mut().filter(|it| members.contains(&it.number)) {
                node.tier = Some(tier);
            }
        }
        machine
    }

    /// A node by its number.
    pub fn node(&self, number: usize) -> Option<&Node> {
        self.nodes.iter().find(|it| it.number == number)
    }

    /// How far one node is from another; what is not told is as far as can be.
    pub fn distance(&self, from: usize, to: usize) -> u32 {
        let at = self.nodes.iter().position(|it| it.number == to);
        let distances = self.node(from).map_or(&[][..], |it| &it.distances);
        let said = at.and_then(|at| distances.get(at)).copied();
        said.unwrap_or(if from == to { LOCAL } else { u32::MAX })
    }

    /// Nodes with memory, nearest to `from` first; of equally near ones the one with the lower number.
    pub fn nearest(&self, from: usize) -> Vec<usize> {
        let mut near: Vec<usize> =
            self.nodes.iter().filter(|it| it.total > 0).map(|it| it.number).collect();
        near.sort_by_key(|it| (self.distance(from, *it), *it));
        near
    }
}

/// Columns of [`Machine::draw`], before the distances.
const HEAD: [&str; 8] = ["node", "processors", "memory", "free", "tier", "GB/s", "ns", "cache"];

impl Machine {
    /// A table for people: nodes with what the kernel tells of them, distances, sizes of pages.
    pub fn draw(&self) -> String {
        let mut head = HEAD.map(String::from).to_vec();
        head.extend(self.nodes.iter().map(|to| format!("to {}", to.number)));
        let mut rows = vec![head];
        for node in &self.nodes {
            let known = |it: u64, text: String| if it > 0 { text } else { "-".to_owned() };
            let speed = node.performance.unwrap_or_default();
            let mut row = vec![
                node.number.to_string(),
                node.processors.len().to_string(),
                size(node.total),
                size(node.free),
                node.tier.map_or_else(|| "-".to_owned(), |it| it.to_string()),
                known(speed.read_bandwidth, (speed.read_bandwidth / 1000).to_string()),
                known(speed.read_latency, speed.read_latency.to_string()),
                known(node.cache, size(node.cache)),
            ];
            row.extend(self.nodes.iter().map(|to| match self.distance(node.number, to.number) {
                u32::MAX => "-".to_owned(),
                far => far.to_string(),
            }));
            rows.push(row);
        }
        let columns = rows.first().map_or(0, Vec::len);
        let width =
            |at: usize| rows.iter().filter_map(|it| it.get(at)).map(String::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &rows {
            let cells: Vec<String> =
                row.iter().zip(&widths).map(|(it, width)| format!("{it:>width$}")).collect();
            text.push_str(cells.join("  ").trim_end());
            text.push('\n');
        }
        let huge = self.huge_pages.iter().map(|bytes| {
            let of = |pick: fn(&(usize, u64, u64)) -> u64| -> u64 {
                let all = self.nodes.iter().flat_map(|it| &it.huge_pages);
                all.filter(|it| it.0 == *bytes).map(pick).sum()
            };
            format!("{} ({} of {} free)", size(*bytes as u64), of(|it| it.2), of(|it| it.1))
        });
        let mut huge: Vec<String> = huge.collect();
        if self.has_transparent_huge_pages {
            huge.push("made by the kernel".to_owned());
        }
        let huge = if huge.is_empty() { "none".to_owned() } else { huge.join(", ") };
        text.push_str(&format!("huge pages: {huge}\n"));
        text
    }
}

/// Bytes for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes >> 10),
        1_048_576..1_073_741_824 => format!("{} MiB", bytes >> 20),
        _ => format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
    }
}

/// Knights Landing and Knights Mill.
const PACKAGE_MEMORY: [&str; 2] = ["fam0006mod0057", "fam0006mod0085"];

/// The distance of a node from itself.
const LOCAL: u32 = 10;

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().map(|it| it.trim().to_owned())
}

fn number(path: &Path) -> Option<u64> {
    text(path)?.parse().ok()
}

/// `0-2,5`
pub(crate) fn list(text: &str) -> Vec<usize> {
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim).filter(|it| !it.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) {
            all.extend((first..=last).take(MOST_OF_A_LIST));
        }
    }
    all
}

/// More than any machine has.
const MOST_OF_A_LIST: usize = 1 << 16;

fn node(nodes: &Path, number: usize) -> Node {
    let at = nodes.join(format!("node{number}"));
    let about = text(&at.join("meminfo")).unwrap_or_default();
    let distances = text(&at.join("distance")).unwrap_or_default();
    Node {
        number,
        processors: text(&at.join("cpulist")).map_or_else(Vec::new, |it| list(&it)),
        total: bytes(&about, "MemTotal:"),
        free: bytes(&about, "MemFree:"),
        distances: distances.split_whitespace().filter_map(|it| it.parse().ok()).collect(),
        tier: None,
        performance: performance(&at),
        cache: caches(&at.join("memory_side_cache")),
        huge_pages: huge_sizes(&at.join("hugepages"))
            .into_iter()
            .map(|size| {
                let folder = at.join(format!("hugepages/hugepages-{}kB", size / 1024));
                let count = |name: &str| self::number(&folder.join(name)).unwrap_or(0);
                (size, count("nr_hugepages"), count("free_hugepages"))
            })
            .collect(),
    }
}

/// `Node 0 MemTotal:       24689772 kB`
fn bytes(about: &str, name: &str) -> u64 {
    let line = about.lines().find(|it| it.split_whitespace().any(|word| word == name));
    let value =
        line.and_then(|it| it.split_whitespace().rev().nth(1)).and_then(|it| it.parse().ok());
    value.map_or(0, |it: u64| it.saturating_mul(1024))
}

/// What processors get, the nearest of them if the kernel tells both.
fn performance(node: &Path) -> Option<Performance> {
    ["access1", "access0"].iter().find_map(|class| {
        let at = node.join(class).join("initiators");
        let value = |name: &str| number(&at.join(name)).unwrap_or(0);
        let found = Performance {
            read_bandwidth: value("read_bandwidth"),
            write_bandwidth: value("write_bandwidth"),
            read_latency: value("read_latency"),
            write_latency: value("write_latency"),
        };
        (found != Performance::default()).then_some(found)
    })
}

fn caches(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|it| number(&it.path().join("size"))).sum()
}

/// `hugepages-2048kB`
fn huge_sizes(folder: &Path) -> Vec<usize> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut sizes: Vec<usize> = entries
        .filter_map(|it| {
            let name = it.file_name();
            let kib = name.to_str()?.strip_prefix("hugepages-")?.strip_suffix("kB")?;
            kib.parse::<usize>().ok()?.checked_mul(1024)
        })
        .collect();
    sizes.sort_unstable();
    sizes
}

/// `memory_tier4/nodelist`
fn tiers(folder: &Path) -> Vec<(u32, Vec<usize>)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut tiers: Vec<(u32, Vec<usize>)> = entries
        .filter_map(|it| {
            let tier = it.file_name().to_str()?.strip_prefix("memory_tier")?.parse().ok()?;
            Some((tier, list(&text(&it.path().join("nodelist"))?)))
        })
        .collect();
    tiers.sort_unstable();
    tiers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_numbers_and_ranges() {
        assert_eq!(list("0-2,5"), [0, 1, 2, 5]);
        assert_eq!(list(""), [0; 0]);
        assert_eq!(list("x,1"), [1]);
    }

    #[test]
    fn this_machine_has_memory_and_processors() {
        let machine = Machine::here();
        assert!(machine.nodes.iter().any(|it| it.total > 0), "{machine:?}");
        assert!(machine.nodes.iter().any(|it| !it.processors.is_empty()), "{machine:?}");
    }

    #[test]
    fn a_machine_that_tells_nothing_has_one_node() {
        let machine = Machine::read(Path::new("/nowhere"));
        assert_eq!(machine.nodes.len(), 1);
        assert_eq!(machine.distance(0, 0), 10);
        assert_eq!(machine.distance(0, 1), u32::MAX);
    }
}
