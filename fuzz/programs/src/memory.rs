//! What is where: objects of a program with the host's values and a device's copies, as the standards say.
//!
//! Everything is kept twice: for a device with memory of its own, and for one that shares the host's.
//! A value that no rule fixes (memory that was only allocated) is `None`.

/// A value of the host where the device has memory of its own, and where it shares the host's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Value {
    /// The device has memory of its own.
    pub apart: Option<i64>,
    /// Host and device share memory.
    pub shared: Option<i64>,
}

impl Value {
    /// Known, and the same for both.
    pub(crate) fn known(it: i64) -> Self {
        Value { apart: Some(it), shared: Some(it) }
    }

    /// Known for both.
    pub(crate) fn both(self) -> Option<(i64, i64)> {
        Some((self.apart?, self.shared?))
    }
}

/// An array, or a scalar as an array of one.
pub(crate) struct Object {
    /// The host's values.
    pub host: Vec<Value>,
    /// The device's, of devices with memory of their own.
    copy: Vec<Option<i64>>,
    /// First element on the device and the one behind the last.
    pub range: Option<(usize, usize)>,
    /// How many maps hold it there.
    pub count: u32,
}

impl Object {
    /// An object that is on the host only.
    pub(crate) fn new(values: &[i64]) -> Self {
        Object {
            host: values.iter().map(|it| Value::known(*it)).collect(),
            copy: vec![None; values.len()],
            range: None,
            count: 0,
        }
    }

    /// A map of these elements begins.
    pub(crate) fn enter(&mut self, low: usize, high: usize, to: bool, always: bool) {
        let new = self.range.is_none();
        if new {
            self.range = Some((low, high));
            self.copy[low..high].fill(None);
        }
        self.count += 1;
        if to && (new || always) {
            self.send(low..high);
        }
    }

    /// A map of these elements ends.
    pub(crate) fn leave(
        &mut self,
        low: usize,
        high: usize,
        from: bool,
        always: bool,
        delete: bool,
    ) {
        if self.range.is_none() {
            return;
        }
        self.count = if delete { 0 } else { self.count.saturating_sub(1) };
        if from && (self.count == 0 || always) {
            self.fetch(low..high);
        }
        if self.count == 0 {
            self.range = None;
        }
    }

    /// Elements are copied to the device.
    pub(crate) fn send(&mut self, elements: impl Iterator<Item = usize>) {
        for at in elements {
            self.copy[at] = self.host[at].apart;
        }
    }

    /// Elements are copied from the device.
    pub(crate) fn fetch(&mut self, elements: impl Iterator<Item = usize>) {
        for at in elements {
            self.host[at].apart = self.copy[at];
        }
    }

    /// What a kernel reads.
    pub(crate) fn read(&self, at: usize) -> Value {
        Value { apart: self.copy[at], shared: self.host[at].shared }
    }

    /// What a kernel writes.
    pub(crate) fn write(&mut self, at: usize, value: Value) {
        self.copy[at] = value.apart;
        self.host[at].shared = value.shared;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_map_copies_to_the_device_and_only_the_last_back() {
        let mut it = Object::new(&[1, 2, 3]);
        it.enter(0, 2, true, false);
        it.host[0] = Value::known(10);
        it.enter(0, 2, true, false);
        assert_eq!(it.read(0), Value { apart: Some(1), shared: Some(10) });
        it.write(0, Value::known(20));
        it.leave(0, 2, true, false, false);
        assert_eq!(it.host[0], Value { apart: Some(10), shared: Some(20) });
        it.leave(0, 2, true, false, false);
        assert_eq!(it.host[0], Value::known(20));
        assert_eq!(it.range, None);
    }

    #[test]
    fn allocated_memory_has_no_value() {
        let mut it = Object::new(&[1]);
        it.enter(0, 1, false, false);
        assert_eq!(it.read(0), Value { apart: None, shared: Some(1) });
        it.leave(0, 1, true, false, true);
        assert_eq!(it.host[0], Value { apart: None, shared: Some(1) });
    }
}
