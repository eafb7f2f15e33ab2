//! Kinds of remarks; `docs/diagnostics.md` has what to do about each.

/// It has no counterpart.
pub(super) const NO_COUNTERPART: &str = "F0801";
/// Absent data would be made.
pub(super) const MADE_IF_ABSENT: &str = "F0803";
/// Sizes are left to the device.
pub(super) const SIZES: &str = "F0804";
/// A loop runs in order.
pub(super) const IN_ORDER: &str = "F0805";
/// Data may be released while it is held.
pub(super) const RELEASED: &str = "F0806";
/// What would be queued is done at once.
pub(super) const AT_ONCE: &str = "F0807";
/// The place of a directive is made by a macro.
pub(super) const MADE_BY_MACRO: &str = "F0808";
/// Advice is dropped.
pub(super) const ADVICE: &str = "F0809";
/// Tiles become one loop.
pub(super) const TILES: &str = "F0810";
/// Data is mapped as far as it is touched.
pub(super) const TOUCHED: &str = "F0811";
/// Pointers are detached with their data.
pub(super) const DETACHED: &str = "F0812";
/// Devices are ready when they are used.
pub(super) const DEVICES_READY: &str = "F0813";
/// A type of device is not known.
pub(super) const DEVICE_TYPE: &str = "F0814";
/// The other runtime has no such call.
pub(super) const NO_CALL: &str = "F0815";
/// Presence is not looked for.
pub(super) const NOT_LOOKED_FOR: &str = "F0816";
/// Its reader breaks off at a choice within what a data region maps.
pub(super) const CHOSEN_MAPS: &str = "F0819";
/// Loops are mapped otherwise than written.
pub(super) const MAPPED: &str = "F0850";
/// Loops are mapped as written although another mapping costs less.
pub(super) const MAPPED_AS_WRITTEN: &str = "F0851";
/// Threads of devices meet, count themselves, or take turns.
pub(super) const THREADS: &str = "F0831";
/// A copy for each thread keeps a value from one iteration to another, or to the end.
pub(super) const COPIES: &str = "F0832";
/// One thread at a time, for more than one access.
pub(super) const EXCLUSIVE: &str = "F0833";
/// Fewer loops become one.
pub(super) const COLLAPSED: &str = "F0834";
/// Lanes that must keep a distance run in order.
pub(super) const DISTANCE: &str = "F0835";
/// Who waits for whom.
pub(super) const ORDER: &str = "F0836";
/// Device code inside of threads of the host.
pub(super) const INSIDE_HOST: &str = "F0837";
/// A choice that depends on who compiles.
pub(super) const CHOICE: &str = "F0838";
/// All teams change one copy.
pub(super) const ONE_FOR_TEAMS: &str = "F0839";
/// The order of other accesses around an indivisible one.
pub(super) const MEMORY_ORDER: &str = "F0840";
/// Another part of the same device code is refused.
pub(super) const SPOILED: &str = "F0841";
/// One team runs a construct whose teams would share a loop of a function.
pub(super) const ONE_TEAM: &str = "F0842";
/// Variables of the environment.
pub(super) const ENVIRONMENT: &str = "F0844";
/// A call of the header knows less than the runtime did.
pub(super) const KNOWS_LESS: &str = "F0843";
