//! Open MPI's `mpirun`: several processes on this machine that meet through PMIx.

use std::process::Command;

use crate::Unavailable;
use crate::namespace::require;

/// A command that starts the programs with their arguments, each in so many processes. They are ranks in this order.
///
/// # Errors
///
/// Where the package `openmpi-bin` is missing, which brings PMIx's library.
pub fn mpirun(programs: &[(u32, Vec<String>)]) -> Result<Command, Unavailable> {
    require("mpirun", "openmpi-bin libpmix2")?;
    let mut command = Command::new("mpirun");
    // As many as are asked for, however few processors there are; and each may use all of them.
    command.args(["--oversubscribe", "--bind-to", "none"]);
    for (number, (processes, program)) in programs.iter().enumerate() {
        if number > 0 {
            command.arg(":");
        }
        command.args(["-n", &processes.to_string()]).args(program);
    }
    // A container's only user is root.
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    Ok(command)
}
