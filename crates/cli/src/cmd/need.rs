//! `feedline need`: the arithmetic behind the feed line.

use std::path::Path;

use feed::{NeedSpec, PROFILES};

use crate::args::{InputArgs, NeedArgs};
use crate::exit::{Exit, Failure};
use crate::load;

pub(crate) fn need(args: &NeedArgs) -> Result<Exit, Failure> {
    let Some(need) = &args.need else {
        list_profiles();
        return Ok(Exit::Ok);
    };
    let resolved = if Path::new(need).extension().is_some_and(|extension| extension == "toml") {
        load::load(&InputArgs { input: need.clone(), need: None, set: Vec::new() })?.plan.need
    } else {
        NeedSpec::parse_short(need)
            .and_then(|spec| spec.resolve())
            .map_err(|e| Failure::usage(format!("error: {e}")))?
    };
    println!("{}", resolved.explain().trim_end());
    Ok(Exit::Ok)
}

fn list_profiles() {
    println!("profiles, for needs such as 8xh100:resnet50 (one accelerator at 100 %):");
    println!("workload   on       batch        step      samples/s    bytes/s  source");
    for profile in PROFILES {
        let samples_per_s = f64::from(profile.batch) / profile.step_time_s;
        println!(
            "{:<10} {:<6} {:>7} {:>11} {:>14} {:>10}  {}, {}",
            profile.workload,
            profile.accelerator,
            profile.batch,
            format!("{} s", profile.step_time_s),
            feed::units::format_count(samples_per_s),
            feed::units::format_bps(samples_per_s * profile.sample_bytes),
            profile.round,
            profile.provenance,
        );
    }
}
