//! Whether a need could exist: refused where no machine could have it, remarked on where few could.

use super::error::NeedError;
use crate::Need;
use crate::formula;
use crate::units::{format_bps, format_bytes, format_duration_ns, format_short};

/// A corpus of the size that large language models are trained on.
// Llama 2 was trained on 2 x 10^12 tokens. Later corpora are larger, so that a bound from this one refuses
// less.
pub(super) const CORPUS_TOKENS: f64 = 2e12;

/// No published training run comes near reading such a corpus in this time; a rate that does is tokens
/// per step, or off by a thousand.
// Tokens per step in place of tokens per second is wrong by the step time, and lands far below this bound
// for any real batch.
const CORPUS_DURATION_MIN_S: f64 = 6.0 * 3600.0;

/// Dense bf16 peak of one H100 SXM, FLOP/s (NVIDIA's data sheet).
const H100_FLOP_PER_S: f64 = 0.989e15;
/// A share of the peak that good training runs reach.
// Published runs of large models report 35 to 45 % (model FLOPs utilization).
const FLOP_UTILIZATION: f64 = 0.4;
// Where tokens are stated the need names hosts and no accelerators. Eight is what training hosts have; a
// larger box earns a remark that its owner can pass over.
const ACCELERATORS_PER_HOST: u32 = 8;
/// A model smaller than most: larger ones read fewer tokens per second.
const SMALL_MODEL_PARAMETERS: f64 = 1e9;
// Two in the forward pass, four in the backward pass: the rule of scaling laws for dense models. Attention
// adds to it, so that the cap stays an upper bound.
const FLOP_PER_PARAMETER_AND_TOKEN: f64 = 6.0;

/// One direction of PCIe 5.0 x16: 32 GT/s, 16 lanes, 128b/130b.
const ACCELERATOR_LINK_BPS: f64 = 32e9 * 16.0 * (128.0 / 130.0) / 8.0;
/// Eight ports of 400 Gb/s, what a large training host has.
// Most of these ports serve the fabric between accelerators, and few are for storage. All of them are the
// most that could carry data at all.
const HOST_LINK_BPS: f64 = 8.0 * 400e9 / 8.0;

/// Refuses what has no finite rate and adds a caveat where the need exceeds an accelerator's or a host's hardware.
pub(super) fn check(need: &mut Need) -> Result<(), NeedError> {
    // For a need in bytes any sample size gives the same bytes per second.
    let demand_bps = need.demand_bps(need.sample_bytes().unwrap_or(1.0));
    if need.accelerators > 0 {
        let each_bps = demand_bps / f64::from(need.accelerators);
        if each_bps > ACCELERATOR_LINK_BPS {
            need.caveats.push(format!(
                "each accelerator would take {}, more than PCIe 5.0 x16 carries ({}): check the step \
                 time and the batch",
                format_bps(each_bps),
                format_bps(ACCELERATOR_LINK_BPS),
            ));
        }
    }
    check_host(need)
}

/// As [`check`], of all that one host reads and writes.
pub(super) fn check_host(need: &mut Need) -> Result<(), NeedError> {
    let demand_bps = need.read_bps() + need.written_bps();
    // Refused and not only remarked on: sums further on hold rates as 64-bit numbers, and infinity has no
    // line.
    if !demand_bps.is_finite() || demand_bps > u64::MAX as f64 {
        return Err(NeedError::Impossible {
            why: format!("the demand is more than {} per second", format_bytes(u64::MAX)),
            hint: "check the step time, the batch and the sample size: step times are in seconds",
        });
    }
    let caveats = host_caveats(need);
    need.caveats.extend(caveats);
    Ok(())
}

/// What [`check_host`] remarks on. Of a part of a need it says nothing of the whole.
pub(super) fn host_caveats(need: &Need) -> Vec<String> {
    // Each for itself: ports carry as much in either direction at once.
    let flows = [("take", need.read_bps()), ("write", need.written_bps())];
    let remark = |(does, bps): (&str, f64)| {
        let (asked, carried) = (format_bps(bps), format_bps(HOST_LINK_BPS));
        format!(
            "one host would {does} {asked}, more than eight 400 Gb/s ports carry ({carried}): state how many hosts share \
             the need"
        )
    };
    flows.into_iter().filter(|(_, bps)| *bps > HOST_LINK_BPS).map(remark).collect()
}

/// Refuses a token rate that reads a whole corpus at once, and remarks on one that `hosts` could not train
/// on.
pub(super) fn check_tokens(tokens_per_s: f64, hosts: u32) -> Result<Vec<String>, NeedError> {
    let corpus_s = formula::corpus_duration_s(CORPUS_TOKENS, tokens_per_s);
    if corpus_s < CORPUS_DURATION_MIN_S {
        return Err(NeedError::Impossible {
            why: format!(
                "at {} tokens/s a corpus of {} tokens is read in {}",
                format_short(tokens_per_s),
                format_short(CORPUS_TOKENS),
                format_duration_ns((corpus_s * 1e9) as u64),
            ),
            hint: "tokens_per_second is tokens per step divided by the step time in seconds",
        });
    }
    let accelerators = hosts.saturating_mul(ACCELERATORS_PER_HOST);
    let flop_per_token = FLOP_PER_PARAMETER_AND_TOKEN * SMALL_MODEL_PARAMETERS;
    let cap = formula::compute_cap_per_s(accelerators, H100_FLOP_PER_S, FLOP_UTILIZATION, flop_per_token);
    if tokens_per_s <= cap {
        return Ok(Vec::new());
    }
    Ok(vec![format!(
        "{accelerators} h100 at 40 % of their peak train a model of 10^9 parameters on at most {} \
         tokens/s, larger ones on fewer: is {} the number per step, or are there more hosts than {hosts}?",
        format_short(cap),
        format_short(tokens_per_s),
    )])
}
