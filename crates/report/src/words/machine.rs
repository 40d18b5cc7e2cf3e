//! A machine in words.

use analysis::Machine;

/// Processor, cores, memory and kernel; empty when none of them is known.
pub fn machine(machine: &Machine) -> String {
    let parts = [
        machine.cpu_model.clone(),
        machine.cores.map(|cores| format!("{cores} cores")),
        machine.memory_bytes.map(feed::format_bytes),
        machine.kernel.as_ref().map(|release| format!("kernel {release}")),
        machine.virtualization.clone(),
        machine.container.clone(),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
