//! Waiting until a point in time, by `timerfd`: the runtime's own timer counts milliseconds and rounds up.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::unix::AsyncFd;

use crate::clock;

#[derive(Default)]
struct Queue {
    /// Tasks that wait, by their time and then by their number.
    waiting: BTreeMap<(u64, u64), Waker>,
    /// How many tasks have waited.
    number: u64,
}

/// The timer of one runtime.
pub(crate) struct Timer {
    fd: AsyncFd<OwnedFd>,
    queue: Mutex<Queue>,
}

impl Timer {
    /// Makes the timer of the runtime that this is called in.
    pub(crate) fn start() -> io::Result<Arc<Self>> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let fd = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        // SAFETY: the descriptor was just made, is owned by the `AsyncFd` from here on and never leaves it.
        let fd = unsafe { AsyncFd::register(fd) }?;
        let timer = Arc::new(Self { fd, queue: Mutex::default() });
        let driver = Arc::clone(&timer);
        // It ends with the runtime, which drops its tasks.
        tokio::spawn(async move { driver.drive().await });
        Ok(timer)
    }

    /// Waits until `due_ns` of the monotonic clock.
    pub(crate) fn until(self: &Arc<Self>, due_ns: u64) -> Until {
        Until { timer: Arc::clone(self), due_ns, waits: false }
    }

    async fn drive(&self) {
        let mut expirations = [0_u8; 8];
        while let Ok(mut ready) = self.fd.readable().await {
            // What was read does not matter: the queue says who is due.
            let _ = rustix::io::read(self.fd.get_ref(), &mut expirations);
            ready.clear_ready();
            self.wake_due();
        }
    }

    fn wake_due(&self) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let now_ns = clock::now_ns();
        while let Some(first) = queue.waiting.first_entry() {
            let (due_ns, _) = *first.key();
            if due_ns > now_ns {
                // A timerfd fires once; the next one is set when the one before has fired.
                self.arm(due_ns);
                break;
            }
            first.remove().wake();
        }
    }

    fn wait(&self, due_ns: u64, waker: Waker) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.number += 1;
        let key = (due_ns, queue.number);
        queue.waiting.insert(key, waker);
        // Armed again only for who is now first; the others wait behind a time that is set.
        if queue.waiting.first_key_value().is_some_and(|(first, _)| *first == key) {
            self.arm(due_ns);
        }
    }

    fn arm(&self, due_ns: u64) {
        let at = Timespec {
            tv_sec: (due_ns / 1_000_000_000).cast_signed(),
            tv_nsec: (due_ns % 1_000_000_000).cast_signed(),
        };
        // Absolute: what passes until it is armed is not added.
        let once = Itimerspec { it_interval: Timespec::default(), it_value: at };
        // It fails only for a time that is none, or a descriptor that is no timer.
        let _ = timerfd_settime(self.fd.get_ref(), TimerfdTimerFlags::ABSTIME, &once);
    }
}

/// See [`Timer::until`].
pub(crate) struct Until {
    timer: Arc<Timer>,
    due_ns: u64,
    waits: bool,
}

impl Future for Until {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if clock::now_ns() >= self.due_ns {
            return Poll::Ready(());
        }
        // A task that moves its future to another task would be woken in vain once; none here does.
        if !self.waits {
            self.timer.wait(self.due_ns, cx.waker().clone());
            self.waits = true;
        }
        Poll::Pending
    }
}
