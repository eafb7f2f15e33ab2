//! Traits of allocators, as numbers of the header and as words of the environment.
//!
//! In: keys and values that a program gives, or the text of `OMP_ALLOCATOR`. Out: [`Traits`] with a memory
//! space, or what is wrong with them.

use std::fmt;

use crate::kinds::Kind;

/// What an allocator does when its memory space has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// Ordinary memory.
    DefaultMemory,
    /// No memory.
    Null,
    /// The program ends.
    Abort,
    /// Another allocator, by its handle.
    Allocator(usize),
}

/// How memory is spread over nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partition {
    /// As the system does it.
    Environment,
    /// On the nodes nearest to who touches it.
    Nearest,
    /// In as many parts as there are nodes.
    Blocked,
    /// In turn.
    Interleaved,
}

/// Traits that mean something for memory of the host. Others are checked and mean nothing here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Of every block, in bytes.
    pub alignment: usize,
    /// Bytes of all blocks together.
    pub pool: usize,
    /// When there is no room.
    pub fallback: Fallback,
    /// Pages stay where they are.
    pub is_pinned: bool,
    /// For which device they are pinned, if one is named.
    pub pin_device: Option<i32>,
    /// Over nodes.
    pub partition: Partition,
    /// Bytes of each part; 0: as the partition says.
    pub part_size: usize,
}

impl Default for Traits {
    fn default() -> Traits {
        Traits {
            alignment: 1,
            pool: usize::MAX,
            fallback: Fallback::DefaultMemory,
            is_pinned: false,
            pin_device: None,
            partition: Partition::Environment,
            part_size: 0,
        }
    }
}

/// A trait, as the header has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Trait {
    /// Which.
    pub key: i32,
    /// Its value.
    pub value: usize,
}

/// What is wrong with a trait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadTrait {
    /// Its name, or number.
    pub name: String,
    /// Its value.
    pub value: String,
    /// What it may be.
    pub allowed: String,
}

impl fmt::Display for BadTrait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "trait `{}` cannot be {}: {}", self.name, self.value, self.allowed)
    }
}

/// The value that stands for what a trait is without it.
const DEFAULT: usize = 0xffff_ffff;

/// Keys with their names and what they take. The place in the table is the key less one.
const KEYS: [(&str, Takes); 16] = [
    ("sync_hint", Takes::Words(&[3, 4, 5, 6])),
    ("alignment", Takes::PowerOfTwo),
    ("access", Takes::Words(&[7, 8, 9, 10, 19, 20, 21, 22])),
    ("pool_size", Takes::Positive),
    ("fallback", Takes::Words(&[11, 12, 13, 14])),
    ("fb_data", Takes::Any),
    ("pinned", Takes::Words(&[0, 1])),
    ("partition", Takes::Words(&[15, 16, 17, 18])),
    ("pin_device", Takes::Any),
    ("preferred_device", Takes::Any),
    ("device_access", Takes::Words(&[20, 21, 7, 22])),
    ("target_access", Takes::Words(&[20, 21, 7, 22])),
    ("atomic_scope", Takes::Words(&[7, 8, 9, 10, 19])),
    ("part_size", Takes::Positive),
    ("partitioner", Takes::Nothing),
    ("partitioner_arg", Takes::Nothing),
];

/// Values with names; the place in the table is the value.
const VALUES: [&str; 24] = [
    "false",
    "true",
    "",
    "contended",
    "uncontended",
    "serialized",
    "private",
    "all",
    "thread",
    "pteam",
    "cgroup",
    "default_mem_fb",
    "null_fb",
    "abort_fb",
    "allocator_fb",
    "environment",
    "nearest",
    "blocked",
    "interleaved",
    "device",
    "single",
    "multiple",
    "memspace",
    "partitioner",
];

#[derive(Clone, Copy)]
enum Takes {
    Words(&'static [usize]),
    PowerOfTwo,
    Positive,
    Any,
    /// Known by name, and not done.
    Nothing,
}

fn word(value: usize) -> String {
    match VALUES.get(value) {
        Some(name) if !name.is_empty() => format!("`{name}`"),
        _ => value.to_string(),
    }
}

/// The traits that a list gives. Without a fall-back of its own, ordinary memory has no other to fall back to.
pub fn read(space: Kind, list: &[Trait]) -> Result<Traits, BadTrait> {
    let fallback = if space == Kind::Default { Fallback::Null } else { Fallback::DefaultMemory };
    let mut traits = Traits { fallback, ..Traits::default() };
    let (mut to_allocator, mut data) = (false, 0);
    for it in list {
        let at = usize::try_from(it.key).ok().and_then(|it| it.checked_sub(1));
        let Some((name, takes)) = at.and_then(|at| KEYS.get(at)) else {
            let allowed = format!("keys are numbers from 1 to {}", KEYS.len());
            return Err(BadTrait { name: it.key.to_string(), value: word(it.value), allowed });
        };
        let is_default = it.value == DEFAULT || it.value == usize::MAX;
        let allowed = match takes {
            Takes::Words(words) if words.contains(&it.value) => None,
            Takes::Words(words) => {
                let words: Vec<String> = words.iter().map(|it| word(*it)).collect();
                Some(format!("it is one of {}", words.join(", ")))
            }
            Takes::PowerOfTwo if it.value.is_power_of_two() => None,
            Takes::PowerOfTwo => Some("it is a power of two".to_owned()),
            Takes::Positive if it.value > 0 => None,
            Takes::Positive => Some("it is 1 or more".to_owned()),
            Takes::Any => None,
            Takes::Nothing => Some("partitioners of the program are not supported".to_owned()),
        };
        match allowed {
            _ if is_default && !matches!(takes, Takes::Any) => continue,
            Some(allowed) => {
                let value = match takes {
                    Takes::PowerOfTwo | Takes::Positive => it.value.to_string(),
                    Takes::Words(_) | Takes::Any | Takes::Nothing => word(it.value),
                };
                return Err(BadTrait { name: (*name).to_owned(), value, allowed });
            }
            None => {}
        }
        match (*name, it.value) {
            ("alignment", bytes) => traits.alignment = bytes,
            ("pool_size", bytes) => traits.pool = bytes,
            ("fallback", 11) => traits.fallback = Fallback::DefaultMemory,
            ("fallback", 12) => traits.fallback = Fallback::Null,
            ("fallback", 13) => traits.fallback = Fallback::Abort,
            ("fallback", _) => to_allocator = true,
            ("fb_data", handle) => data = handle,
            ("pinned", value) => traits.is_pinned = value == 1,
            ("pin_device", number) => traits.pin_device = i32::try_from(number).ok(),
            ("partition", 16) => traits.partition = Partition::Nearest,
            ("partition", 17) => traits.partition = Partition::Blocked,
            ("partition", 18) => traits.partition = Partition::Interleaved,
            ("part_size", bytes) => traits.part_size = bytes,
            _ => {}
        }
    }
    if to_allocator {
        if data == 0 {
            return Err(BadTrait {
                name: "fallback".to_owned(),
                value: word(14),
                allowed: "trait `fb_data` must name the allocator".to_owned(),
            });
        }
        traits.fallback = Fallback::Allocator(data);
    }
    Ok(traits)
}

/// Names of spaces and of allocators, by number.
const SPACES: [&str; 5] = ["default", "large_cap", "const", "high_bw", "low_lat"];
const GROUPS: [&str; 3] = ["cgroup", "pteam", "thread"];

/// What the environment says the default allocator is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// One of the standard's, by its handle.
    Predefined(usize),
    /// A space with traits.
    Made(Kind, Vec<Trait>),
}

/// Reads `omp_high_bw_mem_alloc` or `omp_default_mem_space:alignment=64,pinned=true`; the predefined allocators may have traits
/// too.
pub fn from_text(text: &str) -> Result<Named, String> {
    let (name, list) = match text.split_once(':') {
        Some((name, list)) => (name.trim(), Some(list)),
        None => (text.trim(), None),
    };
    let lower = name.to_ascii_lowercase();
    let inner = lower.strip_prefix("omp_").and_then(|it| it.strip_suffix("_mem_space"));
    let space = inner.and_then(|name| SPACES.iter().position(|it| *it == name));
    let kind = match (space, handle_of(&lower), list) {
        (_, Some(handle), None) => return Ok(Named::Predefined(handle)),
        (Some(at), ..) => at,
        (None, Some(handle), _) if handle <= SPACES.len() => handle - 1,
        (None, Some(_), _) => 0,
        (None, None, _) => return Err(format!("`{name}` is no allocator and no memory space")),
    };
    let kind = crate::kinds::KINDS.get(kind).copied().unwrap_or(Kind::Default);
    let mut traits = Vec::new();
    for part in list.unwrap_or_default().split(',').map(str::trim).filter(|it| !it.is_empty()) {
        let Some((key, value)) = part.split_once('=') else {
            return Err(format!("trait `{part}` has no value"));
        };
        let (key, value) = (key.trim().to_ascii_lowercase(), value.trim().to_ascii_lowercase());
        let Some(at) = KEYS.iter().position(|(name, _)| *name == key) else {
            return Err(format!("there is no trait `{key}`"));
        };
        let number = VALUES.iter().position(|it| *it == value && !value.is_empty());
        let handle = handle_of(&value);
        let Some(value) = number.or(handle).or(value.parse().ok()) else {
            return Err(format!("trait `{key}` cannot be `{value}`"));
        };
        traits.push(Trait { key: at as i32 + 1, value });
    }
    Ok(Named::Made(kind, traits))
}

/// A predefined allocator's handle by its name.
fn handle_of(name: &str) -> Option<usize> {
    let inner = name.strip_prefix("omp_")?.strip_suffix("_mem_alloc")?;
    let space = SPACES.iter().position(|it| *it == inner).map(|it| it + 1);
    space.or(GROUPS.iter().position(|it| *it == inner).map(|it| it + 6))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(key: i32, value: usize) -> Result<Traits, BadTrait> {
        read(Kind::HighBandwidth, &[Trait { key, value }])
    }

    #[test]
    fn traits_have_values_of_their_own() {
        assert_eq!(one(2, 4096).unwrap().alignment, 4096);
        assert_eq!(one(4, 100).unwrap().pool, 100);
        assert_eq!(one(5, 12).unwrap().fallback, Fallback::Null);
        assert_eq!(one(5, 0xffff_ffff).unwrap().fallback, Fallback::DefaultMemory);
        assert!(one(7, 1).unwrap().is_pinned);
        assert_eq!(one(8, 18).unwrap().partition, Partition::Interleaved);
        let both = [Trait { key: 6, value: 4 }, Trait { key: 5, value: 14 }];
        assert_eq!(read(Kind::Default, &both).unwrap().fallback, Fallback::Allocator(4));
        assert_eq!(read(Kind::Default, &[]).unwrap().fallback, Fallback::Null);
    }

    #[test]
    fn wrong_ones_are_named() {
        let said = |key, value| one(key, value).unwrap_err().to_string();
        assert_eq!(said(2, 48), "trait `alignment` cannot be 48: it is a power of two");
        assert_eq!(said(4, 0), "trait `pool_size` cannot be 0: it is 1 or more");
        assert_eq!(said(7, 16), "trait `pinned` cannot be `nearest`: it is one of `false`, `true`");
        assert_eq!(said(99, 1), "trait `99` cannot be `true`: keys are numbers from 1 to 16");
        assert!(said(5, 14).contains("fb_data"));
        assert!(said(15, 7).contains("not supported"));
    }

    #[test]
    fn the_environment_names_allocators_and_spaces() {
        assert_eq!(from_text("omp_high_bw_mem_alloc"), Ok(Named::Predefined(4)));
        assert_eq!(from_text(" OMP_THREAD_MEM_ALLOC "), Ok(Named::Predefined(8)));
        let traits = vec![
            Trait { key: 2, value: 64 },
            Trait { key: 7, value: 1 },
            Trait { key: 5, value: 14 },
            Trait { key: 6, value: 2 },
        ];
        let text = "omp_low_lat_mem_space: alignment=64, pinned=true,fallback=allocator_fb,fb_data=omp_large_cap_mem_alloc";
        assert_eq!(from_text(text), Ok(Named::Made(Kind::LowLatency, traits)));
        assert_eq!(
            from_text("omp_high_bw_mem_alloc:pool_size=5"),
            Ok(Named::Made(Kind::HighBandwidth, vec![Trait { key: 4, value: 5 }]))
        );
        for wrong in [
            "fast",
            "omp_default_mem_space:colour=1",
            "omp_default_mem_space:alignment=x",
            "omp_default_mem_space:pinned",
        ] {
            from_text(wrong).unwrap_err();
        }
    }
}
