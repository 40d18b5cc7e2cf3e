//! Workload profiles: how fast one accelerator consumes samples.
//!
//! Source of the figures: the workload files of MLPerf Storage, <https://github.com/mlcommons/storage>
//! (v1.0/v2.0 for a100 and h100, v3.0 for b200 and mi355). A batch size and a step time belong to one
//! measurement: neither may be changed alone.

use std::fmt;

/// Where a profile's step time comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// Measured on the accelerator for an MLPerf Storage round.
    Measured,
    /// Stated in the round's files for a vendor's accelerator; no measurement is named there.
    Vendor,
    /// Derived from another accelerator's figure, as its file says or as the figures show.
    Extrapolated,
}

crate::words!(Provenance {
    Measured = "measured",
    Vendor = "vendor",
    Extrapolated = "extrapolated",
});

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One workload on one accelerator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile {
    /// `resnet50`, `unet3d`, …
    pub workload: &'static str,
    /// `h100`, `a100`, `b200`, `mi355`.
    pub accelerator: &'static str,
    /// Compute time of one step on one accelerator, seconds.
    pub step_time_s: f64,
    /// Samples per step and accelerator.
    pub batch: u32,
    /// Bytes of one stored sample (the mean where sizes vary).
    pub sample_bytes: f64,
    /// Accelerator utilization that MLPerf asks for.
    pub utilization: f64,
    /// Readers of one accelerator (`reader.read_threads` of MLPerf's file).
    pub readers: u32,
    /// Batches that the readers of one accelerator fetch ahead, before they are rounded up to a whole number for each
    /// reader (DLIO's `prefetch_size`).
    pub prefetch: u32,
    /// The MLPerf Storage round that the figures come from.
    pub round: &'static str,
    /// Where the step time comes from.
    pub provenance: Provenance,
    /// What a reader must know before trusting the figure; empty when nothing.
    pub caveat: &'static str,
}

/// One accelerator's share of a workload's figures.
struct Pace {
    accelerator: &'static str,
    step_time_s: f64,
    batch: u32,
    round: &'static str,
    provenance: Provenance,
    caveat: &'static str,
}

/// What all accelerators of a workload share.
struct Workload {
    name: &'static str,
    sample_bytes: f64,
    utilization: f64,
    readers: u32,
}

/// DLIO's default, <https://github.com/argonne-lcf/dlio_benchmark>, `utils/config.py`: `prefetch_size: int = 2`. No
/// workload file of MLPerf states another.
// It counts batches of all readers together. PyTorch's `prefetch_factor` counts them for each reader, which
// is why DLIO rounds up: 2 batches and 4 readers are 4 batches there.
const PREFETCH_BATCHES: u32 = 2;

const fn profile(workload: &Workload, pace: &Pace) -> Profile {
    Profile {
        workload: workload.name,
        accelerator: pace.accelerator,
        step_time_s: pace.step_time_s,
        batch: pace.batch,
        sample_bytes: workload.sample_bytes,
        utilization: workload.utilization,
        readers: workload.readers,
        prefetch: PREFETCH_BATCHES,
        round: pace.round,
        provenance: pace.provenance,
        caveat: pace.caveat,
    }
}

// Rounds 1.0 and 2.0 share these workloads; the later one is named.
const fn measured(accelerator: &'static str, step_time_s: f64, batch: u32) -> Pace {
    Pace { accelerator, step_time_s, batch, round: "2.0", provenance: Provenance::Measured, caveat: "" }
}

// "Vendor" and not "measured": the files of round 3.0 name a step time and no run that it came from.
const fn stated(accelerator: &'static str, step_time_s: f64, batch: u32, caveat: &'static str) -> Pace {
    Pace { accelerator, step_time_s, batch, round: "3.0", provenance: Provenance::Vendor, caveat }
}

// Stated apart because a verdict that rests on such a figure is worth less, and the report says so.
const fn extrapolated(accelerator: &'static str, step_time_s: f64, batch: u32, caveat: &'static str) -> Pace {
    Pace { accelerator, step_time_s, batch, round: "3.0", provenance: Provenance::Extrapolated, caveat }
}

// Sizes of unet3d vary widely (a standard deviation of 68 MB around this mean): a volume is cut from a scan
// and is not resized. The mean is what a rate of bytes follows from.
const UNET3D: Workload =
    Workload { name: "unet3d", sample_bytes: 146_600_628.0, utilization: 0.90, readers: 4 };
// The mean of ImageNet as TFRecords. DLIO's `record_length_bytes_resize` of 150,528 is what a decoded image
// takes in memory, and never crosses the wire.
const RESNET50: Workload =
    Workload { name: "resnet50", sample_bytes: 114_660.07, utilization: 0.90, readers: 8 };
// One sample a step: nothing evens out a slow read, and a step of 3.5 ms leaves little room for one.
const COSMOFLOW: Workload =
    Workload { name: "cosmoflow", sample_bytes: 2_828_486.0, utilization: 0.70, readers: 4 };
// One JPEG for each sample, 1,170,301 of them: the only workload of the rounds whose load on names is as
// large as that on bytes.
const RETINANET: Workload =
    Workload { name: "retinanet", sample_bytes: 322_957.0, utilization: 0.85, readers: 8 };
const FLUX: Workload = Workload { name: "flux", sample_bytes: 2_164_832.0, utilization: 0.90, readers: 8 };
/// 40 of the 200 columns are read: 160 of 761 bytes.
// The need is stated in the bytes that training uses. A reader of whole rows moves 4.8 times as many, as
// the caveat of each profile says.
const DLRM: Workload = Workload { name: "dlrm", sample_bytes: 160.0, utilization: 0.70, readers: 4 };

const NO_MEASUREMENT: &str = "MLPerf's file does not say how the step time was found";

/// The profiles, as MLPerf Storage publishes them; combinations that it does not have are left out.
pub const PROFILES: &[Profile] = &[
    // No v100: its figures are of round 0.5, and later rounds have none.
    profile(&UNET3D, &measured("a100", 0.636, 7)),
    profile(&UNET3D, &measured("h100", 0.323, 7)),
    profile(
        &UNET3D,
        &extrapolated(
            "b200",
            0.162,
            7,
            // 0.323 / 2 is 0.1615; the file rounds it to 0.162, and the profile keeps what the file says.
            "not measured: MLPerf's file halves the step time of the h100 (0.323 s)",
        ),
    ),
    profile(&RESNET50, &measured("a100", 0.435, 400)),
    profile(&RESNET50, &measured("h100", 0.224, 400)),
    profile(&COSMOFLOW, &measured("a100", 0.005_51, 1)),
    profile(&COSMOFLOW, &measured("h100", 0.003_50, 1)),
    profile(&RETINANET, &stated("b200", 0.047_55, 24, NO_MEASUREMENT)),
    profile(
        &RETINANET,
        &extrapolated(
            "mi355",
            0.0634,
            32,
            "same samples/s as the b200 in MLPerf's file: batch and step time are both 4/3 of the b200's",
        ),
    ),
    profile(&FLUX, &stated("b200", 1.35, 48, NO_MEASUREMENT)),
    profile(
        &FLUX,
        &extrapolated(
            "mi355",
            2.025,
            72,
            "same samples/s as the b200 in MLPerf's file: batch and step time are both 3/2 of the b200's",
        ),
    ),
    profile(
        &DLRM,
        &stated(
            "b200",
            0.000_375,
            16_384,
            "counts the 160 B of the 40 columns that are read; a reader that fetches all 200 needs 761 B a \
             sample, 4.8 times as much. The step time awaits confirmation (mlcommons/storage issue 353)",
        ),
    ),
    profile(
        &DLRM,
        &extrapolated(
            "mi355",
            0.000_562_5,
            16_384,
            "step time is 3/2 of the b200's in MLPerf's file, which awaits confirmation (mlcommons/storage \
             issue 353). Counts the 160 B of the 40 columns that are read; a reader that fetches all 200 \
             needs 761 B a sample, 4.8 times as much",
        ),
    ),
];

/// The profile of a workload on an accelerator.
pub(crate) fn find(workload: &str, accelerator: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.workload == workload && profile.accelerator == accelerator)
}

/// The names of all workloads, in the table's order.
// In the order of the table and not of the alphabet: what the field knows best stands first in an error.
pub(crate) fn workloads() -> Vec<&'static str> {
    distinct(PROFILES.iter().map(|profile| profile.workload))
}

/// The names of all accelerators, in the table's order.
pub(crate) fn accelerators() -> Vec<&'static str> {
    distinct(PROFILES.iter().map(|profile| profile.accelerator))
}

/// The accelerators that have figures for `workload`.
pub(crate) fn accelerators_of(workload: &str) -> Vec<&'static str> {
    let of_workload = PROFILES.iter().filter(|profile| profile.workload == workload);
    of_workload.map(|profile| profile.accelerator).collect()
}

fn distinct(names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut distinct = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula;

    /// GB/s of one accelerator, from the column "need" of MLPerf's table as published.
    const NEED_GBPS: [(&str, &str, f64); 13] = [
        ("unet3d", "a100", 1.614),
        ("unet3d", "h100", 3.177),
        ("unet3d", "b200", 6.335),
        ("resnet50", "a100", 0.105),
        ("resnet50", "h100", 0.205),
        ("cosmoflow", "a100", 0.513),
        ("cosmoflow", "h100", 0.808),
        ("retinanet", "b200", 0.163),
        ("retinanet", "mi355", 0.163),
        ("flux", "b200", 0.077),
        ("flux", "mi355", 0.077),
        ("dlrm", "b200", 6.99),
        ("dlrm", "mi355", 4.66),
    ];

    fn samples_per_s(profile: &Profile) -> f64 {
        formula::samples_per_s(1, profile.batch, profile.step_time_s)
    }

    #[test]
    fn every_profile_needs_what_the_table_says() {
        assert_eq!(PROFILES.len(), NEED_GBPS.len());
        for (workload, accelerator, need_gbps) in NEED_GBPS {
            let profile = find(workload, accelerator).expect("in the table");
            let gbps = formula::required_bps(samples_per_s(profile), profile.sample_bytes) / 1e9;
            // The table has three decimals, dlrm two.
            let tolerance = if workload == "dlrm" { 0.005_1 } else { 0.000_51 };
            assert!((gbps - need_gbps).abs() <= tolerance, "{workload} {accelerator}: {gbps} GB/s");
        }
    }

    #[test]
    fn only_published_combinations_exist() {
        assert!(find("resnet50", "b200").is_none());
        assert!(find("dlrm", "h100").is_none());
        assert!(find("unet3d", "v100").is_none());
        assert_eq!(accelerators_of("unet3d"), ["a100", "h100", "b200"]);
        assert_eq!(accelerators(), ["a100", "h100", "b200", "mi355"]);
        assert_eq!(workloads(), ["unet3d", "resnet50", "cosmoflow", "retinanet", "flux", "dlrm"]);
    }

    #[test]
    fn readers_are_those_of_the_workload_files() {
        let readers = |workload| {
            let of_workload = PROFILES.iter().filter(|profile| profile.workload == workload);
            of_workload.map(|profile| (profile.readers, profile.prefetch)).collect::<Vec<_>>()
        };
        assert_eq!(readers("unet3d"), [(4, 2); 3]);
        assert_eq!(readers("resnet50"), [(8, 2); 2]);
        assert_eq!(readers("cosmoflow"), [(4, 2); 2]);
        assert_eq!(readers("retinanet"), [(8, 2); 2]);
        assert_eq!(readers("flux"), [(8, 2); 2]);
        assert_eq!(readers("dlrm"), [(4, 2); 2]);
    }

    #[test]
    fn what_was_not_measured_says_so() {
        for profile in PROFILES {
            let measured = profile.provenance == Provenance::Measured;
            assert_eq!(measured, ["a100", "h100"].contains(&profile.accelerator), "{profile:?}");
            assert_eq!(measured, profile.caveat.is_empty(), "{profile:?}");
        }
    }

    /// The claims of the caveats, from the figures themselves.
    #[test]
    fn mi355_is_scaled_from_b200() {
        let ratio = |workload, of: fn(&Profile) -> f64| {
            of(find(workload, "mi355").expect("mi355")) / of(find(workload, "b200").expect("b200"))
        };
        for (workload, step, batch) in
            [("retinanet", 4.0 / 3.0, 4.0 / 3.0), ("flux", 1.5, 1.5), ("dlrm", 1.5, 1.0)]
        {
            assert!((ratio(workload, |profile| profile.step_time_s) - step).abs() < 1e-9, "{workload}");
            assert!((ratio(workload, |profile| f64::from(profile.batch)) - batch).abs() < 1e-9, "{workload}");
        }
    }
}
