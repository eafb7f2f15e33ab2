//! Clauses and directives that are recommended to the user, in the words of the standard he writes in.

use ir::construct::{
    Args, Clause, ClauseKind, Construct, Dialect, Leaf, Map, MapFlags, Motion, Presence, Rules,
    Spelled,
};
use source::Span;

use crate::write::{self, standard};

/// The clause that maps an item so, on a directive made of these leaves.
pub fn map_clause(leaves: &[Leaf], motion: Motion, item: &str, dialect: Dialect) -> Option<String> {
    let standard = standard(dialect)?;
    let heading = standard.heading(leaves)?;
    let allowed = heading.clauses(standard);
    write::write_clause(&map(motion, item), &heading, &allowed, standard).ok()
}

/// A data region that maps an item so: the whole line.
pub fn data_region(motion: Motion, item: &str, dialect: Dialect) -> Option<String> {
    let construct = Construct {
        dialect,
        leaves: vec![Leaf::DataRegion],
        args: Args::None,
        clauses: vec![map(motion, item)],
        groups: Vec::new(),
        rules: Rules::NONE,
        span: Span::NONE,
    };
    write::write(&construct, dialect).ok().map(|it| format!("#pragma {it}"))
}

fn map(motion: Motion, item: &str) -> Clause<Spelled> {
    let kind = ClauseKind::Map(Map {
        motion,
        presence: Presence::Any,
        flags: MapFlags::default(),
        mapper: None,
        iterators: Vec::new(),
        items: vec![item.to_owned()],
    });
    Clause { kind, on: None, group: None, switch: None, span: Span::NONE }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OPENACC, OPENMP};

    #[test]
    fn advice_is_spelt_as_the_user_spells() {
        let on = |leaves: &[Leaf], motion, dialect| map_clause(leaves, motion, "a[0:n]", dialect);
        let target = [Leaf::Offload, Leaf::Teams];
        assert_eq!(on(&target, Motion::To, OPENMP).as_deref(), Some("map(to: a[0:n])"));
        assert_eq!(on(&target, Motion::Alloc, OPENMP).as_deref(), Some("map(alloc: a[0:n])"));
        assert_eq!(on(&[Leaf::Kernels], Motion::To, OPENACC).as_deref(), Some("copyin(a[0:n])"));
        assert_eq!(on(&[Leaf::Kernels], Motion::Alloc, OPENACC).as_deref(), Some("create(a[0:n])"));
        let data = |dialect| data_region(Motion::From, "a", dialect);
        assert_eq!(data(OPENMP).as_deref(), Some("#pragma omp target data map(from: a)"));
        assert_eq!(data(OPENACC).as_deref(), Some("#pragma acc data copyout(a)"));
    }
}
