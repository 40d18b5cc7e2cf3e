//! When a request passes the points that the SDK shows of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};

use aws_sdk_s3::config::interceptors::{
    BeforeDeserializationInterceptorContextRef, BeforeTransmitInterceptorContextRef,
};
use aws_sdk_s3::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_s3::error::BoxError;
use backend::Clock;

/// When the phases of an operation ended, in nanoseconds, whichever of its requests was first; 0 before.
#[derive(Debug, Default)]
pub(super) struct Marks {
    pub(super) sent: AtomicU64,
    pub(super) headers: AtomicU64,
    pub(super) first_byte: AtomicU64,
}

pub(super) fn mark(at: &AtomicU64, clock: &Clock) {
    if at.load(Ordering::Relaxed) == 0 {
        // The first of the requests of an operation sets the mark; the others find it set.
        let _ = at.compare_exchange(0, clock.now_ns().max(1), Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// Sees a request when it is signed and handed to the HTTP client, and the status of its reply.
#[derive(Debug)]
pub(super) struct Probe {
    marks: Arc<Marks>,
    clock: Clock,
    pub(super) status: Arc<AtomicU16>,
}

impl Probe {
    pub(super) fn new(marks: &Arc<Marks>, clock: &Clock) -> Self {
        Self { marks: Arc::clone(marks), clock: clock.clone(), status: Arc::default() }
    }
}

impl Intercept for Probe {
    fn name(&self) -> &'static str {
        "Probe"
    }

    fn read_before_transmit(
        &self,
        _: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        // The SDK shows no later moment: signed and handed over, and not yet written to the socket.
        mark(&self.marks.sent, &self.clock);
        Ok(())
    }

    fn read_after_transmit(
        &self,
        reply: &BeforeDeserializationInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        self.status.store(reply.response().status().as_u16(), Ordering::Relaxed);
        Ok(())
    }
}
