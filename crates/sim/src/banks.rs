//! The banks of the scratchpad: one access each per cycle.
//!
//! Requests come in the order of time, so a bank is booked: who comes first is served first, and the rest wait their
//! turn. That is as fair as the round robin of the hardware and needs no retry. The DMA engine walks through the
//! banks as it moves a burst; where it meets a core they win in turns.

/// A burst that the DMA engine moves to or from the scratchpad.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stream {
    /// Cycles in which it moves.
    pub(crate) from: u64,
    pub(crate) until: u64,
    /// Number of the first word.
    pub(crate) word: u32,
    /// Words of each cycle.
    pub(crate) rate: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Banks {
    /// When each can serve again.
    free: Vec<u64>,
    mask: u32,
    /// One for each channel; all are over at `streams_until`.
    streams: Vec<Stream>,
    streams_until: u64,
    /// Who won last where core and stream met, and what streams have lost since they were asked.
    core_wins: bool,
    lost_by_streams: u64,
}

impl Banks {
    pub(crate) fn new(count: u32, channels: u32) -> Banks {
        Banks {
            free: vec![0; count as usize],
            mask: count - 1,
            streams: vec![Stream::default(); channels as usize],
            streams_until: 0,
            core_wins: true,
            lost_by_streams: 0,
        }
    }

    /// Cycles that an access to `word` waits at `time`; the bank is busy for `busy` cycles then.
    #[inline(always)]
    #[allow(clippy::indexing_slicing, reason = "a mask keeps the index in the banks")]
    pub(crate) fn grant(&mut self, word: u32, time: u64, busy: u64) -> u64 {
        let bank = (word & self.mask) as usize;
        let mut start = self.free[bank].max(time);
        if start < self.streams_until {
            start += self.meet_streams(word, start);
        }
        self.free[bank] = start + busy;
        start - time
    }

    /// Cycles that a core loses to streams in this cycle.
    #[cold]
    fn meet_streams(&mut self, word: u32, time: u64) -> u64 {
        let mask = self.mask;
        let meets = self.streams.iter().any(|it| {
            let moving = (it.from..it.until).contains(&time);
            let first =
                it.word.wrapping_add(((time.saturating_sub(it.from)) as u32).wrapping_mul(it.rate));
            moving && word.wrapping_sub(first) & mask < it.rate
        });
        if !meets {
            return 0;
        }
        self.core_wins = !self.core_wins;
        if self.core_wins {
            self.lost_by_streams += 1;
        }
        u64::from(!self.core_wins)
    }

    /// A channel moves a burst.
    pub(crate) fn set_stream(&mut self, channel: usize, stream: Stream) {
        if let Some(it) = self.streams.get_mut(channel) {
            *it = stream;
        }
        self.streams_until = self.streams.iter().map(|it| it.until).max().unwrap_or(0);
    }

    /// Cycles that streams have lost to cores since this was last asked.
    pub(crate) fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost_by_streams)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_banks_serve_at_once_and_one_bank_in_turn() {
        let mut banks = Banks::new(16, 1);
        let spread: Vec<u64> = (0..8).map(|it| banks.grant(it, 5, 1)).collect();
        assert_eq!(spread, [0; 8]);
        let same: Vec<u64> = (0..8).map(|it| banks.grant(16 * it, 10, 1)).collect();
        assert_eq!(same, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(banks.grant(0, 18, 1), 0, "all were served");
    }

    #[test]
    fn an_atomic_access_keeps_its_bank() {
        let mut banks = Banks::new(16, 1);
        assert_eq!(banks.grant(3, 0, 2), 0);
        assert_eq!(banks.grant(3, 0, 1), 2);
    }

    #[test]
    fn cores_and_a_stream_win_in_turns() {
        let mut banks = Banks::new(16, 1);
        banks.set_stream(0, Stream { from: 10, until: 20, word: 0, rate: 2 });
        assert_eq!(banks.grant(4, 10, 1), 0, "the stream is elsewhere");
        assert_eq!(banks.grant(0, 10, 1), 1, "it is here");
        assert_eq!(banks.grant(3, 11, 1), 0, "the core wins now");
        assert_eq!(banks.take_lost(), 1);
        assert_eq!(banks.grant(0, 20, 1), 0, "the stream is over");
    }
}
