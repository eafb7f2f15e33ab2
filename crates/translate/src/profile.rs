//! What the compiler that will read a translation knows.
//!
//! A profile is data: what is legal and what is fast depend on the reader. Facts were measured with the
//! compilers themselves.

/// One reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// As the user names it.
    pub name: &'static str,
    /// In a few words.
    pub about: &'static str,
    /// Which standard it reads.
    pub reads: Reads,
    /// `present` as a modifier of maps and updates.
    pub has_present: bool,
    /// An extension that ties data to its region whatever others release.
    pub has_hold: bool,
    /// Indivisible accesses directly in the code of teams.
    pub takes_atomic_in_teams: bool,
    /// Parts of arrays with a stride in updates.
    pub takes_strides: bool,
    /// Updates of parts of arrays that lie apart, such as some columns of some rows.
    pub moves_blocks: bool,
    /// Lanes are worth naming: they are filled by loops that say so, and by no others.
    pub names_lanes: bool,
    /// On GPUs lanes of a warp are idle outside of loops that name them.
    pub fills_named_lanes: bool,
    /// Sizes of teams are kept.
    pub keeps_sizes: bool,
    /// The newer word for variables that exist on devices.
    pub says_enter: bool,
    /// Clauses that came with the last versions of levels: `self`, `readonly`, …
    pub takes_newest: bool,
    /// The routine that tells the address of data on a device.
    pub has_mapped_pointer: bool,
    /// Updates of variables that are declared for devices and no other file sees.
    pub updates_hidden: bool,
    /// Regions with reductions may be left for later: its runtime does not come to a stop in them.
    pub defers_sums: bool,
    /// Data regions may choose what they map: `?:`, `&&`, `||`. Without it the compiler breaks off there.
    pub chooses_maps: bool,
}

/// The standards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// The one that says who runs what.
    Prescriptive,
    /// The one that says what may run in any order.
    Descriptive,
}

const STRICT: Profile = Profile {
    name: "openmp-5.2",
    about: "OpenMP 5.2, by the letter",
    reads: Reads::Prescriptive,
    has_present: true,
    has_hold: false,
    takes_atomic_in_teams: false,
    takes_strides: true,
    moves_blocks: true,
    names_lanes: true,
    fills_named_lanes: false,
    keeps_sizes: true,
    says_enter: true,
    takes_newest: true,
    has_mapped_pointer: true,
    updates_hidden: true,
    defers_sums: true,
    chooses_maps: true,
};

const LEVELS: Profile = Profile {
    name: "openacc-3.3",
    about: "OpenACC 3.3, by the letter",
    reads: Reads::Descriptive,
    ..STRICT
};

/// All readers that are known; the first of each standard is the default.
pub static PROFILES: &[Profile] = &[
    STRICT,
    Profile {
        name: "openmp-4.5",
        about: "OpenMP 4.5, by the letter",
        has_mapped_pointer: false,
        has_present: false,
        takes_strides: false,
        says_enter: false,
        ..STRICT
    },
    Profile {
        name: "clang",
        about: "clang 19 and later",
        has_hold: true,
        takes_atomic_in_teams: true,
        takes_strides: false,
        moves_blocks: false,
        says_enter: false,
        names_lanes: false,
        updates_hidden: false,
        defers_sums: false,
        chooses_maps: false,
        ..STRICT
    },
    Profile {
        name: "gcc",
        about: "gcc 12 and later",
        moves_blocks: false,
        fills_named_lanes: true,
        has_mapped_pointer: false,
        has_present: false,
        takes_strides: false,
        says_enter: false,
        ..STRICT
    },
    Profile {
        name: "nvc",
        about: "nvc 24 and later",
        has_mapped_pointer: false,
        has_present: false,
        takes_strides: false,
        says_enter: false,
        names_lanes: false,
        ..STRICT
    },
    LEVELS,
    Profile {
        name: "gcc-acc",
        about: "gcc 12 with -fopenacc (OpenACC 2.6)",
        takes_newest: false,
        ..LEVELS
    },
    Profile { name: "nvc-acc", about: "nvc with -acc", names_lanes: false, ..LEVELS },
];

/// The reader called `name`.
pub fn profile(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|it| it.name == name)
}
