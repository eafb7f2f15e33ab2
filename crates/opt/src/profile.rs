//! Devices as the choice of a mapping sees them: a few numbers each.
//!
//! In: text of profiles, the built-in ones and the user's. Out: [`Profiles`], asked by name. A profile takes what
//! it does not say from the one that it is `like`. Not here: what the numbers are used for ([`crate::shape`]).

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::occupancy::Unit;

const BUILT_IN: &str = include_str!("../profiles/devices.toml");

/// What kind of device it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Few threads, each with lanes of its own; neighbours in memory are for one thread.
    Cores,
    /// Very many threads in step; neighbours in memory are for neighbours among threads.
    Gpu,
}

/// A device. Times are in nanoseconds, work in simple operations.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// As it is asked for.
    pub name: String,
    /// In words.
    pub about: String,
    /// What kind.
    pub kind: Kind,
    /// Threads that run at once.
    pub slots: u64,
    /// Threads that keep arithmetic busy.
    pub busy: u64,
    /// Threads that keep memory busy.
    pub fed: u64,
    /// Teams that run at once.
    pub teams: u64,
    /// Most threads of a team.
    pub team: u64,
    /// Neighbours that run in step.
    pub warp: u64,
    /// Bytes of a vector register.
    pub vector: u64,
    /// Bytes that memory hands out at a time.
    pub line: u64,
    /// Bytes of caches that a core has for itself while all are at work.
    pub cache: u64,
    /// Operations per nanosecond, all together, without lanes.
    pub rate: f64,
    /// Bytes per nanosecond.
    pub bandwidth: f64,
    /// Start of a region.
    pub launch: f64,
    /// Start and end of a group of threads.
    pub fork: f64,
    /// The same more if code stands between teams and their threads.
    pub between: f64,
    /// One step of a tree that combines.
    pub reduce: f64,
    /// Operations that each iteration of a collapsed nest costs more.
    pub collapse: u64,
    /// Lanes are used only where the program says so.
    pub lanes_need_word: bool,
    /// What a multiprocessor has, if the device is made of such.
    pub unit: Option<Unit>,
    /// Bytes of its multiprocessor that a block may take without asking when it starts.
    pub block_memory: u64,
}

/// A profile as written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    like: Option<String>,
    about: Option<String>,
    kind: Option<Kind>,
    slots: Option<u64>,
    busy: Option<u64>,
    fed: Option<u64>,
    teams: Option<u64>,
    team: Option<u64>,
    warp: Option<u64>,
    vector: Option<u64>,
    line: Option<u64>,
    cache: Option<u64>,
    rate: Option<f64>,
    bandwidth: Option<f64>,
    launch: Option<f64>,
    fork: Option<f64>,
    between: Option<f64>,
    reduce: Option<f64>,
    collapse: Option<u64>,
    lanes_need_word: Option<bool>,
    unit_threads: Option<u64>,
    unit_blocks: Option<u64>,
    unit_registers: Option<u64>,
    unit_memory: Option<u64>,
    unit_reserved: Option<u64>,
    block_memory: Option<u64>,
}

impl Written {
    /// What it says, and what the other says where it does not.
    fn or(self, other: Written) -> Written {
        Written {
            like: other.like,
            about: self.about.or(other.about),
            kind: self.kind.or(other.kind),
            slots: self.slots.or(other.slots),
            busy: self.busy.or(other.busy),
            fed: self.fed.or(other.fed),
            teams: self.teams.or(other.teams),
            team: self.team.or(other.team),
            warp: self.warp.or(other.warp),
            vector: self.vector.or(other.vector),
            line: self.line.or(other.line),
            cache: self.cache.or(other.cache),
            rate: self.rate.or(other.rate),
            bandwidth: self.bandwidth.or(other.bandwidth),
            launch: self.launch.or(other.launch),
            fork: self.fork.or(other.fork),
            between: self.between.or(other.between),
            reduce: self.reduce.or(other.reduce),
            collapse: self.collapse.or(other.collapse),
            lanes_need_word: self.lanes_need_word.or(other.lanes_need_word),
            unit_threads: self.unit_threads.or(other.unit_threads),
            unit_blocks: self.unit_blocks.or(other.unit_blocks),
            unit_registers: self.unit_registers.or(other.unit_registers),
            unit_memory: self.unit_memory.or(other.unit_memory),
            unit_reserved: self.unit_reserved.or(other.unit_reserved),
            block_memory: self.block_memory.or(other.block_memory),
        }
    }

    fn whole(self, name: &str) -> Option<Profile> {
        let unit = || {
            Some(Unit {
                threads: self.unit_threads?,
                blocks: self.unit_blocks?,
                registers: self.unit_registers?,
                memory: self.unit_memory?,
                reserved: self.unit_reserved?,
                warp: self.warp?,
            })
        };
        Some(Profile {
            unit: unit(),
            block_memory: self.block_memory.unwrap_or(0),
            name: name.to_owned(),
            about: self.about.unwrap_or_default(),
            kind: self.kind?,
            slots: self.slots?.max(1),
            busy: self.busy?.max(1),
            fed: self.fed?.max(1),
            teams: self.teams?.max(1),
            team: self.team?.max(1),
            warp: self.warp?.max(1),
            vector: self.vector?,
            line: self.line?.max(1),
            cache: self.cache?,
            rate: positive(self.rate?)?,
            bandwidth: positive(self.bandwidth?)?,
            launch: self.launch?,
            fork: self.fork?,
            between: self.between?,
            reduce: self.reduce?,
            collapse: self.collapse?,
            lanes_need_word: self.lanes_need_word?,
        })
    }
}

fn positive(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then_some(value)
}

/// Why profiles cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The text is no list of profiles: what is wrong with it.
    Text(String),
    /// There is none of that name; these there are.
    Unknown(String, Vec<String>),
    /// It is like itself, by others or directly.
    Circle(String),
    /// It leaves something open, or a rate is not above zero.
    Incomplete(String),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Text(why) => write!(f, "{why}"),
            Fault::Unknown(name, known) => {
                write!(f, "there is no profile `{name}`; there are {}", known.join(", "))
            }
            Fault::Circle(name) => write!(f, "profile `{name}` is like itself"),
            Fault::Incomplete(name) => {
                write!(f, "profile `{name}` leaves something open; say which it is `like`")
            }
        }
    }
}

/// All profiles there are.
#[derive(Clone, Debug)]
pub struct Profiles {
    written: BTreeMap<String, Written>,
}

impl Profiles {
    /// Those that are always there, and those of a text, which may replace them.
    pub fn with(text: &str) -> Result<Profiles, Fault> {
        let mut written = read(BUILT_IN)?;
        written.extend(read(text)?);
        Ok(Profiles { written })
    }

    /// Those that are always there.
    pub fn built_in() -> Profiles {
        Profiles { written: read(BUILT_IN).unwrap_or_default() }
    }

    /// Their names.
    pub fn names(&self) -> Vec<String> {
        self.written.keys().cloned().collect()
    }

    /// One of them.
    pub fn get(&self, name: &str) -> Result<Profile, Fault> {
        let find = |name: &str| {
            let unknown = || Fault::Unknown(name.to_owned(), self.names());
            self.written.get(name).cloned().ok_or_else(unknown)
        };
        let mut found = find(name)?;
        let mut seen = vec![name.to_owned()];
        while let Some(like) = found.like.take() {
            if seen.contains(&like) {
                return Err(Fault::Circle(name.to_owned()));
            }
            found = found.or(find(&like)?);
            seen.push(like);
        }
        found.whole(name).ok_or_else(|| Fault::Incomplete(name.to_owned()))
    }
}

/// The names of the profiles in a text.
pub fn names_in(text: &str) -> Result<Vec<String>, Fault> {
    Ok(read(text)?.into_keys().collect())
}

fn read(text: &str) -> Result<BTreeMap<String, Written>, Fault> {
    toml::from_str(text).map_err(|it| Fault::Text(it.to_string().trim_end().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_profile_is_whole() {
        let profiles = Profiles::built_in();
        assert!(profiles.names().len() >= 6);
        for name in profiles.names() {
            let it = profiles.get(&name).unwrap();
            assert!(it.busy <= it.slots && it.fed <= it.slots, "{name}");
        }
        assert_eq!(profiles.get("h200").unwrap().warp, 32);
        assert!(profiles.get("gcc-gpu").unwrap().lanes_need_word);
    }

    #[test]
    fn a_user_says_only_what_differs() {
        let profiles = Profiles::with("[mine]\nlike = \"cpu\"\nslots = 64\nbusy = 64\n").unwrap();
        let it = profiles.get("mine").unwrap();
        assert_eq!((it.slots, it.kind, it.name.as_str()), (64, Kind::Cores, "mine"));
    }

    #[test]
    fn faults_are_told() {
        let of =
            |text: &str, name: &str| Profiles::with(text).and_then(|it| it.get(name)).unwrap_err();
        assert!(matches!(of("[a]\nslotz = 3", "a"), Fault::Text(it) if it.contains("slotz")));
        assert!(matches!(of("", "a"), Fault::Unknown(..)));
        assert_eq!(of("[a]\nlike = \"b\"\n[b]\nlike = \"a\"", "a"), Fault::Circle("a".to_owned()));
        assert_eq!(of("[a]\nslots = 3", "a"), Fault::Incomplete("a".to_owned()));
        let zero = "[a]\nlike = \"cpu\"\nrate = 0.0";
        assert_eq!(of(zero, "a"), Fault::Incomplete("a".to_owned()));
    }
}
