//! The side of the host: its parts of the loop, which a team around runs as tasks.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::deal::Deal;
use super::side::Sums;
use super::{Arrays, Call};
use crate::error::Error;
use crate::{host, launch, team};

/// Tasks of a part for each thread, so that those who come late find some.
const TASKS: u64 = 2;

/// Runs parts until there are none.
pub(crate) fn run(call: &Call<'_>, deal: &Deal) -> Result<(), Error> {
    let mut arrays = Arrays::of(call.args);
    while let Some((first, last)) = deal.of_host() {
        let began = Instant::now();
        part(call, &mut arrays, (first, last))?;
        deal.did_host(last - first, began.elapsed());
    }
    Ok(())
}

/// Runs all iterations.
pub(crate) fn all(call: &Call<'_>) -> Result<(), Error> {
    part(call, &mut Arrays::of(call.args), (0, call.parts.trips))
}

fn part(call: &Call<'_>, arrays: &mut Arrays, (first, last): (u64, u64)) -> Result<(), Error> {
    let threads = if call.has_team { team::threads() } else { 1 };
    if threads > 1 && last - first > 1 {
        return as_tasks(call, (first, last), threads);
    }
    arrays.run_between(call.parts.ends, call.parts.values(first, last));
    launch::launch_on_host(call.region, &arrays.args())
}

/// Iterations in tasks of the same size, each with sums of its own, which are joined in the order of the iterations.
fn as_tasks(call: &Call<'_>, (first, last): (u64, u64), threads: usize) -> Result<(), Error> {
    let count = (last - first).min((threads as u64).saturating_mul(TASKS));
    let edge =
        |it: u64| first + (u128::from(last - first) * u128::from(it) / u128::from(count)) as u64;
    let sums: Vec<Sums> = (0..count).map(|_| Sums::new(call)).collect();
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    team::each(sums.len(), &|number| {
        let mut arrays = Arrays::of(call.args);
        if let Some(it) = sums.get(number) {
            it.lead(call, &mut arrays);
        }
        let (first, last) = (edge(number as u64), edge(number as u64 + 1));
        arrays.run_between(call.parts.ends, call.parts.values(first, last));
        // Threads of the team run the other tasks.
        let _alone = host::alone();
        if let Err(error) = launch::launch_on_host(call.region, &arrays.args()) {
            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    });
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    sums.iter().for_each(|it| it.join(call));
    Ok(())
}
