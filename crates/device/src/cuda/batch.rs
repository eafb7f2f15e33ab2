//! Small kernels of regions that nobody waits for, handed to the driver several at a time.
//!
//! To start a kernel takes the driver several microseconds, many times what it takes to say which one: so
//! the kernels of a burst are put into a graph of the driver that is kept for its stream, and the graph is
//! started, at the latest when somebody waits or the stream is used for something else. A thread
//! ([`Keeper`]) starts what has lain for a while, so that no kernel waits for the host to come back.
//!
//! Kernels of one batch run in any order, or each after the one before: there is a graph for either.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use cudarc::driver::sys::{
    self, CUDA_KERNEL_NODE_PARAMS, CUcontext, CUfunction, CUgraphExec, CUgraphNode, CUstream,
};

use super::driver::check;
use crate::gpu::pool::Order;
use crate::{DeviceError, Result};

/// The first version of CUDA whose driver can do this, as the driver counts.
const OLDEST: i32 = 12_000;

/// So many kernels are started together.
const MOST: usize = 16;

/// So many of them may run at the same time: the driver takes longer for more.
const AT_ONCE: usize = 4;

/// A kernel that is to be started.
#[derive(Debug)]
pub(super) struct Start<'a> {
    pub(super) kernel: CUfunction,
    pub(super) blocks: u32,
    pub(super) threads: u32,
    /// Words of 8 bytes, as the kernel takes them.
    pub(super) args: &'a [u64],
    /// With others of its batch.
    pub(super) order: Order,
}

/// The kernels of a stream that the driver has not been told to start.
#[derive(Debug)]
pub(super) struct Batch {
    stream: CUstream,
    /// Something was added since the last [`Batch::finish`]; most streams have no batch to look at.
    is_used: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// For kernels that run in any order, and for chains of them.
    graphs: [Option<Graph>; 2],
    /// How many kernels wait, in the first nodes of the graph of that order.
    waiting: usize,
    order: Option<Order>,
    /// The keeper has seen that something waits.
    is_seen: bool,
    /// What went wrong when nobody was there to be told.
    failure: Option<DeviceError>,
}

impl State {
    /// The graph for what waits.
    fn graph(&mut self) -> &mut Option<Graph> {
        let [any, chain] = &mut self.graphs;
        if self.order == Some(Order::Chain) { chain } else { any }
    }
}

/// A graph that can be started again and again.
#[derive(Debug)]
struct Graph {
    handle: CUgraphExec,
    nodes: [CUgraphNode; MOST],
    /// So many of the first nodes are switched on.
    enabled: usize,
}

// SAFETY: handles of the driver, which takes care of threads; the graph is behind a lock.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Send for Batch {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Sync for Batch {}

impl Batch {
    pub(super) fn new(stream: CUstream) -> Batch {
        Batch { stream, is_used: AtomicBool::new(false), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether something waits that more can be added to.
    pub(super) fn is_open(&self) -> bool {
        self.state().waiting > 0
    }

    /// Adds a kernel; false if the driver does not take it so. The context is current.
    pub(super) fn add(&self, start: &Start<'_>) -> bool {
        let mut state = self.state();
        if state.order != Some(start.order) {
            self.start_all(&mut state);
            state.order = Some(start.order);
        }
        let place = state.waiting;
        let added = with_node(start, |node| match state.graph() {
            Some(graph) => graph.set(place, node),
            none => Graph::make(node, start.order).map(|graph| *none = Some(graph)),
        });
        if added.is_err() {
            return false;
        }
        if place == 0 {
            state.is_seen = false;
        }
        state.waiting += 1;
        self.is_used.store(true, Ordering::Release);
        if state.waiting == MOST {
            self.start_all(&mut state);
        }
        true
    }

    /// Starts what waits. The context is current.
    pub(super) fn flush(&self) {
        if self.is_used.load(Ordering::Acquire) {
            self.start_all(&mut self.state());
        }
    }

    /// The same, and what went wrong.
    pub(super) fn finish(&self) -> Result<()> {
        if !self.is_used.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut state = self.state();
        self.start_all(&mut state);
        self.is_used.store(false, Ordering::Release);
        state.failure.take().map_or(Ok(()), Err)
    }

    fn start_all(&self, state: &mut State) {
        let count = std::mem::take(&mut state.waiting);
        let Some(graph) = state.graph().as_mut().filter(|_| count > 0) else { return };
        if let Err(error) = graph.start(count, self.stream) {
            state.failure.get_or_insert(error);
        }
    }

    /// Starts what waited at the last look too. Whether anything waits or waited.
    fn look(&self) -> bool {
        let mut state = self.state();
        if state.waiting == 0 {
            return false;
        }
        if std::mem::replace(&mut state.is_seen, true) {
            self.start_all(&mut state);
        }
        true
    }
}

/// A kernel in the driver's words.
fn with_node<T>(start: &Start<'_>, act: impl FnOnce(&CUDA_KERNEL_NODE_PARAMS) -> T) -> T {
    let mut bytes = start.args.len() * 8;
    let mut extra: [*mut c_void; 5] = super::arguments(start.args, &mut bytes);
    let extra = if start.args.is_empty() { ptr::null_mut() } else { extra.as_mut_ptr() };
    act(&CUDA_KERNEL_NODE_PARAMS {
        func: start.kernel,
        gridDimX: start.blocks,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: start.threads,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        kernelParams: ptr::null_mut(),
        extra,
        kern: ptr::null_mut(),
        ctx: ptr::null_mut(),
    })
}

#[allow(unsafe_code, reason = "asks the driver")]
impl Graph {
    /// A graph with this kernel everywhere; each place can get another.
    fn make(kernel: &CUDA_KERNEL_NODE_PARAMS, order: Order) -> Result<Graph> {
        let what = "making a graph of kernels";
        let (mut graph, mut handle) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: writes one handle.
        check(what, unsafe { sys::cuGraphCreate(&raw mut graph, 0) })?;
        let at_once = if order == Order::Chain { 1 } else { AT_ONCE };
        let mut nodes = [ptr::null_mut(); MOST];
        let mut made = Ok(());
        for place in 0..MOST {
            let before = place.checked_sub(at_once).and_then(|it| nodes.get(it)).copied();
            let before = before.as_slice();
            let mut node = ptr::null_mut();
            // SAFETY: a graph and nodes of it, made above; the driver copies kernel and arguments.
            let code = unsafe {
                sys::cuGraphAddKernelNode_v2(
                    &raw mut node,
                    graph,
                    before.as_ptr(),
                    before.len(),
                    kernel,
                )
            };
            made = made.and(check(what, code));
            if let Some(place) = nodes.get_mut(place) {
                *place = node;
            }
        }
        // SAFETY: a graph; writes one handle. It is kept: its nodes name those of what is made of it.
        let ready = |it: &mut _| unsafe { sys::cuGraphInstantiateWithFlags(it, graph, 0) };
        made.and_then(|()| check(what, ready(&mut handle)))?;
        Ok(Graph { handle, nodes, enabled: MOST })
    }

    /// Puts a kernel into a place.
    fn set(&mut self, place: usize, kernel: &CUDA_KERNEL_NODE_PARAMS) -> Result<()> {
        let what = "changing a graph of kernels";
        let Some(node) = self.nodes.get(place) else {
            return Err(DeviceError::Failed("a batch of kernels is too long".into()));
        };
        // SAFETY: a node of that graph; what was started before stays as it was.
        check(what, unsafe { sys::cuGraphExecKernelNodeSetParams_v2(self.handle, *node, kernel) })
    }

    /// Starts the first `count` kernels.
    fn start(&mut self, count: usize, stream: CUstream) -> Result<()> {
        let (from, to) = (self.enabled.min(count), self.enabled.max(count));
        let is_on = u32::from(count > self.enabled);
        for node in self.nodes.get(from..to).unwrap_or_default() {
            // SAFETY: a node of that graph.
            let code = unsafe { sys::cuGraphNodeSetEnabled(self.handle, *node, is_on) };
            check("changing a graph of kernels", code)?;
        }
        self.enabled = count;
        // SAFETY: a graph and a stream of the current context.
        check("starting kernels", unsafe { sys::cuGraphLaunch(self.handle, stream) })
    }
}

/// Looks after the batches of a device.
#[derive(Debug)]
pub(super) struct Keeper {
    context: CUcontext,
    batches: Mutex<Vec<Arc<Batch>>>,
    /// The thread that looks; `None` inside: there is none to be had.
    thread: OnceLock<Option<Thread>>,
    /// It sleeps until somebody wakes it.
    sleeps: AtomicBool,
}

// SAFETY: as above.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Send for Keeper {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Sync for Keeper {}

/// So long the thread lets pass between two looks (systems sleep a little longer).
const PATIENCE: Duration = Duration::from_micros(20);

/// It goes to sleep after so many looks at nothing.
const LOOKS: u32 = 200;

impl Keeper {
    /// For a context; `None` where the driver is too old. `driver` as it counts.
    pub(super) fn new(context: CUcontext, driver: i32) -> Option<Arc<Keeper>> {
        (driver >= OLDEST).then(|| {
            Arc::new(Keeper {
                context,
                batches: Mutex::default(),
                thread: OnceLock::new(),
                sleeps: AtomicBool::new(false),
            })
        })
    }

    fn batches(&self) -> MutexGuard<'_, Vec<Arc<Batch>>> {
        self.batches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A batch for a stream.
    pub(super) fn batch(&self, stream: CUstream) -> Arc<Batch> {
        let batch = Arc::new(Batch::new(stream));
        self.batches().push(Arc::clone(&batch));
        batch
    }

    /// Graphs that may name kernels of a module that goes are not used again. The context is current.
    pub(super) fn forget(&self) {
        for batch in self.batches().iter() {
            let mut state = batch.state();
            batch.start_all(&mut state);
            // What was started may still run: the driver keeps it.
            state.graphs = Default::default();
        }
    }

    /// Adds a kernel to a batch, and sees that it is not forgotten; false if it has to be started in
    /// another way.
    pub(super) fn add(self: &Arc<Keeper>, batch: &Batch, start: &Start<'_>) -> bool {
        let thread = self.thread.get_or_init(|| {
            let keeper = Arc::clone(self);
            let builder = thread::Builder::new().name("ferry-kernels".into());
            builder.spawn(move || keeper.look()).ok().map(|it| it.thread().clone())
        });
        let Some(thread) = thread else { return false };
        if !batch.add(start) {
            return false;
        }
        if self.sleeps.swap(false, Ordering::SeqCst) {
            thread.unpark();
        }
        true
    }

    /// Starts all that waits in any stream.
    pub(super) fn flush(&self) {
        let batches = self.batches().clone();
        batches.iter().for_each(|it| it.flush());
    }

    #[allow(unsafe_code, reason = "asks the driver")]
    fn look(&self) {
        // SAFETY: a context that is kept as long as the program runs. Where this fails, so does all below.
        let _ = unsafe { sys::cuCtxSetCurrent(self.context) };
        let mut quiet = 0;
        loop {
            thread::sleep(PATIENCE);
            let mut is_busy = self.look_once();
            quiet = if is_busy { 0 } else { quiet + 1 };
            if quiet < LOOKS {
                continue;
            }
            self.sleeps.store(true, Ordering::SeqCst);
            // Who added something before that did not see it.
            is_busy = self.look_once();
            if !is_busy {
                thread::park();
            }
            self.sleeps.store(false, Ordering::SeqCst);
            quiet = 0;
        }
    }

    fn look_once(&self) -> bool {
        let batches = self.batches().clone();
        batches.iter().filter(|it| it.look()).count() > 0
    }
}
