//! Workload profiles: how fast one accelerator consumes samples.
//!
//! Sources of the figures: the workload files of MLPerf Storage, <https://github.com/mlcommons/storage>
//! (v1.0/v2.0 for a100 and h100, v3.0 for b200 and mi355), for language models what NVIDIA publishes of Megatron
//! Bridge, <https://docs.nvidia.com/nemo/megatron-bridge/latest/performance-summary.html> (container 25.11), and for a vision
//! transformer what timm measured, <https://github.com/huggingface/pytorch-image-models>,
//! `results/benchmark-train-amp-nhwc-pt112-cu113-rtx3090.csv` (5e7d47ca). A batch size and a step time belong to one
//! measurement: neither may be changed alone.

use std::fmt;

/// Where the line is drawn when neither the scenario nor a profile says: a job bears a tenth of waiting. A stated rate is
/// what must be delivered, and its line is the rate itself.
// Here and not with the needs that use it: profiles whose source states no threshold take it too.
pub const UTILIZATION_DEFAULT: f64 = 0.90;

/// Where a profile's step time comes from, the best known first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Provenance {
    /// Measured on the accelerator, for an MLPerf Storage round or by who wrote the model's code.
    Measured,
    /// Stated for a vendor's accelerator, in the files of an MLPerf Storage round or by the vendor itself; nobody else
    /// has measured it.
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
    /// `h100`, `a100`, `b200`, `mi355`, `rtx3090`.
    pub accelerator: &'static str,
    /// Compute time of one step on one accelerator, seconds.
    pub step_time_s: f64,
    /// Samples per step and accelerator.
    pub batch: u32,
    /// Bytes of one stored sample (the mean where sizes vary).
    pub sample_bytes: f64,
    /// Accelerator utilization that MLPerf asks for; [`UTILIZATION_DEFAULT`] where the source asks for none.
    pub utilization: f64,
    /// Readers of one accelerator (`reader.read_threads` of MLPerf's file); `None` where the source names none.
    pub readers: Option<u32>,
    /// Batches that the readers of one accelerator fetch ahead, before they are rounded up to a whole number for each
    /// reader (DLIO's `prefetch_size`); `None` where the source names none.
    pub prefetch: Option<u32>,
    /// What published the figures: `MLPerf Storage 2.0`.
    pub source: &'static str,
    /// Where the step time comes from.
    pub provenance: Provenance,
    /// What a reader must know before trusting the figure; empty when nothing.
    pub caveat: &'static str,
}

impl Profile {
    /// Whether it is a workload of MLPerf Storage.
    pub fn is_of_mlperf(&self) -> bool {
        [ROUND_2, ROUND_3].contains(&self.source)
    }
}

const ROUND_2: &str = "MLPerf Storage 2.0";
const ROUND_3: &str = "MLPerf Storage 3.0";
const MEGATRON_BRIDGE: &str = "NVIDIA Megatron Bridge 25.11";
const TIMM: &str = "timm 0.6";

/// One accelerator's share of a workload's figures.
struct Pace {
    accelerator: &'static str,
    step_time_s: f64,
    batch: u32,
    source: &'static str,
    provenance: Provenance,
    caveat: &'static str,
}

/// What all accelerators of a workload share.
struct Workload {
    name: &'static str,
    sample_bytes: f64,
    utilization: f64,
    readers: Option<u32>,
    prefetch: Option<u32>,
}

/// DLIO's default, <https://github.com/argonne-lcf/dlio_benchmark>, `utils/config.py`: `prefetch_size: int = 2`. No
/// workload file of MLPerf states another.
// It counts batches of all readers together. PyTorch's `prefetch_factor` counts them for each reader, which
// is why DLIO rounds up: 2 batches and 4 readers are 4 batches there.
const PREFETCH_BATCHES: Option<u32> = Some(2);

const fn profile(workload: &Workload, pace: &Pace) -> Profile {
    Profile {
        workload: workload.name,
        accelerator: pace.accelerator,
        step_time_s: pace.step_time_s,
        batch: pace.batch,
        sample_bytes: workload.sample_bytes,
        utilization: workload.utilization,
        readers: workload.readers,
        prefetch: workload.prefetch,
        source: pace.source,
        provenance: pace.provenance,
        caveat: pace.caveat,
    }
}

// Rounds 1.0 and 2.0 share these workloads; the later one is named.
const fn measured(accelerator: &'static str, step_time_s: f64, batch: u32) -> Pace {
    Pace { accelerator, step_time_s, batch, source: ROUND_2, provenance: Provenance::Measured, caveat: "" }
}

// "Vendor" and not "measured": the files of round 3.0 name a step time and no run that it came from.
const fn stated(accelerator: &'static str, step_time_s: f64, batch: u32, caveat: &'static str) -> Pace {
    Pace { accelerator, step_time_s, batch, source: ROUND_3, provenance: Provenance::Vendor, caveat }
}

// Stated apart because a verdict that rests on such a figure is worth less, and the report says so.
const fn extrapolated(accelerator: &'static str, step_time_s: f64, batch: u32, caveat: &'static str) -> Pace {
    Pace { accelerator, step_time_s, batch, source: ROUND_3, provenance: Provenance::Extrapolated, caveat }
}

const fn of_mlperf(name: &'static str, sample_bytes: f64, utilization: f64, readers: u32) -> Workload {
    Workload { name, sample_bytes, utilization, readers: Some(readers), prefetch: PREFETCH_BATCHES }
}

/// Tokens of a sequence, of all language models below.
const SEQUENCE_TOKENS: u32 = 8_192;

/// Bytes of a stored token: the vocabulary of Llama 3 has 128,256 entries, which two bytes do not hold, so that Megatron's
/// indexed datasets store four.
const TOKEN_BYTES: u32 = 4;

// Its source names neither readers nor a threshold. A sample is a sequence, which is what a loader asks for at once.
const fn of_tokens(name: &'static str) -> Workload {
    let sample_bytes = (SEQUENCE_TOKENS * TOKEN_BYTES) as f64;
    Workload { name, sample_bytes, utilization: UTILIZATION_DEFAULT, readers: None, prefetch: None }
}

// The step follows from what is published: `batch` sequences of 8,192 tokens by the tokens per second of one accelerator.
const fn of_token_rate(
    accelerator: &'static str,
    step_time_s: f64,
    batch: u32,
    caveat: &'static str,
) -> Pace {
    Pace { accelerator, step_time_s, batch, source: MEGATRON_BRIDGE, provenance: Provenance::Vendor, caveat }
}

// Sizes of unet3d vary widely (a standard deviation of 68 MB around this mean): a volume is cut from a scan
// and is not resized. The mean is what a rate of bytes follows from.
const UNET3D: Workload = of_mlperf("unet3d", 146_600_628.0, 0.90, 4);
// The mean of ImageNet as TFRecords. DLIO's `record_length_bytes_resize` of 150,528 is what a decoded image
// takes in memory, and never crosses the wire.
const RESNET50: Workload = of_mlperf("resnet50", 114_660.07, 0.90, 8);
// One sample a step: nothing evens out a slow read, and a step of 3.5 ms leaves little room for one.
const COSMOFLOW: Workload = of_mlperf("cosmoflow", 2_828_486.0, 0.70, 4);
// One JPEG for each sample, 1,170,301 of them: the only workload of the rounds whose load on names is as
// large as that on bytes.
const RETINANET: Workload = of_mlperf("retinanet", 322_957.0, 0.85, 8);
const FLUX: Workload = of_mlperf("flux", 2_164_832.0, 0.90, 8);
/// 40 of the 200 columns are read: 160 of 761 bytes.
// The need is stated in the bytes that training uses. A reader of whole rows moves 4.8 times as many, as
// the caveat of each profile says.
const DLRM: Workload = of_mlperf("dlrm", 160.0, 0.70, 4);

/// ViT-L/16 at 224 x 224, of the images of ImageNet as resnet50 reads them.
// timm measured steps alone, and names neither readers nor a threshold.
const VIT_L16: Workload = Workload {
    name: "vit-l16",
    sample_bytes: RESNET50.sample_bytes,
    utilization: UTILIZATION_DEFAULT,
    readers: None,
    prefetch: None,
};

const LLAMA3_8B: Workload = of_tokens("llama3-8b");
const LLAMA3_70B: Workload = of_tokens("llama3-70b");
const LLAMA3_405B: Workload = of_tokens("llama3-405b");

const ALL_READ: &str = "the step time follows from NVIDIA's tokens/s per GPU (FP8, 8 GPUs, 128 sequences of 8,192 tokens a \
                        step); 4 B a token, as a vocabulary of 128,256 takes";
const FEW_READ: &str = "the step time follows from NVIDIA's tokens/s per GPU (FP8, 64 GPUs, 128 sequences of 8,192 tokens \
                        a step); 4 B a token, as a vocabulary of 128,256 takes. The mean of all GPUs: those that share a \
                        copy of the model share its sequences, and few of them read";
const HALF_READ: &str = "the step time follows from NVIDIA's tokens/s per GPU (FP8, 1,024 GPUs, 512 sequences of 8,192 \
                         tokens a step, half of one for each: two of its steps are one here); 4 B a token, as a vocabulary \
                         of 128,256 takes. The mean of all GPUs: those that share a copy of the model share its sequences, \
                         and few of them read";

const NO_MEASUREMENT: &str = "MLPerf's file does not say how the step time was found";

/// The profiles, as their sources publish them; combinations that these do not have are left out.
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
    profile(
        &VIT_L16,
        &Pace {
            accelerator: "rtx3090",
            // 117.2 images/s.
            step_time_s: 0.546_1,
            batch: 64,
            source: TIMM,
            provenance: Provenance::Measured,
            caveat: "mixed precision by PyTorch 1.12 on one GPU, of images that lay in its memory",
        },
    ),
    // 14,451, 30,624, 1,602 and 292 tokens/s.
    profile(&LLAMA3_8B, &of_token_rate("h100", 9.070, 16, ALL_READ)),
    profile(&LLAMA3_8B, &of_token_rate("b200", 4.280, 16, ALL_READ)),
    profile(&LLAMA3_70B, &of_token_rate("h100", 10.227, 2, FEW_READ)),
    profile(&LLAMA3_405B, &of_token_rate("h100", 28.055, 1, HALF_READ)),
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
        assert_eq!(PROFILES.iter().filter(|of| of.is_of_mlperf()).count(), NEED_GBPS.len());
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
        assert_eq!(accelerators(), ["a100", "h100", "b200", "mi355", "rtx3090"]);
        let of_mlperf = ["unet3d", "resnet50", "cosmoflow", "retinanet", "flux", "dlrm"];
        let others = ["vit-l16", "llama3-8b", "llama3-70b", "llama3-405b"];
        assert_eq!(workloads(), [&of_mlperf[..], &others].concat());
        assert!(find("vit-l16", "h100").is_none(), "timm measured it on no other");
        assert!(find("llama3-70b", "b200").is_none(), "not among the published figures");
    }

    /// `vit_large_patch16_224,117.2,544.512,64,224,304.33` in timm's table: images per second, milliseconds of a step, batch. The rate is
    /// what a line follows from.
    #[test]
    fn a_vision_transformer_takes_the_images_that_were_measured() {
        let profile = find("vit-l16", "rtx3090").expect("in the table");
        assert!((samples_per_s(profile) / 117.2 - 1.0).abs() < 1e-4, "{profile:?}");
        let bps = formula::required_bps(samples_per_s(profile), profile.sample_bytes);
        assert!((bps / 13.438e6 - 1.0).abs() < 1e-3, "{bps}");
    }

    /// Tokens per second of one accelerator, as NVIDIA publishes them, and the steps that follow.
    #[test]
    fn language_models_take_the_tokens_that_are_published() {
        let published = [
            ("llama3-8b", "h100", 14_451.0),
            ("llama3-8b", "b200", 30_624.0),
            ("llama3-70b", "h100", 1_602.0),
            ("llama3-405b", "h100", 292.0),
        ];
        let of_tokens = PROFILES.iter().filter(|of| of.source == MEGATRON_BRIDGE);
        assert_eq!(of_tokens.count(), published.len());
        for (workload, accelerator, tokens_per_s) in published {
            let profile = find(workload, accelerator).expect("in the table");
            // Step times are kept to the millisecond.
            assert!((samples_per_s(profile) * 8_192.0 / tokens_per_s - 1.0).abs() < 1e-4, "{profile:?}");
            let bps = formula::required_bps(samples_per_s(profile), profile.sample_bytes);
            assert!((bps / formula::token_bps(tokens_per_s, 4.0) - 1.0).abs() < 1e-4, "{profile:?}");
            assert_eq!((profile.readers, profile.prefetch), (None, None), "{profile:?}");
        }
    }

    #[test]
    fn readers_are_those_of_the_workload_files() {
        let readers = |workload| {
            let of_workload = PROFILES.iter().filter(|profile| profile.workload == workload);
            let both = |of: &Profile| (of.readers.expect("MLPerf's file"), of.prefetch.expect("DLIO"));
            of_workload.map(both).collect::<Vec<_>>()
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
            let measured = profile.provenance == Provenance::Measured && profile.source != TIMM;
            let of_round_2 = profile.is_of_mlperf() && ["a100", "h100"].contains(&profile.accelerator);
            assert_eq!(measured, of_round_2, "{profile:?}");
            assert_eq!(measured, profile.caveat.is_empty(), "{profile:?}");
            assert!(profile.source != TIMM || profile.provenance == Provenance::Measured);
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
