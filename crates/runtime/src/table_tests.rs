//! The table against rules written out, and against a model that looks at every byte.

use super::*;
use proptest::prelude::*;

fn table(ranges: &[(usize, usize, usize)]) -> Table {
    let mut table = Table::default();
    for (base, begin, size) in ranges {
        let device = DevicePtr(*begin as u64 + 0x1000);
        table.insert(Mapped { device, ..Mapped::new(*base, *begin, *size, Counter::Dynamic) });
    }
    table
}

#[track_caller]
fn check(table: &Table, at: usize, size: usize, expect: Option<(usize, Fit)>) {
    let found = table.find(at, size).map(|(mapped, fit)| (mapped.begin, fit));
    assert_eq!(found, expect, "{size} bytes at {at}");
}

#[test]
fn a_range_is_found_by_its_bytes() {
    let table = table(&[(100, 100, 10), (120, 120, 10)]);
    check(&table, 100, 10, Some((100, Fit::Contained)));
    check(&table, 109, 1, Some((100, Fit::Contained)));
    check(&table, 110, 10, None);
    check(&table, 105, 6, Some((100, Fit::Partial)));
    check(&table, 115, 6, Some((120, Fit::Partial)));
    check(&table, 115, 30, Some((120, Fit::Partial)));
    check(&table, 130, 5, None);
    check(&table, usize::MAX - 1, 5, None);
}

#[test]
fn no_bytes_are_found_by_the_base_too() {
    let table = table(&[(100, 140, 24), (300, 300, 8)]);
    check(&table, 140, 0, Some((140, Fit::Contained)));
    check(&table, 100, 0, Some((140, Fit::Contained)));
    check(&table, 164, 0, None);
    check(&table, 99, 0, None);
    check(&table, 300, 0, Some((300, Fit::Contained)));
}

#[test]
fn addresses_before_a_range_translate_too() {
    let mapped = Mapped { device: DevicePtr(50), ..Mapped::new(0, 100, 8, Counter::Dynamic) };
    assert_eq!(mapped.translate(104), DevicePtr(54));
    assert_eq!(mapped.translate(90), DevicePtr(40));
}

#[test]
fn delete_resets_the_dynamic_count_only() {
    let mut mapped = Mapped::new(0, 0, 8, Counter::Hold);
    mapped.acquire(Counter::Dynamic);
    mapped.acquire(Counter::Dynamic);
    assert!(!mapped.release(Counter::Dynamic, true, true), "still held");
    assert!(!mapped.is_unreferenced());
    assert!(mapped.release(Counter::Hold, false, true));
    assert!(mapped.is_unreferenced());
}

#[test]
fn an_infinite_count_stays() {
    let mut mapped = Mapped::permanent(0, 8, DevicePtr(8));
    mapped.acquire(Counter::Dynamic);
    assert!(!mapped.release(Counter::Dynamic, true, true));
    assert!(!mapped.release(Counter::Dynamic, false, true));
    assert_eq!(mapped.dynamic, INFINITE);
}

#[test]
fn a_count_never_falls_below_zero() {
    let mut mapped = Mapped::new(0, 0, 8, Counter::Dynamic);
    assert!(mapped.release(Counter::Dynamic, false, true));
    assert!(!mapped.release(Counter::Dynamic, false, true));
    assert_eq!(mapped.dynamic, 0);
}

/// A step of a random program on 64 bytes of memory.
#[derive(Clone, Copy, Debug)]
enum Step {
    Map { at: usize, size: usize, hold: bool },
    Unmap { at: usize, size: usize, hold: bool, delete: bool },
    Find { at: usize, size: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let place = (0usize..64, 0usize..12);
    prop_oneof![
        (place.clone(), any::<bool>()).prop_map(|((at, size), hold)| Step::Map { at, size, hold }),
        (place.clone(), any::<bool>(), any::<bool>())
            .prop_map(|((at, size), hold, delete)| { Step::Unmap { at, size, hold, delete } }),
        place.prop_map(|(at, size)| Step::Find { at, size }),
    ]
}

/// The model: a list, looked through from end to end. Counts are numbers written out.
#[derive(Default)]
struct Model(Vec<(usize, usize, [u64; 2])>);

impl Model {
    fn find(&self, at: usize, size: usize) -> Option<(usize, Fit)> {
        let bytes = at..at + size.max(1);
        let touched: Vec<_> =
            self.0.iter().filter(|it| it.0 < bytes.end && bytes.start < it.1).collect();
        // With several of them the one that holds the first byte counts, else the lowest.
        let found = touched.iter().find(|it| it.0 <= at && at < it.1);
        let found = found.or_else(|| touched.iter().min_by_key(|it| it.0))?;
        let is_inside = found.0 <= bytes.start && bytes.end <= found.1;
        Some((found.0, if is_inside { Fit::Contained } else { Fit::Partial }))
    }
}

proptest! {
    #[test]
    fn random_programs_agree_with_the_model(steps in proptest::collection::vec(step(), 0..60)) {
        let mut table = Table::default();
        let mut model = Model::default();
        for step in steps {
            match step {
                Step::Find { at, size } => {
                    let found = table.find(at, size).map(|(it, fit)| (it.begin, fit));
                    prop_assert_eq!(found, model.find(at, size));
                }
                Step::Map { at, size, hold } => {
                    let counter = if hold { Counter::Hold } else { Counter::Dynamic };
                    let found = table.find(at, size).map(|(it, fit)| (it.begin, fit));
                    prop_assert_eq!(found, model.find(at, size));
                    match found {
                        None if size > 0 => {
                            table.insert(Mapped::new(at, at, size, counter));
                            let counts = if hold { [0, 1] } else { [1, 0] };
                            model.0.push((at, at + size, counts));
                        }
                        Some((begin, Fit::Contained)) => {
                            table.get_mut(begin).unwrap().acquire(counter);
                            let row = model.0.iter_mut().find(|it| it.0 == begin).unwrap();
                            row.2[usize::from(hold)] += 1;
                        }
                        Some((_, Fit::Partial)) | None => {}
                    }
                }
                Step::Unmap { at, size, hold, delete } => {
                    let counter = if hold { Counter::Hold } else { Counter::Dynamic };
                    let found = table.find(at, size).map(|(it, fit)| (it.begin, fit));
                    let Some((begin, Fit::Contained)) = found else { continue };
                    let mapped = table.get_mut(begin).unwrap();
                    let is_last = mapped.release(counter, delete, true);
                    let is_gone = mapped.is_unreferenced();
                    let row = model.0.iter_mut().find(|it| it.0 == begin).unwrap();
                    let (mine, other) = (usize::from(hold), usize::from(!hold));
                    prop_assert_eq!(is_last, row.2[other] == 0 && (delete || row.2[mine] == 1));
                    row.2[mine] = if delete { 0 } else { row.2[mine].saturating_sub(1) };
                    prop_assert_eq!(is_gone, row.2 == [0, 0]);
                    if is_gone {
                        table.remove(begin);
                        model.0.retain(|it| it.0 != begin);
                    }
                }
            }
            prop_assert_eq!(table.iter().count(), model.0.len());
        }
    }
}
