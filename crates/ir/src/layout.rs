//! Sizes, alignments and offsets: questions to a data model.

/// How C types are laid out on a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataModel {
    /// Its name, as users write it.
    pub name: &'static str,
}

/// 64-bit Unix: `long` and pointers have 64 bits.
pub static LP64: DataModel = DataModel { name: "lp64" };
