//! Which process of a job this is, as the variables say that launchers set.

use crate::error::PlaceError;

/// Who started the processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launcher {
    /// Open MPI's `mpirun`, PRRTE behind it or not.
    OpenMpi,
    /// MPICH's and Intel's `mpirun`.
    Hydra,
    /// Slurm's `srun`.
    Slurm,
    /// A Kubernetes Job whose pods are numbered.
    IndexedJob,
    /// Another one that speaks PMIx, such as PRRTE's `prun`.
    Pmix,
}

impl Launcher {
    /// Its name for people and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "Open MPI",
            Self::Hydra => "Hydra",
            Self::Slurm => "Slurm",
            Self::IndexedJob => "an Indexed Job",
            Self::Pmix => "PMIx",
        }
    }
}

/// This process in a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Who started it.
    pub launcher: Launcher,
    /// Its number, from 0.
    pub rank: u32,
    /// How many there are; `None` where the variables do not say.
    pub size: Option<u32>,
    /// Whether the launcher speaks PMIx to it.
    pub pmix: bool,
}

/// A figure, and the variable that holds it.
#[derive(Debug, Clone, Copy)]
struct Stated {
    name: &'static str,
    value: u32,
}

impl Stated {
    fn words(self) -> String {
        format!("{}={}", self.name, self.value)
    }
}

impl Place {
    /// The place that the variables state; `None` where no launcher set any, or started one process alone.
    ///
    /// # Errors
    /// Variables that hold no numbers, and such as contradict each other: several processes would each take themselves for
    /// the only one.
    pub fn of(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>, PlaceError> {
        let number = |name: &'static str| match variable(name) {
            None => Ok(None),
            Some(text) => match text.trim().parse() {
                Ok(value) => Ok(Some(Stated { name, value })),
                Err(_) => Err(PlaceError::NoNumber { name, value: text }),
            },
        };
        let pair = |rank, size| Ok((number(rank)?, number(size)?));
        let pmix = match variable("PMIX_NAMESPACE") {
            Some(_) => number("PMIX_RANK")?,
            None => None,
        };
        let ompi = pair("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")?;
        let hydra = pair("PMI_RANK", "PMI_SIZE")?;
        // Of the step and not of the job: `SLURM_NTASKS` stands in a batch script too, which is one process.
        let slurm = pair("SLURM_PROCID", "SLURM_STEP_NUM_TASKS")?;
        let job = number("JOB_COMPLETION_INDEX")?;
        // The nearest launcher first: mpirun inside a step of Slurm's passes on the step's variables.
        let stated = [(Launcher::OpenMpi, ompi), (Launcher::Hydra, hydra), (Launcher::Slurm, slurm)];
        let nearest = stated.iter().find_map(|(launcher, of)| match *of {
            (Some(rank), Some(size)) => Some((*launcher, rank, size)),
            _ => None,
        });
        if let (Some((_, _, size)), (_, Some(step))) = (nearest, slurm)
            && size.value == 1
            && step.value > 1
        {
            return Err(PlaceError::Contradiction { one: size.words(), other: step.words() });
        }
        match (pmix, nearest, job) {
            (Some(own), Some((_, rank, _)), _) if own.value != rank.value => {
                Err(PlaceError::Contradiction { one: own.words(), other: rank.words() })
            }
            (_, Some((_, rank, size)), _) if rank.value >= size.value => {
                Err(PlaceError::BeyondSize { one: rank.words(), other: size.words() })
            }
            (_, Some((_, _, size)), _) if size.value == 1 => Ok(None),
            (pmix, Some((launcher, rank, size)), _) => {
                Ok(Some(Self { launcher, rank: rank.value, size: Some(size.value), pmix: pmix.is_some() }))
            }
            (Some(own), None, _) => {
                Ok(Some(Self { launcher: Launcher::Pmix, rank: own.value, size: None, pmix: true }))
            }
            (None, None, Some(index)) => {
                Ok(Some(Self { launcher: Launcher::IndexedJob, rank: index.value, size: None, pmix: false }))
            }
            (None, None, None) => Ok(None),
        }
    }

    /// In words: `rank 2 of 4, started by Slurm with PMIx`.
    pub fn words(&self) -> String {
        let of = self.size.map_or_else(String::new, |size| format!(" of {size}"));
        let (launcher, with) = (self.launcher.name(), if self.pmix { "with" } else { "without" });
        format!("rank {}{of}, started by {launcher} {with} PMIx", self.rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<Option<Place>, PlaceError> {
        let find = |name: &str| variables.iter().find(|(key, _)| *key == name);
        Place::of(&|name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    fn words(variables: &[(&str, &str)]) -> String {
        of(variables).unwrap().map_or_else(|| "alone".to_owned(), |place| place.words())
    }

    const PMIX: [(&str, &str); 2] = [("PMIX_NAMESPACE", "1"), ("PMIX_RANK", "2")];
    const OMPI: [(&str, &str); 2] = [("OMPI_COMM_WORLD_RANK", "2"), ("OMPI_COMM_WORLD_SIZE", "4")];
    const STEP: [(&str, &str); 2] = [("SLURM_PROCID", "2"), ("SLURM_STEP_NUM_TASKS", "4")];

    #[test]
    fn every_launcher_says_which_process_this_is() {
        assert_eq!(words(&[PMIX, OMPI].concat()), "rank 2 of 4, started by Open MPI with PMIx");
        assert_eq!(words(&[PMIX, STEP].concat()), "rank 2 of 4, started by Slurm with PMIx");
        assert_eq!(words(&STEP), "rank 2 of 4, started by Slurm without PMIx");
        assert_eq!(words(&PMIX), "rank 2, started by PMIx with PMIx");
        let hydra = [("PMI_RANK", "1"), ("PMI_SIZE", "2")];
        assert_eq!(words(&hydra), "rank 1 of 2, started by Hydra without PMIx");
        assert_eq!(words(&[("JOB_COMPLETION_INDEX", "3")]), "rank 3, started by an Indexed Job without PMIx");
    }

    #[test]
    fn one_process_is_alone_and_a_batch_script_is_one_process() {
        assert_eq!(words(&[]), "alone");
        assert_eq!(words(&[("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "1")]), "alone");
        assert_eq!(words(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")]), "alone");
    }

    #[test]
    fn mpirun_inside_a_step_is_the_nearer_launcher() {
        let step = [("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "2")];
        assert_eq!(words(&[PMIX, OMPI, step].concat()), "rank 2 of 4, started by Open MPI with PMIx");
    }

    #[test]
    fn processes_that_each_see_themselves_alone_are_refused() {
        let alone = [("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "1")];
        let refused = of(&[alone, STEP].concat()).unwrap_err().to_string();
        assert!(
            refused.starts_with("OMPI_COMM_WORLD_SIZE=1 and SLURM_STEP_NUM_TASKS=4 contradict"),
            "{refused}"
        );
        let other_rank = [("PMIX_NAMESPACE", "1"), ("PMIX_RANK", "0")];
        let refused = of(&[other_rank, OMPI].concat()).unwrap_err().to_string();
        assert!(refused.starts_with("PMIX_RANK=0 and OMPI_COMM_WORLD_RANK=2 contradict"), "{refused}");
    }

    #[test]
    fn what_is_no_number_or_none_of_them_is_refused() {
        let refused = of(&[("PMI_RANK", "one"), ("PMI_SIZE", "2")]).unwrap_err().to_string();
        assert!(refused.contains("PMI_RANK holds `one`"), "{refused}");
        let refused = of(&[("PMI_RANK", "2"), ("PMI_SIZE", "2")]).unwrap_err().to_string();
        assert!(refused.starts_with("PMI_RANK=2 is none of the processes that PMI_SIZE=2"), "{refused}");
    }
}
