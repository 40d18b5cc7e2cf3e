//! A variant's own process: it measures what its parent asks for, one repetition at a time.

use std::io::BufRead as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};

use engine::{Bench, Turn};
use record::{NotRun, Role, Variant};

use super::protocol::{Answer, Order, PROTOCOL};
use crate::args::{InputArgs, MeasureArgs};
use crate::claim::Claim;
use crate::exit::{Exit, Failure};
use crate::session::{self, Ready, RunKind, Session, Shown};
use crate::{load, output, signals};

/// Follows the orders on standard input until they end. Where they end too early, the parent is gone: what is under way
/// is ended as by a signal, and kept.
pub(crate) fn follow(input: &InputArgs, measure: &MeasureArgs, name: &str) -> Result<Exit, Failure> {
    let stop = signals::stop_flag_within(signals::GRACE)?;
    // Before the greeting: a parent that goes away at once must be noticed.
    let orders = orders(&stop);
    answer(&Answer::Hello { protocol: PROTOCOL, version: env!("CARGO_PKG_VERSION").to_owned() })?;
    let Some((variant, variants, command)) = beginning(&orders, name)? else { return Ok(Exit::Interrupted) };
    let loaded = load::load(input)?;
    // The parent has told of a file that is missing, but where it measures to make one.
    let is_there = loaded.plan.gate.calibration.as_ref().is_some_and(|path| Path::new(path).exists());
    let loaded = if is_there { loaded.with_margins(false)? } else { loaded };
    let stores = session::open(&loaded.plan)?;
    let claim = Claim::WithItsOthers(variant.group.clone());
    let ready = Ready::with(loaded, stores, Shown::of(measure)?, &claim, Arc::clone(&stop))?;
    let kind = RunKind { variant: Some((variant, variants)), command: Some(command), ..RunKind::default() };
    let mut session = Session::begin(&ready, measure.no_redact, kind)?;
    answer(&Answer::Ready { cells: ready.loaded.plan.cells.len() })?;
    let mut is_told = false;
    let interrupted = session.execute(|session, bench| {
        let (left, told) = obey(&ready, &orders, session, bench)?;
        is_told = told;
        Ok(left)
    })?;
    session.leave()?;
    if is_told {
        answer(&Answer::Done)?;
    }
    Ok(if interrupted { Exit::Interrupted } else { Exit::Ok })
}

/// What the parent says, read by a thread of its own: an order to stop comes in the middle of a repetition.
fn orders(stop: &Arc<AtomicBool>) -> Receiver<Result<Order, String>> {
    let (send, orders) = channel();
    let stop = Arc::clone(stop);
    let is_to_end = move || {
        stop.store(true, Ordering::Relaxed);
        if let Err(cause) = signals::end_within_grace() {
            output::say(&format!("what is under way has all the time that it takes to end: {cause}"));
        }
    };
    std::thread::spawn(move || {
        // The end of the input counts as an order to stop: a parent that was killed must leave no child
        // that measures.
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            match serde_json::from_str(&line) {
                Ok(Order::Stop) => is_to_end(),
                order => {
                    let order = order.map_err(|cause| format!("cannot read the order `{line}`: {cause}"));
                    if send.send(order).is_err() {
                        return;
                    }
                }
            }
        }
        is_to_end();
    });
    orders
}

type Beginning = (Variant, u32, Vec<String>);

/// `None` where the parent went away before it said anything.
fn beginning(orders: &Receiver<Result<Order, String>>, name: &str) -> Result<Option<Beginning>, Failure> {
    match orders.recv() {
        Err(_) => Ok(None),
        Ok(Ok(Order::Begin { variant, variants, command })) if variant.name == name => {
            Ok(Some((variant, variants, command)))
        }
        Ok(Ok(order)) => Err(unexpected(&order)),
        Ok(Err(cause)) => Err(Failure::Error(anyhow::anyhow!(cause))),
    }
}

/// Makes what is asked for; returns what was planned and not asked for, and whether the end was ordered.
fn obey(
    ready: &Ready,
    orders: &Receiver<Result<Order, String>>,
    session: &mut Session<'_>,
    bench: &mut Bench<'_>,
) -> Result<(Vec<NotRun>, bool), Failure> {
    let cells = &ready.loaded.plan.cells;
    let mut made = vec![0_u32; cells.len()];
    let (left, is_told) = loop {
        match orders.recv() {
            Ok(Ok(Order::Ceilings)) => {
                let all: Vec<usize> = (0..cells.len()).collect();
                bench.ceilings(&all, &mut |event| session.take(event))?;
            }
            Ok(Ok(Order::Turn { cell, rep, round })) if cell < cells.len() => {
                let turn = Turn { cell, rep, round, again: 0 };
                bench.once(turn, Role::Measure, &mut |event| session.take(event))?;
                made[cell] += 1;
            }
            Ok(Ok(Order::End { left })) => break (left.unwrap_or_else(|| "not asked for".to_owned()), true),
            Ok(Ok(order)) => return Err(unexpected(&order)),
            Ok(Err(cause)) => return Err(Failure::Error(anyhow::anyhow!(cause))),
            Err(_) => break ("interrupted".to_owned(), false),
        }
        answer(&Answer::Done)?;
    };
    let planned = ready.loaded.plan.measure.repetitions;
    let not_run = cells.iter().zip(made).filter(|(_, made)| *made < planned).map(|(cell, made)| NotRun {
        cell: cell.slug.clone(),
        repetitions: planned - made,
        reason: left.clone(),
    });
    Ok((not_run.collect(), is_told))
}

fn unexpected(order: &Order) -> Failure {
    Failure::Error(anyhow::anyhow!(
        "the order {order:?} was not expected here; this process is started by `run`"
    ))
}

/// A parent that is gone does not read: the end of its orders says so too, and what was measured is kept.
fn answer(answer: &Answer) -> Result<(), Failure> {
    let line = serde_json::to_string(answer)?;
    output::print_as_is(format!("{line}\n"))?;
    Ok(())
}
