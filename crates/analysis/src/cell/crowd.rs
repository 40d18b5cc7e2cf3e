//! Other processes on the client: who held the processors while a cell was measured, and who used its device.

mod flags;

use record::{Cell, OtherProgram, Rep};

pub(crate) use flags::{holds_processors, others_read, others_wrote, waited};

// A reader who finds the first two stops them and measures again; a list of twenty daemons helps nobody.
/// Programs that are named.
const NAMED_MAX: usize = 2;

/// Who used the processors of the machine while a cell was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Crowd {
    /// Processors that this process kept busy, mean.
    pub own_cores: f64,
    /// Processors that all others kept busy, the kernel's own work included, mean.
    pub others_cores: f64,
    /// Processors of the machine.
    pub cores: usize,
    /// The programs that used most of them, as far as they could be named.
    pub names: Vec<String>,
}

impl Crowd {
    /// Over those repetitions that tell; `None` where none does.
    fn of(used: &[&Rep]) -> Option<Self> {
        let told: Vec<&Rep> =
            used.iter().copied().filter(|rep| !rep.system.core_busy_ns.is_empty()).collect();
        let cores = told.first()?.system.core_busy_ns.len();
        let sum = |of: fn(&Rep) -> u64| told.iter().map(|rep| of(rep) as f64).sum::<f64>();
        let wall_ns = sum(|rep| rep.usage.wall_ns);
        // The kernel's own work on behalf of this process (interrupts, softirq) is among the others': it is not in its
        // processor time, and cannot be told apart in `/proc/stat`.
        let own_ns = sum(own_ns);
        let names = names(used, |one| one.cpu_ns);
        (wall_ns > 0.0).then(|| Self {
            own_cores: own_ns / wall_ns,
            others_cores: (sum(worked_ns) - own_ns).max(0.0) / wall_ns,
            cores,
            names,
        })
    }

    /// Whether others used more of the processors than this process, so that it was them who held them.
    pub fn is_of_others(&self) -> bool {
        self.others_cores > self.own_cores
    }
}

fn own_ns(rep: &Rep) -> u64 {
    rep.usage.cpu_user_ns.saturating_add(rep.usage.cpu_system_ns)
}

/// Time in which the processors did something; what the hypervisor took is counted as busy, and is not.
fn worked_ns(rep: &Rep) -> u64 {
    let busy_ns = rep.system.core_busy_ns.iter().fold(0_u64, |sum, ns| sum.saturating_add(*ns));
    busy_ns.saturating_sub(rep.usage.steal_ns.unwrap_or(0))
}

/// The programs with most of something over all repetitions, most first.
fn names(used: &[&Rep], of: impl Fn(&OtherProgram) -> u64) -> Vec<String> {
    let mut sums = std::collections::BTreeMap::<&str, u64>::new();
    for one in used.iter().flat_map(|rep| &rep.system.others) {
        let sum = sums.entry(&one.name).or_default();
        *sum = sum.saturating_add(of(one));
    }
    let mut sums: Vec<(&str, u64)> = sums.into_iter().filter(|(_, sum)| *sum > 0).collect();
    sums.sort_by_key(|(_, sum)| std::cmp::Reverse(*sum));
    sums.into_iter().take(NAMED_MAX).map(|(name, _)| name.to_owned()).collect()
}

/// Share of the machine's processor time that the hypervisor took; absent where no repetition tells.
pub(crate) fn stolen_from_machine<'a>(
    reps: impl IntoIterator<Item = &'a Rep>,
    cores_online: Option<u32>,
) -> Option<f64> {
    let (mut steal, mut machine) = (0.0, 0.0);
    for rep in reps {
        if let Some(ns) = rep.usage.steal_ns {
            steal += ns as f64;
            // The kernel counts steal over all processors of the machine, of which this process may have a few.
            machine += rep.usage.wall_ns as f64 * f64::from(cores_online.unwrap_or(rep.usage.cores));
        }
    }
    (machine > 0.0).then(|| steal / machine)
}

/// Share of their time that the hypervisor took from the threads of a cell: what it takes, it takes from all that runs.
pub(crate) fn stolen_from_threads(cell: &Cell, used: &[&Rep]) -> Option<f64> {
    let (mut stolen, mut time) = (0.0, 0.0);
    for rep in used {
        let worked_ns = worked_ns(rep) as f64;
        if let Some(steal_ns) = rep.usage.steal_ns.filter(|_| worked_ns > 0.0) {
            // Which of the machine's threads were stopped is not known. In proportion to what each ran is the guess that
            // favours none.
            stolen += steal_ns as f64 * (own_ns(rep) as f64 / worked_ns).min(1.0);
            time += rep.usage.wall_ns as f64 * f64::from(cell.threads.max(1));
        }
    }
    (time > 0.0).then(|| stolen / time)
}

#[cfg(test)]
mod tests;
