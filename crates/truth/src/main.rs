//! Plays worlds and counts how often a verdict is wrong; or plays one again and shows all of it.
//!
//! `truth --worlds 2000 [--from SEED] [--markdown FILE]` exits with 1 above the bounds; `truth SEED` replays one. `truth --causes FILE`
//! plays the scenarios of known causes, and writes what is said of them.

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use truth::{Table, World, judge, play};

const USAGE: &str =
    "usage: truth SEED | truth --causes FILE | truth --worlds N [--from SEED] [--markdown FILE]";

struct Args {
    replay: Option<u64>,
    causes: Option<String>,
    worlds: u64,
    from: u64,
    markdown: Option<String>,
}

fn main() -> ExitCode {
    let done = args().and_then(|args| match (&args.causes, args.replay) {
        (Some(path), _) => Ok(std::fs::write(path, truth::causes::markdown()?).map(|()| ExitCode::SUCCESS)?),
        (None, Some(seed)) => replay(seed),
        (None, None) => count(&args),
    });
    done.unwrap_or_else(|error| {
        let _ = writeln!(std::io::stderr(), "truth: {error}");
        // 1 says that a bound is exceeded, which is a result; a mistyped argument is none.
        ExitCode::from(2)
    })
}

fn args() -> Result<Args, Box<dyn Error>> {
    let mut args = Args { replay: None, causes: None, worlds: 2_000, from: 0, markdown: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(USAGE);
        match word.as_str() {
            "--causes" => args.causes = Some(value()?),
            "--worlds" => args.worlds = value()?.parse()?,
            "--from" => args.from = value()?.parse()?,
            "--markdown" => args.markdown = Some(value()?),
            seed => args.replay = Some(seed.parse().map_err(|_| USAGE)?),
        }
    }
    Ok(args)
}

/// Plays all worlds that are asked for, on every processor.
fn count(args: &Args) -> Result<ExitCode, Box<dyn Error>> {
    let threads = std::thread::available_parallelism()?.get() as u64;
    let seeds = args.from..args.from + args.worlds;
    let part = |thread: u64| {
        let mut table = Table::default();
        // By remainder and not in blocks: classes differ in what they cost, and seeds mix them.
        for seed in seeds.clone().filter(|seed| seed % threads == thread) {
            let world = World::of_seed(seed);
            match play(&world) {
                Ok(played) => table.add(&world, &judge(&world, &played)),
                Err(error) => table.add_broken(seed, error.to_string()),
            }
        }
        table
    };
    let table = std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads).map(|thread| scope.spawn(move || part(thread))).collect();
        let mut table = Table::default();
        for part in parts {
            match part.join() {
                Ok(part) => table.merge(part),
                // A panic in a world is a mistake of feedline and must not be counted as a world that is
                // missing.
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        table
    });
    let mut text = format!("{}\n{}", table.markdown(), table.mistakes());
    if let Some(path) = &args.markdown {
        std::fs::write(path, table.markdown())?;
    }
    let beyond = table.beyond();
    for one in &beyond {
        let _ = writeln!(text, "BEYOND  {one}");
    }
    let _ = writeln!(text, "replay one: cargo run -p truth --release -- SEED");
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(if beyond.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Plays one world and shows scenario, truth, figures and verdict.
fn replay(seed: u64) -> Result<ExitCode, Box<dyn Error>> {
    let world = World::of_seed(seed);
    let played = play(&world)?;
    let finding = judge(&world, &played);
    let mut text = format!("{}\n{world:#?}\n\n", world.scenario());
    let line = world.line();
    let _ = writeln!(text, "line {line:.1} samples/s, storage gives {:.1} to this load", world.gives());
    for cell in &played.summary.cells {
        for (role, measurement) in [("", Some(&cell.measured)), (" fresh", cell.confirmed.as_ref())] {
            let Some(measurement) = measurement else { continue };
            let name = &cell.cell.cell;
            let Some(figures) = measurement.figures() else {
                let _ = writeln!(text, "{name}{role}: {measurement:?}");
                continue;
            };
            let rate = figures.samples_per_s;
            let interval = rate.interval.map_or_else(String::new, |interval| {
                format!(" {:.1} to {:.1} %", interval.low / line * 100.0, interval.high / line * 100.0)
            });
            let _ = writeln!(
                text,
                "{name}{role}: {:.1} % of the line,{interval} by {} repetitions {:?}",
                rate.mean / line * 100.0,
                figures.repetitions,
                figures.flags
            );
        }
    }
    let changed: Vec<String> = played.met.iter().map(|met| format!("{:.2}", met.changed)).collect();
    let _ = writeln!(text, "changes by repetition: {}", changed.join(" "));
    let _ = writeln!(text, "\n{finding:#?}\n{} {}", finding.word, finding.sentence);
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(if finding.is_wrong() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
