//! Kinds of memory, and which memory of a machine serves each.
//!
//! Nodes are grouped by what the kernel tells of their speed: firmware's figures, else memory tiers, else the processor's
//! model. A machine whose nodes are alike has one group, which then serves all kinds. A user's kinds
//! name their memory themselves, in a file or by a call.

use crate::topology::{Machine, Node};

/// What memory is wanted for; the standard's memory spaces, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// What the system gives.
    Default,
    /// The memory of which there is most.
    LargeCapacity,
    /// What is read only.
    Constant,
    /// The memory of highest bandwidth.
    HighBandwidth,
    /// The memory of lowest latency.
    LowLatency,
}

/// All kinds, in their order.
pub const KINDS: [Kind; 5] =
    [Kind::Default, Kind::LargeCapacity, Kind::Constant, Kind::HighBandwidth, Kind::LowLatency];

impl Kind {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Default => "ordinary memory",
            Kind::LargeCapacity => "large-capacity memory",
            Kind::Constant => "constant memory",
            Kind::HighBandwidth => "high-bandwidth memory",
            Kind::LowLatency => "low-latency memory",
        }
    }
}

/// How pages are spread over the nodes of a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// As the system does it.
    #[default]
    System,
    /// On these nodes as long as they have room, then on the nearest others.
    Prefer,
    /// On these nodes or nowhere.
    Bind,
    /// On these nodes in turn, page by page.
    Interleave,
    /// A block is cut into as many equal parts as there are nodes.
    Blocked,
}

/// The pages of a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pages {
    /// As the system does it.
    #[default]
    System,
    /// Ordinary ones that the kernel is asked to make huge.
    Transparent,
    /// Huge ones of this size, from the pool of the kernel.
    Huge(usize),
}

/// Where memory is to lie.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// Nodes, in the order of choice; none: any.
    pub nodes: Vec<usize>,
    /// How they are used.
    pub policy: Policy,
    /// On which pages.
    pub pages: Pages,
}

/// The memory that serves a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its nodes.
    pub nodes: Vec<usize>,
    /// Whether the machine has other memory besides.
    pub is_distinct: bool,
}

impl Machine {
    /// The nodes that serve a kind.
    pub fn serves(&self, kind: Kind) -> Found {
        let groups = self.by_speed();
        let all: Vec<&Node> = groups.iter().flatten().copied().collect();
        let chosen: Vec<&Node> = match kind {
            Kind::Default | Kind::Constant => {
                all.iter().copied().filter(|it| !it.processors.is_empty()).collect()
            }
            Kind::HighBandwidth => groups.first().cloned().unwrap_or_default(),
            Kind::LargeCapacity => {
                let total = |it: &&Vec<&Node>| it.iter().map(|node| node.total).sum::<u64>();
                groups.iter().max_by_key(total).cloned().unwrap_or_default()
            }
            Kind::LowLatency => {
                let latency = |it: &Node| it.performance.map_or(0, |it| it.read_latency);
                let least = all.iter().map(|it| latency(it)).filter(|it| *it > 0).min();
                match least {
                    // Figures within a tenth are the same memory at another place.
                    Some(least) => all
                        .iter()
                        .copied()
                        .filter(|it| (1..=least + least / 10).contains(&latency(it)))
                        .collect(),
                    None => all.iter().copied().filter(|it| !it.processors.is_empty()).collect(),
                }
            }
        };
        let chosen = if chosen.is_empty() { all.clone() } else { chosen };
        let mut nodes: Vec<usize> = chosen.iter().map(|it| it.number).collect();
        nodes.sort_unstable();
        Found { is_distinct: nodes.len() < all.len(), nodes }
    }

    /// Where memory of a kind is to lie. One group of memory needs no policy.
    pub fn place(&self, kind: Kind) -> Place {
        let found = self.serves(kind);
        if !found.is_distinct || kind == Kind::Default {
            return Place::default();
        }
        Place { nodes: found.nodes, policy: Policy::Prefer, pages: Pages::System }
    }

    /// Nodes with memory in groups of the same speed, the fastest first.
    pub fn by_speed(&self) -> Vec<Vec<&Node>> {
        let mut nodes: Vec<&Node> = self.nodes.iter().filter(|it| it.total > 0).collect();
        let bandwidth = |it: &Node| it.performance.map_or(0, |it| it.read_bandwidth);
        if nodes.iter().all(|it| bandwidth(it) > 0) {
            nodes.sort_by_key(|it| std::cmp::Reverse(bandwidth(it)));
            // Half as much again is another memory; less is the same at another place.
            return grouped(nodes, |one, next| bandwidth(one) * 2 < bandwidth(next) * 3);
        }
        if nodes.iter().all(|it| it.tier.is_some()) {
            nodes.sort_by_key(|it| it.tier);
            return grouped(nodes, |one, next| one.tier == next.tier);
        }
        if self.has_package_memory {
            nodes.sort_by_key(|it| !it.processors.is_empty());
            return grouped(nodes, |one, next| {
                one.processors.is_empty() == next.processors.is_empty()
            });
        }
        if nodes.is_empty() { Vec::new() } else { vec![nodes] }
    }
}

/// Cuts a list where a member is not like the first of its group.
fn grouped(nodes: Vec<&Node>, is_like: impl Fn(&Node, &Node) -> bool) -> Vec<Vec<&Node>> {
    let mut groups: Vec<Vec<&Node>> = Vec::new();
    for node in nodes {
        match groups.last_mut() {
            Some(group) if group.first().is_some_and(|first| is_like(first, node)) => {
                group.push(node);
            }
            _ => groups.push(vec![node]),
        }
    }
    groups
}
