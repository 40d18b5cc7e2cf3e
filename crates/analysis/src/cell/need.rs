//! The need of the record as a feed line for each cell.

use feed::{
    CheckpointNeed, Demand, Flow, Hold, NEEDS_MAX, Need, Part, Provenance, SaveKind, Scope, Words as _,
};

/// The line of one cell, from the need and the cell's own sample size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineAt {
    /// Bytes of one of this cell's samples.
    pub sample_bytes: f64,
    /// Samples per second at the utilization target: what a verdict compares with.
    pub samples_per_s: f64,
    /// The same in bytes per second of this cell's samples.
    pub bps: f64,
    /// Bytes per second at full utilization: the thin second line.
    pub demand_bps: f64,
    /// Share of these bytes that is written, percent; absent where all of them go one way.
    pub write_percent: Option<u8>,
}

impl LineAt {
    /// The line of `need` for samples of `sample_bytes`; `None` where it asks for no reads.
    pub(crate) fn of(need: &Need, sample_bytes: f64) -> Option<Self> {
        need.asks_rate().then(|| Self {
            sample_bytes,
            samples_per_s: need.line_samples_per_s(sample_bytes),
            bps: need.line_bps(sample_bytes),
            demand_bps: need.demand_bps(sample_bytes),
            write_percent: None,
        })
    }

    /// That of so many times the need.
    pub(crate) fn times(self, times: f64) -> Self {
        Self {
            samples_per_s: self.samples_per_s * times,
            bps: self.bps * times,
            demand_bps: self.demand_bps * times,
            ..self
        }
    }
}

/// Why no line can be drawn from a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoNeed {
    /// It states no rate.
    NotStated,
    /// It has this utilization target, which is not within 0 to 1.
    Utilization(f64),
    /// What it says of checkpoints holds no bytes, no time or no hosts.
    Checkpoint,
}

/// What the need of a record asks for.
pub(crate) fn flow(need: &record::Need) -> Flow {
    Flow::of_need(need.writes, need.write_bytes_per_s.is_some())
}

/// The need that a record states, or why it states none.
pub(crate) fn of_record(need: &record::Need) -> Result<Need, NoNeed> {
    let demand = match (need.samples_per_s, need.sample_bytes, need.bytes_per_s) {
        (Some(per_s), sample_bytes, _) if positive(per_s) => {
            Demand::Samples { per_s, sample_bytes: sample_bytes.unwrap_or(0.0) }
        }
        (_, sample_bytes, Some(per_s)) if positive(per_s) => Demand::Bytes { per_s, sample_bytes },
        (None, None, None) if need.checkpoint.is_some() => Demand::Nothing,
        _ => return Err(NoNeed::NotStated),
    };
    if need.write_bytes_per_s.is_some_and(|per_s| !positive(per_s)) {
        return Err(NoNeed::NotStated);
    }
    let checkpoint = need.checkpoint.as_ref().map(checkpoint).transpose()?;
    if !positive(need.utilization) || need.utilization > 1.0 {
        return Err(NoNeed::Utilization(need.utilization));
    }
    Ok(Need {
        label: need.label.clone(),
        demand,
        utilization: need.utilization,
        accelerators: need.accelerators,
        // Records without a count give the accelerators of one host, and the number of hosts.
        count: need.count.unwrap_or_else(|| need.accelerators.saturating_mul(need.hosts)),
        hosts: need.hosts,
        provenance: Provenance::of_word(&need.provenance),
        source: need.source.clone(),
        caveats: need.caveats.clone(),
        batch: None,
        step_time_s: None,
        readers: None,
        prefetch: None,
        hold: Hold::of_word(&need.hold),
        // Records before scopes were kept meant all hosts, which is the careful reading: it never says FEEDS for a cluster by
        // one host.
        scope: if need.scope == Scope::Host.name() { Scope::Host } else { Scope::Cluster },
        loader_depth: need.loader_depth,
        checkpoint,
        writes: need.writes,
        write_bps: need.write_bytes_per_s,
        parts: need.parts.iter().take(NEEDS_MAX).filter_map(part).collect(),
    })
}

/// A rate of several; `None` where it is none.
fn part(part: &record::NeedPart) -> Option<Part> {
    positive(part.bytes_per_s).then(|| Part { label: part.label.clone(), bytes_per_s: part.bytes_per_s })
}

/// What checkpoints ask for; an error where the record holds no time or no bytes of them.
fn checkpoint(need: &record::CheckpointNeed) -> Result<CheckpointNeed, NoNeed> {
    let is_timed = |ns: Option<u64>| ns != Some(0);
    let is_whole = need.host_bytes > 0 && need.within_ns > 0 && need.hosts > 0;
    if !is_whole || !is_timed(need.every_ns) || !is_timed(need.restore_within_ns) {
        return Err(NoNeed::Checkpoint);
    }
    Ok(CheckpointNeed {
        label: need.label.clone(),
        bytes: need.bytes,
        host_bytes: need.host_bytes,
        hosts: need.hosts,
        within_ns: need.within_ns,
        every_ns: need.every_ns,
        restore_within_ns: need.restore_within_ns,
        // A word of a newer version: what stops a job for longer is the careful reading.
        kind: SaveKind::of_word(&need.kind).unwrap_or_default(),
        beside_others: need.beside_others,
    })
}

pub(crate) fn positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::summary::lines;

    #[test]
    fn a_need_in_samples_follows_the_sample_size_and_one_in_bytes_does_not() {
        let samples = of_record(&fixture::need_in_samples(1_000.0)).unwrap();
        let small = LineAt::of(&samples, 100.0).unwrap();
        let large = LineAt::of(&samples, 1_000.0).unwrap();
        assert_eq!((small.samples_per_s, small.bps, small.demand_bps), (900.0, 90_000.0, 100_000.0));
        assert_eq!((large.samples_per_s, large.bps), (900.0, 900_000.0));

        let bytes = of_record(&fixture::need_in_bytes(1e6)).unwrap();
        let small = LineAt::of(&bytes, 100.0).unwrap();
        assert_eq!((small.samples_per_s, small.bps, small.demand_bps), (9_000.0, 900_000.0, 1e6));
    }

    #[test]
    fn bytes_held_of_a_workload_are_held_whatever_is_read() {
        let mut need = fixture::need_in_bytes(1e9);
        (need.sample_bytes, need.accelerators, need.hold) = (Some(100_000.0), 8, "bytes".to_owned());
        let need = of_record(&need).unwrap();
        let [small, large] = [100.0, 100_000.0].map(|bytes| LineAt::of(&need, bytes).unwrap().bps);
        assert!((small / large - 1.0).abs() < 1e-12, "{small} {large}");
        assert_eq!(need.held(&[100.0]).unwrap(), "bytes held: 100 B each in place of 100,000 B");
    }

    #[test]
    fn what_a_record_says_of_scope_loader_and_profile_is_read_and_an_old_one_means_the_cluster() {
        let mut need = fixture::need_in_samples(1_000.0);
        let old = of_record(&need).unwrap();
        assert_eq!(
            (old.scope, old.provenance, old.loader_depth, old.hold),
            (Scope::Cluster, None, None, None)
        );
        (need.hosts, need.scope, need.loader_depth) = (64, "host".to_owned(), Some(32));
        need.provenance = "extrapolated".to_owned();
        let read = of_record(&need).unwrap();
        assert_eq!((read.scope, read.provenance), (Scope::Host, Some(Provenance::Extrapolated)));
        assert_eq!((read.loader_depth, read.count), (Some(32), 512));
    }

    #[test]
    fn each_size_of_samples_has_a_line_of_its_own() {
        let mut builder = fixture::confirmed_at(&[1.1]);
        let bytes = [100_000.0, 100_001.0, 400_000.0];
        let datasets =
            bytes.map(|sample_bytes| record::Dataset { sample_bytes, ..builder.run.datasets[0].clone() });
        builder.run.datasets = datasets.to_vec();
        for (name, dataset) in [("d", 1), ("e", 2)] {
            builder.cell(name, "disk", 8);
            builder.edit_cell(name, |cell| cell.dataset = dataset);
        }
        let lines = lines(&crate::summarise(&builder.record()));
        let found: Vec<_> = lines.iter().map(|line| (line.sample_bytes, line.bps)).collect();
        assert_eq!(found, [(100_000.0, 0.9e9), (400_000.0, 3.6e9)]);
    }

    #[test]
    fn a_need_of_checkpoints_alone_has_no_line_and_a_damaged_one_is_none() {
        let mut need = fixture::need_in_samples(1_000.0);
        (need.samples_per_s, need.sample_bytes) = (None, None);
        need.checkpoint = Some(fixture::checkpoint_need(1_000_000_000, 10));
        let read = of_record(&need).unwrap();
        assert_eq!((read.demand, LineAt::of(&read, 1_000.0)), (Demand::Nothing, None));
        assert_eq!(read.checkpoint.map(|one| one.within_ns), Some(10_000_000_000));
        need.checkpoint.as_mut().unwrap().within_ns = 0;
        assert_eq!(of_record(&need).unwrap_err(), NoNeed::Checkpoint);
    }

    #[test]
    fn a_record_without_a_usable_need_says_so() {
        let mut need = fixture::need_in_samples(1_000.0);
        need.samples_per_s = Some(f64::NAN);
        assert_eq!(of_record(&need).unwrap_err(), NoNeed::NotStated);
        let mut need = fixture::need_in_bytes(1e6);
        need.utilization = 90.0;
        assert_eq!(of_record(&need).unwrap_err(), NoNeed::Utilization(90.0));
    }
}
