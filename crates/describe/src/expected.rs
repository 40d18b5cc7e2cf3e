//! What a plan says of its storages beforehand, in words that outlive the plan's types.

use feed::bounds::{Burst, Settings};
use plan::Plan;
use record::{Claim, Expect, ExpectBurst, ExpectFigures, ExpectTarget};

/// Claim and emulated servers of a run; `None` where there is neither.
pub(crate) fn of(plan: &Plan) -> Option<Expect> {
    // Absent where nothing was said: records without predictions stay as they were before there were any.
    plan.is_predicted().then(|| Expect {
        claim: plan.expect.as_ref().map(|expect| Claim {
            words: expect.claim.clone(),
            source: expect.source.clone(),
            figures: figures(&expect.settings),
        }),
        targets: plan.targets.iter().map(target).collect(),
    })
}

fn target(target: &plan::Target) -> ExpectTarget {
    let route = target.route();
    ExpectTarget {
        target: target.name.clone(),
        prefixes: route.prefixes,
        one_at_a_time: route.one_at_a_time,
        lookups_per_file: route.lookups_per_file,
        in_parts: route.in_parts,
        emulated: target.emulated().as_ref().map(figures),
    }
}

fn figures(settings: &Settings) -> ExpectFigures {
    ExpectFigures {
        first_byte_s: settings.first_byte_s,
        metadata_s: settings.metadata_s,
        connection_bps: settings.connection_bps,
        total_bps: settings.total_bps,
        requests_per_s: settings.requests_per_s,
        byte_burst: settings.byte_burst.map(burst),
        request_burst: settings.request_burst.map(burst),
        seek_s: settings.seek_s,
    }
}

fn burst(Burst { per_s, credits }: Burst) -> ExpectBurst {
    ExpectBurst { per_s, credits }
}
