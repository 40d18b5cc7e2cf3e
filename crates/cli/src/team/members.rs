//! Who the processes of a launcher are, and that they are about to measure the same.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use plan::Plan;
use record::Member;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::environment;
use crate::exit::{Exit, Failure};
use crate::load::Loaded;

/// Differences that are named one by one.
// A host with another version differs in all of them.
const NAMED_MAX: usize = 6;

/// Bytes at either end of an executable that tell it from another.
// A whole one of a debug build takes seconds to read; what a linker writes lies at both ends.
const ENDS_BYTES: u64 = 1 << 20;

/// What a process says of itself. Names travel between the processes alone; a record gets them redacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hello {
    /// Name of its host.
    pub(super) host: String,
    /// What tells its machine from others.
    machine: String,
    /// What must not differ, by what it is called; digests of what is long.
    same: Vec<(String, String)>,
    /// Why it cannot measure.
    failure: Option<(bool, String)>,
    /// Names that its record would hide, and what is written in their place.
    secrets: Vec<(String, String)>,
}

impl Hello {
    /// That of this process; `loaded` is what it would measure.
    pub(super) fn of(loaded: &Result<Loaded, Failure>, keep_names: bool) -> Self {
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let machine = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
        let mut same = vec![
            ("the version of feedline".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("the executable".to_owned(), executable().unwrap_or_else(|error| error.to_string())),
        ];
        let failure = match loaded {
            Ok(loaded) => {
                same.extend(planned(loaded));
                None
            }
            Err(failure) => Some((failure.exit() == Exit::Usage, failure.to_string())),
        };
        Self {
            machine: machine.map_or_else(|_| name.clone(), |id| id.trim().to_owned()),
            host: name,
            same,
            failure,
            secrets: if keep_names { Vec::new() } else { environment::secrets() },
        }
    }
}

/// What is planned, part by part, so that a difference can be named.
fn planned(Loaded { text, plan }: &Loaded) -> Vec<(String, String)> {
    let Plan { need, datasets, targets, cells, measure, gate, .. } = plan;
    let parts = [
        ("the scenario's text", text.clone()),
        ("the need", format!("{need:?}")),
        ("the datasets", format!("{datasets:?}")),
        ("the targets", format!("{targets:?}")),
        // After the rest: they follow from it, and from the machine's processors and what it allows.
        ("the cells, as each machine resolves them", format!("{cells:?}")),
        ("what is under `measure`", format!("{measure:?}")),
        ("what is under `gate`", format!("{gate:?}")),
    ];
    parts.into_iter().map(|(what, text)| (what.to_owned(), digest(text.as_bytes()))).collect()
}

/// Length of this executable, and a digest of its ends.
fn executable() -> io::Result<String> {
    let file = File::open("/proc/self/exe")?;
    let bytes = file.metadata()?.len();
    let end = |from: u64| -> io::Result<Vec<u8>> {
        let mut end = vec![0; bytes.saturating_sub(from).min(ENDS_BYTES) as usize];
        file.read_exact_at(&mut end, from)?;
        Ok(end)
    };
    let ends = [end(0)?, end(bytes.saturating_sub(ENDS_BYTES))?].concat();
    Ok(format!("{bytes} B {}", digest(&ends)))
}

fn digest(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().take(16).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Why processes do not measure together: what rank 0 says for all.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) exit: Exit,
    pub(super) text: String,
}

/// That all of them can measure, and the same.
pub(super) fn agree(all: &[Hello]) -> Result<(), Refusal> {
    let called = |rank: usize| format!("rank {rank} on {}", all[rank].host);
    let mut failed = all.iter().enumerate().filter_map(|(rank, one)| Some((rank, one.failure.as_ref()?)));
    if let Some((rank, (is_usage, text))) = failed.next() {
        let exit = if *is_usage { Exit::Usage } else { Exit::Error };
        // Where all fail they do so for one reason, which needs no name of a host.
        let all_fail = 1 + failed.count() == all.len();
        let text = if all_fail { text.clone() } else { format!("{}: {text}", called(rank)) };
        return Err(Refusal { exit, text });
    }
    let differing = all.iter().enumerate().flat_map(|(rank, one)| {
        let differs = all[0].same.iter().zip(&one.same).filter(|(own, other)| own != other);
        differs.map(move |((what, _), _)| (rank, what))
    });
    let differing: Vec<String> =
        differing.map(|(rank, what)| format!("\n  - {what}: {}", called(rank))).collect();
    if differing.is_empty() {
        return Ok(());
    }
    let more = differing.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!("\n  and {more} more differences") } else { String::new() };
    let named = differing.into_iter().take(NAMED_MAX).collect::<String>();
    Err(Refusal {
        exit: Exit::Usage,
        text: format!(
            "error: the processes would not measure the same as {}; other is{named}{more}\n  hint: let every host have the \
             same feedline, the same scenario and the same options",
            called(0)
        ),
    })
}

/// All of them for the record; machines are numbered as they come. A host whose name is hidden has its label: as the whole
/// of a field a name is one however short it is.
pub(super) fn members(all: &[Hello], clocks: &[(i64, u64)]) -> Vec<Member> {
    let secrets = secrets(all);
    let label =
        |host: &str| secrets.iter().find(|(secret, _)| secret == host).map(|(_, label)| label.clone());
    let mut machines: BTreeMap<&str, u32> = BTreeMap::new();
    let mut members = Vec::with_capacity(all.len());
    for (one, (ahead_ns, uncertainty_ns)) in all.iter().zip(clocks) {
        let next = machines.len() as u32;
        members.push(Member {
            host: label(&one.host).unwrap_or_else(|| one.host.clone()),
            machine: *machines.entry(&one.machine).or_insert(next),
            clock_ahead_ns: *ahead_ns,
            clock_uncertainty_ns: *uncertainty_ns,
        });
    }
    members
}

/// What is hidden in the record of all, and what is written in its place: each kind of name is numbered, as hosts and users
/// differ.
pub(super) fn secrets(all: &[Hello]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for (secret, label) in all.iter().flat_map(|one| &one.secrets) {
        if found.iter().any(|(known, _)| known == secret) {
            continue;
        }
        let label = match label.strip_suffix("-1") {
            Some(kind) => {
                let count = counts.entry(kind.to_owned()).or_default();
                *count += 1;
                format!("{kind}-{count}")
            }
            None => label.clone(),
        };
        found.push((secret.clone(), label));
    }
    found
}

/// Whether this process is the first of its machine, by the members of all.
pub(super) fn is_first_of_machine(members: &[Member], rank: u32) -> bool {
    let machine = members[rank as usize].machine;
    members.iter().position(|member| member.machine == machine) == Some(rank as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(host: &str, machine: &str) -> Hello {
        let same = [("the version of feedline", "1"), ("the executable", "9 B x"), ("the cells", "c")];
        Hello {
            host: host.to_owned(),
            machine: machine.to_owned(),
            same: same.map(|(what, is)| (what.to_owned(), is.to_owned())).to_vec(),
            failure: None,
            secrets: vec![
                ("/home/ada".to_owned(), "~".to_owned()),
                (host.to_owned(), "host-1".to_owned()),
                ("ada".to_owned(), "user-1".to_owned()),
            ],
        }
    }

    #[test]
    fn what_differs_is_named_with_its_host() {
        let mut all = vec![hello("n1", "a"), hello("n2", "b"), hello("n3", "c")];
        assert_eq!(agree(&all), Ok(()));
        all[2].same[1].1 = "10 B y".to_owned();
        let refusal = agree(&all).unwrap_err();
        assert_eq!(refusal.exit, Exit::Usage);
        let said = "error: the processes would not measure the same as rank 0 on n1; other is\n  - the executable: rank 2 on n3\n  hint";
        assert!(refusal.text.starts_with(said), "{}", refusal.text);
        // Of many, some are named and the rest counted.
        let mut many: Vec<Hello> = (0..20).map(|rank| hello(&format!("n{rank}"), "a")).collect();
        many.iter_mut().skip(1).for_each(|one| one.same[2].1 = "d".to_owned());
        assert!(agree(&many).unwrap_err().text.contains("\n  and 13 more differences\n"));
    }

    #[test]
    fn one_that_cannot_measure_says_why_and_where() {
        let mut all = vec![hello("n1", "a"), hello("n2", "b")];
        all[1].failure = Some((true, "error: cannot read the scenario".to_owned()));
        let refusal = agree(&all).unwrap_err();
        assert_eq!(refusal.text, "rank 1 on n2: error: cannot read the scenario");
        all[0].failure = Some((false, "error: cannot read the scenario".to_owned()));
        let refusal = agree(&all).unwrap_err();
        assert_eq!((refusal.exit, refusal.text.as_str()), (Exit::Error, "error: cannot read the scenario"));
    }

    #[test]
    fn machines_are_told_apart_by_what_they_are_and_not_by_their_names() {
        let all = [hello("pod-0", "a"), hello("pod-1", "a"), hello("pod-2", "b")];
        let members = super::members(&all, &[(0, 0), (5, 1), (-5, 2)]);
        let machines: Vec<u32> = members.iter().map(|member| member.machine).collect();
        assert_eq!(machines, [0, 0, 1]);
        let hosts: Vec<&str> = members.iter().map(|member| member.host.as_str()).collect();
        assert_eq!(hosts, ["host-1", "host-2", "host-3"]);
        assert_eq!([0, 1, 2].map(|rank| is_first_of_machine(&members, rank)), [true, false, true]);
    }

    #[test]
    fn the_names_of_all_are_hidden_and_each_has_a_number() {
        let mut all = vec![hello("n1", "a"), hello("n2", "b"), hello("n1", "a")];
        all[1].secrets[2].0 = "bob".to_owned();
        let found: Vec<String> =
            secrets(&all).into_iter().map(|(secret, label)| format!("{secret}={label}")).collect();
        assert_eq!(found, ["/home/ada=~", "n1=host-1", "ada=user-1", "n2=host-2", "bob=user-2"]);
    }

    #[test]
    fn an_executable_is_known_by_its_length_and_its_ends() {
        let own = executable().unwrap();
        assert_eq!(own, executable().unwrap());
        let bytes = std::fs::metadata("/proc/self/exe").unwrap().len();
        assert!(own.starts_with(&format!("{bytes} B ")), "{own}");
    }
}
