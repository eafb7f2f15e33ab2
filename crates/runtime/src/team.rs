//! The team of the calling thread: what it has to do in parts, as tasks that the threads of its team run with it.
#![allow(unsafe_code, reason = "functions of another library, by name")]

use std::ffi::{c_int, c_long, c_uint, c_void};
use std::mem;
use std::sync::OnceLock;

use crate::{fork, host};

type Body = unsafe extern "C" fn(*mut c_void);
type Make = unsafe extern "C" fn(
    Body,
    *mut c_void,
    *const c_void,
    c_long,
    c_long,
    bool,
    c_uint,
    *mut *mut c_void,
    c_int,
    *mut c_void,
);
type Call = unsafe extern "C" fn();
type Count = unsafe extern "C" fn() -> c_int;

/// What is needed of it.
#[derive(Clone, Copy)]
struct Tasks {
    make: Make,
    begin: Call,
    end: Call,
    threads: Count,
}

fn tasks() -> Option<Tasks> {
    static TASKS: OnceLock<Option<Tasks>> = OnceLock::new();
    // SAFETY: functions of these names have these types in every runtime that has them.
    *fork::once(&TASKS, || unsafe {
        Some(Tasks {
            make: mem::transmute::<*mut c_void, Make>(host::find(c"GOMP_task")?),
            begin: mem::transmute::<*mut c_void, Call>(host::find(c"GOMP_taskgroup_start")?),
            end: mem::transmute::<*mut c_void, Call>(host::find(c"GOMP_taskgroup_end")?),
            threads: mem::transmute::<*mut c_void, Count>(host::find(c"omp_get_num_threads")?),
        })
    })
}

/// How many threads the calling one has beside it, with it; one if they could not help.
pub(crate) fn threads() -> usize {
    // SAFETY: a function of the runtime that takes nothing.
    tasks().map_or(1, |it| usize::try_from(unsafe { (it.threads)() }).unwrap_or(1).max(1))
}

/// Calls `run` for each number below `count`, each as a task of the calling thread's team; returns when all are done.
pub(crate) fn each(count: usize, run: &(dyn Fn(usize) + Sync)) {
    let Some(tasks) = tasks().filter(|_| count > 1) else { return (0..count).for_each(run) };
    /// What a task is given.
    #[repr(C)]
    struct One<'a> {
        run: &'a (dyn Fn(usize) + Sync),
        number: usize,
    }
    unsafe extern "C" fn body(one: *mut c_void) {
        let _inside = host::enter_task();
        // SAFETY: the copy that the runtime has made of what it was given below.
        let one = unsafe { &*one.cast::<One<'_>>() };
        (one.run)(one.number);
    }
    // SAFETY: the group has ended when this returns, so what tasks borrow is there while they run; they are given a copy of so many
    // bytes, so aligned.
    unsafe {
        (tasks.begin)();
        for number in 0..count {
            let mut one = One { run, number };
            (tasks.make)(
                body,
                (&raw mut one).cast(),
                std::ptr::null(),
                size_of::<One<'_>>() as c_long,
                align_of::<One<'_>>() as c_long,
                true,
                0,
                std::ptr::null_mut(),
                0,
                std::ptr::null_mut(),
            );
        }
        (tasks.end)();
    }
}
