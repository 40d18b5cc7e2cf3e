//! Who else used the machine: all processes are looked at around a repetition, never inside its window.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use backend::Clock;
use record::OtherProgram;

use super::{Watched, parse};

/// Processes beyond which nobody looks: each takes some 20 us.
const PROCESSES_MAX: usize = 4_096;

/// Programs that are named: those that used most processor time, and those that read most.
const NAMED_MAX: usize = 2;

/// Processor time and bytes below which a program is not worth a name.
const CPU_MIN_NS: u64 = 100_000_000;
const READ_MIN_BYTES: u64 = 1 << 20;

/// A process by its number, which the kernel reuses, and by when it began. The name of a process may change: workers of the
/// kernel are named after what they do.
type Process = (u32, u64);

/// What every process but this one had used at one moment.
#[derive(Debug, Default)]
pub(crate) struct Programs(BTreeMap<Process, OtherProgram>);

impl Programs {
    /// Looks at all processes; at none where time is virtual, no storage is behind, or they are very many.
    pub(crate) fn look(clock: &Clock, watched: &Watched) -> Self {
        let is_storage = watched.device.is_some() || watched.interface.is_some();
        let is_real = clock.runs_by_itself() && is_storage;
        let Some(folder) = is_real.then(|| fs::read_dir("/proc").ok()).flatten() else {
            return Self::default();
        };
        let number = |entry: std::io::Result<fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
        let processes: Vec<u32> = folder.filter_map(number).filter(|id| *id != std::process::id()).collect();
        // 80 ms of looking before each repetition at the most; what is left out is a hint, and nothing rests on it.
        if processes.len() > PROCESSES_MAX {
            return Self::default();
        }
        Self(processes.into_iter().filter_map(program).collect())
    }

    /// The programs that used most since `before`; their processes are added up by name. One that began since then used
    /// all that it has, and of one that has ended nothing is known.
    pub(crate) fn others_since(self, before: &Self) -> Vec<OtherProgram> {
        let mut sums: BTreeMap<String, OtherProgram> = BTreeMap::new();
        for (process, now) in self.0 {
            // By number and start: the kernel gives a number anew, and the difference of two processes would be
            // nonsense.
            let known = before.0.get(&process).cloned().unwrap_or_default();
            let name = now.name.clone();
            let sum =
                sums.entry(now.name.clone()).or_insert(OtherProgram { name, ..OtherProgram::default() });
            sum.cpu_ns += now.cpu_ns.saturating_sub(known.cpu_ns);
            if let Some(bytes) = now.read_bytes {
                let read = bytes.saturating_sub(known.read_bytes.unwrap_or(0));
                *sum.read_bytes.get_or_insert(0) += read;
            }
        }
        let all: Vec<OtherProgram> = sums.into_values().collect();
        let by_cpu = most(&all, |one| one.cpu_ns, CPU_MIN_NS);
        let by_bytes = most(&all, |one| one.read_bytes.unwrap_or(0), READ_MIN_BYTES);
        let more = by_bytes.into_iter().filter(|one| !by_cpu.contains(one)).collect::<Vec<_>>();
        by_cpu.into_iter().chain(more).cloned().collect()
    }
}

/// The first by `of`, from `least` on.
fn most(all: &[OtherProgram], of: impl Fn(&OtherProgram) -> u64, least: u64) -> Vec<&OtherProgram> {
    let mut found: Vec<&OtherProgram> = all.iter().filter(|one| of(one) >= least).collect();
    found.sort_by_key(|one| std::cmp::Reverse(of(one)));
    found.truncate(NAMED_MAX);
    found
}

fn program(id: u32) -> Option<(Process, OtherProgram)> {
    let folder = Path::new("/proc").join(id.to_string());
    let stat = fs::read(folder.join("stat")).ok()?;
    let parse::Stat { name, cpu_ns, begun_ticks } = parse::stat(&String::from_utf8_lossy(&stat))?;
    // Only for processes of the same user, unless one is root: others have processor time and no bytes.
    let io = fs::read_to_string(folder.join("io")).ok();
    let read_bytes = io.as_deref().and_then(parse::process_read_bytes);
    Some(((id, begun_ticks), OtherProgram { name, cpu_ns, read_bytes }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs(all: &[(u32, &str, u64, u64)]) -> Programs {
        let begun = |id: u32| u64::from(id) * 10;
        let one = |&(id, name, cpu_ms, read_mib): &(u32, &str, u64, u64)| {
            let program = OtherProgram {
                name: name.to_owned(),
                cpu_ns: cpu_ms * 1_000_000,
                read_bytes: Some(read_mib << 20),
            };
            ((id, begun(id)), program)
        };
        Programs(all.iter().map(one).collect())
    }

    #[test]
    fn programs_are_named_by_what_their_processes_used_since() {
        let before = programs(&[(1, "init", 9_000, 9_000), (2, "stress", 500, 0), (5, "gone", 1, 1)]);
        let after = programs(&[
            (1, "init", 9_050, 9_000),
            (2, "stress", 1_500, 0),
            (3, "stress", 700, 0),
            (4, "tar", 200, 300),
            (6, "idle", 0, 0),
        ]);
        let others = after.others_since(&before);
        let words: Vec<String> = others
            .iter()
            .map(|one| {
                format!("{} {} {:?}", one.name, one.cpu_ns / 1_000_000, one.read_bytes.map(|b| b >> 20))
            })
            .collect();
        assert_eq!(words, ["stress 1700 Some(0)", "tar 200 Some(300)"]);
    }

    #[test]
    fn a_worker_that_changed_its_name_did_only_what_it_did_since() {
        let others = programs(&[(7, "kworker", 2_330, 0)]).others_since(&programs(&[(7, "rcu", 2_330, 0)]));
        assert_eq!(others, []);
    }

    #[test]
    fn a_number_that_was_given_anew_is_another_program() {
        let mut after = programs(&[(7, "new", 300, 0)]);
        let began_later = after.0.remove(&(7, 70)).unwrap();
        after.0.insert((7, 90), began_later);
        let others = after.others_since(&programs(&[(7, "old", 200, 0)]));
        assert_eq!(others[0].cpu_ns, 300_000_000);
    }

    #[test]
    fn nobody_is_looked_at_in_virtual_time_and_this_process_never() {
        let watched = Watched { device: Some("sda".to_owned()), ..Watched::default() };
        assert!(Programs::look(&Clock::simulated(), &watched).0.is_empty());
        assert!(Programs::look(&Clock::real(), &Watched::default()).0.is_empty());
        assert!(!Programs::look(&Clock::real(), &watched).0.keys().any(|(id, _)| *id == std::process::id()));
    }
}
