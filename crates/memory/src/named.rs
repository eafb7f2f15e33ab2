//! Memory kinds by name: those that every program has, and those that a user defines.
//!
//! A definition is TOML, in a file or in a text that the program gives:
//! `[scratch]` with `memory` (a kind) or `nodes`, `policy`, `pages`, `persistent`.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::allocator::{self, DEFAULT, HIGH_BANDWIDTH};
use crate::kinds::{KINDS, Kind, Pages, Place, Policy};
use crate::topology::Machine;

/// A kind that can be asked for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedKind {
    /// Its allocator.
    pub handle: usize,
    /// Whether data of it outlive the program.
    pub is_persistent: bool,
}

/// What a user says of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definition {
    /// Where its memory is to lie.
    pub place: Place,
    /// Whether data of it outlive the program.
    pub is_persistent: bool,
}

/// Names that every program has.
pub const FAST: &str = "fastmem";
const PERSISTENT: &str = "persistent";
const VOLATILE: &str = "volatile";
const OWN_NAMES: [&str; 4] = [FAST, PERSISTENT, VOLATILE, "teamlocal"];

/// Definitions, with the allocator once it is made.
static DEFINED: Mutex<BTreeMap<String, (Definition, Option<usize>)>> = Mutex::new(BTreeMap::new());

/// The kind of a name; `None` if nobody has defined it.
pub fn find(name: &str) -> Option<NamedKind> {
    let own = |handle, is_persistent| Some(NamedKind { handle, is_persistent });
    match name {
        FAST => return own(HIGH_BANDWIDTH, false),
        VOLATILE => return own(DEFAULT, false),
        PERSISTENT => return own(DEFAULT, true),
        _ => {}
    }
    let mut defined = DEFINED.lock().unwrap_or_else(PoisonError::into_inner);
    let (definition, handle) = defined.get_mut(name)?;
    let handle = *handle
        .get_or_insert_with(|| allocator::make_at(definition.place.clone()).unwrap_or(DEFAULT));
    own(handle, definition.is_persistent)
}

/// Defines the kinds of a text. A kind that is defined already keeps its memory.
pub fn define(text: &str) -> Result<(), String> {
    for (name, definition) in read(text, allocator::machine())? {
        let mut defined = DEFINED.lock().unwrap_or_else(PoisonError::into_inner);
        defined.entry(name).or_insert((definition, None));
    }
    Ok(())
}

/// Names of [`KINDS`] in definitions, in their order.
const MEMORIES: [&str; 5] =
    ["ordinary", "large-capacity", "constant", "high-bandwidth", "low-latency"];

/// Reads definitions, for a machine.
pub fn read(text: &str, machine: &Machine) -> Result<Vec<(String, Definition)>, String> {
    let table: toml::Table = text.parse().map_err(|it: toml::de::Error| it.message().to_owned())?;
    let mut kinds = Vec::new();
    for (name, value) in &table {
        let toml::Value::Table(fields) = value else {
            return Err(format!("`{name}` is not a kind: write `[{name}]`"));
        };
        if OWN_NAMES.contains(&name.as_str()) {
            return Err(format!("`{name}` is defined by Ferry: choose another name"));
        }
        let definition =
            definition(fields, machine).map_err(|why| format!("kind `{name}`: {why}"))?;
        kinds.push((name.clone(), definition));
    }
    Ok(kinds)
}

fn definition(fields: &toml::Table, machine: &Machine) -> Result<Definition, String> {
    let mut made = Definition::default();
    made.place.policy = Policy::Prefer;
    let mut kind = None;
    for (name, value) in fields {
        let word = value.as_str().unwrap_or("");
        match name.as_str() {
            "memory" => {
                let at = MEMORIES.iter().position(|it| *it == word);
                kind = at.and_then(|at| KINDS.get(at)).copied();
                if kind.is_none() {
                    return Err(format!("`memory` is one of {}", MEMORIES.join(", ")));
                }
            }
            "nodes" => {
                let nodes: Option<Vec<usize>> = value.as_array().and_then(|it| {
                    it.iter().map(|it| it.as_integer().and_then(|it| it.try_into().ok())).collect()
                });
                made.place.nodes = nodes
                    .filter(|it| !it.is_empty())
                    .ok_or("`nodes` is a list of numbers, as in [0, 2]")?;
            }
            "policy" => {
                made.place.policy = match word {
                    "prefer" => Policy::Prefer,
                    "bind" => Policy::Bind,
                    "interleave" => Policy::Interleave,
                    "blocked" => Policy::Blocked,
                    _ => {
                        return Err(
                            "`policy` is one of prefer, bind, interleave, blocked".to_owned()
                        );
                    }
                };
            }
            "pages" => {
                made.place.pages = pages(word).ok_or(
                    "`pages` is `system`, `transparent`, or a size such as \"2M\" or \"1G\"",
                )?;
            }
            "persistent" => {
                made.is_persistent = value.as_bool().ok_or("`persistent` is true or false")?;
            }
            _ => {
                return Err(format!(
                    "there is no `{name}`: write memory, nodes, policy, pages or persistent"
                ));
            }
        }
    }
    if let Some(kind) = kind {
        if !made.place.nodes.is_empty() {
            return Err("say `memory` or `nodes`, not both".to_owned());
        }
        made.place.nodes = nodes_of(machine, kind, made.place.policy);
    }
    if made.place.nodes.is_empty() {
        made.place.policy = Policy::System;
    }
    Ok(made)
}

/// The nodes of a kind; none where all memory is alike and nothing else is wished for.
fn nodes_of(machine: &Machine, kind: Kind, policy: Policy) -> Vec<usize> {
    let found = machine.serves(kind);
    if found.is_distinct || policy != Policy::Prefer { found.nodes } else { Vec::new() }
}

fn pages(word: &str) -> Option<Pages> {
    match word {
        "system" => return Some(Pages::System),
        "transparent" => return Some(Pages::Transparent),
        _ => {}
    }
    let (number, unit) = word.split_at_checked(word.len().checked_sub(1)?)?;
    let shift = match unit {
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return None,
    };
    let bytes = number.parse::<usize>().ok()?.checked_mul(1 << shift)?;
    bytes.is_power_of_two().then_some(Pages::Huge(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Result<Definition, String> {
        Ok(read(text, &Machine::read(std::path::Path::new("/nowhere")))?.remove(0).1)
    }

    #[test]
    fn kinds_name_nodes_policies_and_pages() {
        let place = |nodes: &[usize], policy, pages| Place { nodes: nodes.to_vec(), policy, pages };
        assert_eq!(
            one("[a]\nnodes = [0, 2]\npolicy = \"interleave\"\npages = \"2M\"\n").unwrap().place,
            place(&[0, 2], Policy::Interleave, Pages::Huge(2 << 20))
        );
        assert_eq!(one("[a]\nmemory = \"high-bandwidth\"\n").unwrap().place, Place::default());
        assert!(one("[a]\npersistent = true\n").unwrap().is_persistent);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = [
            ("a = 1", "[a]"),
            ("[fastmem]\n", "another name"),
            ("[a]\nnodes = []\n", "`nodes`"),
            ("[a]\nnodes = [-1]\n", "`nodes`"),
            ("[a]\npolicy = \"near\"\n", "`policy`"),
            ("[a]\npages = \"3M\"\n", "`pages`"),
            ("[a]\nmemory = \"dram\"\n", "`memory`"),
            ("[a]\nmemory = \"ordinary\"\nnodes = [1]\n", "not both"),
            ("[a]\ncolour = 1\n", "`colour`"),
            ("[a", ""),
        ];
        for (text, part) in wrong {
            let why = one(text).unwrap_err();
            assert!(why.contains(part), "{text}: {why}");
        }
    }

    #[test]
    fn a_defined_kind_gives_memory() {
        assert_eq!(find("near"), None);
        define("[near]\nnodes = [0]\npolicy = \"bind\"\n").unwrap();
        let near = find("near").unwrap();
        assert!(!near.is_persistent && find("near") == Some(near));
        let at = allocator::alloc(near.handle, 5000, 64, true).unwrap();
        assert!(!at.is_null());
    }

    #[test]
    fn memory_that_is_not_there_is_ordinary_memory() {
        define("[gone]\nnodes = [700]\npolicy = \"bind\"\n[rare]\npages = \"1G\"\n").unwrap();
        for name in ["gone", "rare"] {
            let kind = find(name).unwrap();
            let at = allocator::alloc(kind.handle, 100, 1, false).unwrap();
            assert!(!at.is_null(), "{name}");
        }
    }
}
