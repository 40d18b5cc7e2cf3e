//! What jobs pay for: checkpoints, and accelerators that wait.

use super::error::{WhatIfError, a_share, above_zero};
use crate::formula;
use crate::sheet::Sheet;
use crate::units::{
    format_about_bytes, format_bps, format_count, format_percent, format_seconds, format_short,
};

/// What a checkpoint holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum State {
    /// So many bytes.
    Bytes(f64),
    /// So many parameters.
    Parameters {
        /// How many.
        count: f64,
        /// Bytes that are kept for each: 2 of bf16 weights alone, 16 with gradients and both moments of Adam in fp32.
        bytes_each: f64,
    },
}

impl State {
    fn bytes(self) -> f64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Parameters { count, bytes_each } => formula::checkpoint_bytes(count, bytes_each),
        }
    }
}

/// What checkpoints cost a job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Checkpoints {
    /// What one holds.
    pub state: State,
    /// Bytes per second at which it is written.
    pub write_bps: f64,
    /// Seconds from the beginning of one to that of the next.
    pub interval_s: f64,
    /// Links over which accelerators copy their state side by side and then go on, and bytes per second of each; `None`
    /// where they stand still until all is written.
    pub copied_over: Option<(u32, f64)>,
    /// Accelerators of the job.
    pub accelerators: u32,
    /// Price of an hour of one, in the asker's currency.
    pub price: Option<f64>,
}

impl Checkpoints {
    /// Writes the arithmetic down.
    ///
    /// # Errors
    /// [`WhatIfError`] for figures that are not above zero, and checkpoints that begin before the last one has ended.
    pub fn answer(&self, sheet: &mut Sheet) -> Result<(), WhatIfError> {
        let (links, link_bps) = self.copied_over.unwrap_or((1, 1.0));
        above_zero(&[
            ("the checkpoint", self.state.bytes()),
            ("the rate of writing", self.write_bps),
            ("the interval", self.interval_s),
            ("the number of links", f64::from(links)),
            ("the rate of a link", link_bps),
            ("the number of accelerators", f64::from(self.accelerators)),
            ("the price", self.price.unwrap_or(1.0)),
        ])?;
        let bytes = self.state.bytes();
        let (size, interval) = (format_about_bytes(bytes), format_seconds(self.interval_s));
        sheet.section("arithmetic", "");
        if let State::Parameters { count, bytes_each } = self.state {
            let sum = format!("{} parameters x {} B = {size}", format_short(count), format_count(bytes_each));
            sheet.by("F46", "size", &sum);
        }
        let write_s = formula::checkpoint_write_s(bytes, self.write_bps);
        let written = format_seconds(write_s);
        sheet.by("F47", "writing", &format!("{size} / {} = {written}", format_bps(self.write_bps)));
        if write_s > self.interval_s {
            return Err(WhatIfError::Impossible {
                why: format!("one is written in {written}, and the next begins after {interval}"),
                hint: format!("leave at least {written} between them, or write faster"),
            });
        }
        let blocked_s = self.copied_over.map_or(write_s, |(links, link_bps)| {
            let copied_s = formula::checkpoint_copy_s(bytes, links, link_bps);
            let (each, copied) = (format_bps(link_bps), format_seconds(copied_s));
            let links = format_count(f64::from(links));
            sheet.by("F48", "copying", &format!("{size} / ({links} x {each}) = {copied}"));
            copied_s
        });
        if blocked_s > self.interval_s {
            let blocked = format_seconds(blocked_s);
            return Err(WhatIfError::Impossible {
                why: format!("one is copied in {blocked}, and the next begins after {interval}"),
                hint: format!("leave at least {blocked} between them, or copy over more or faster links"),
            });
        }
        let overhead = formula::checkpoint_overhead(blocked_s, self.interval_s);
        let (blocked, share) = (format_seconds(blocked_s), format_percent(overhead));
        sheet.by("F49", "standing still", &format!("{blocked} / {interval} = {share} of the time"));
        self.paid(sheet, blocked_s);
        let written_beside = match self.copied_over {
            Some(_) => format!(", and each is at risk for {written} more while it is written"),
            None => String::new(),
        };
        sheet.section("answer", &format!("checkpoints of {size} take {share} of the time{written_beside}"));
        Ok(())
    }

    /// F50: hours of accelerators, and their price.
    fn paid(&self, sheet: &mut Sheet, blocked_s: f64) {
        let hours = formula::checkpoint_hours(self.accelerators, blocked_s);
        let accelerators = format_count(f64::from(self.accelerators));
        let sum = format!(
            "{accelerators} x {} = {} accelerator-hours",
            format_seconds(blocked_s),
            format_count(hours)
        );
        sheet.by("F50", "each costs", &sum);
        if let Some(price) = self.price {
            let each = hours * price;
            let week = formula::checkpoints_per_week_price(each, self.interval_s);
            let sum = format!("{} x {} = {}", format_count(hours), format_count(price), format_count(each));
            sheet.by("F50", "in money", &format!("{sum}; {} a week", format_count(week)));
        }
    }
}

/// Accelerators that wait.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Idle {
    /// Accelerators.
    pub accelerators: u32,
    /// Share of the time that they compute.
    pub utilization: f64,
    /// The share that they could.
    pub reachable: Option<f64>,
    /// Hours.
    pub hours: f64,
    /// Price of an hour of one, in the asker's currency.
    pub price: Option<f64>,
}

impl Idle {
    /// Writes the arithmetic down.
    ///
    /// # Errors
    /// [`WhatIfError`] for figures that are not above zero, and a utilization to reach that is below the one that there is.
    pub fn answer(&self, sheet: &mut Sheet) -> Result<(), WhatIfError> {
        above_zero(&[
            ("the number of accelerators", f64::from(self.accelerators)),
            ("the number of hours", self.hours),
            ("the price", self.price.unwrap_or(1.0)),
        ])?;
        a_share("the utilization", self.utilization)?;
        let best = self.reachable.unwrap_or(1.0);
        a_share("the utilization to reach", best)?;
        if best < self.utilization {
            return Err(WhatIfError::Impossible {
                why: format!(
                    "{} to reach is less than the {} that there are",
                    format_percent(best),
                    format_percent(self.utilization)
                ),
                hint: "the utilization to reach is the higher of both".to_owned(),
            });
        }
        sheet.section("arithmetic", "");
        let lost = self.lost(sheet, "idle", self.utilization);
        if let Some(reachable) = self.reachable {
            let left = self.lost(sheet, "idle even so", reachable);
            let more = formula::extra_time(reachable, self.utilization);
            let sum = format!(
                "{} / {} - 1 = {}",
                format_percent(reachable),
                format_percent(self.utilization),
                format_percent(more)
            );
            sheet.by("F52", "the same job", &format!("{sum} more time than it could take"));
            sheet.section("answer", &self.said(lost - left));
            return Ok(());
        }
        sheet.section("answer", &self.said(lost));
        Ok(())
    }

    /// F51 as a row; returns the hours.
    fn lost(&self, sheet: &mut Sheet, label: &str, utilization: f64) -> f64 {
        let hours = formula::idle_hours(self.accelerators, self.hours, utilization);
        let accelerators = format_count(f64::from(self.accelerators));
        let sum = format!(
            "{accelerators} x {} h x (1 - {})",
            format_count(self.hours),
            format_percent(utilization)
        );
        sheet.by("F51", label, &format!("{sum} = {} accelerator-hours", format_count(hours)));
        hours
    }

    fn said(&self, hours: f64) -> String {
        let said = format!("{} accelerator-hours are lost", format_count(hours));
        match self.price {
            Some(price) => {
                format!("{said}, {} at {} an hour (F51)", format_count(hours * price), format_count(price))
            }
            None => said,
        }
    }
}
