//! A record of any content is read, or its loss is named; what was read can be analysed and rendered.
//!
//! The first byte says which file of a small real run is replaced, and whether by the rest of the input or by itself with
//! a part of it replaced: no mutation of nothing comes upon a whole line.

use std::io::Write as _;
use std::path::Path;

use ::record::{
    CELLS_FILE, ENV_FILE, HistogramText, INTERVALS_FILE, Line, RUN_FILE, RankRecord, RecordedIntervals,
    RunRecord, Variant,
};
use analysis::{Margins, RunSample};
use flate2::Compression;
use flate2::write::GzEncoder;
use report::export;
use tempfile::TempDir;

/// Bit of the first byte that asks for an edit of what is there.
const EDITS: u8 = 0x80;

/// Bits of the first byte that ask, all together, for the run with the greatest variety of lines: one of eight inputs, since it
/// takes a thousand times as long.
const GOLDEN: u8 = 0x70;

/// A folder that is fuzzed, and what its files hold without that.
struct Run {
    folder: TempDir,
    files: Vec<(&'static str, Vec<u8>)>,
}

impl Run {
    fn of(fixture: &str) -> Self {
        let origin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates").join(fixture);
        let folder = TempDir::with_prefix("feedline-fuzz-").expect("a folder for the run");
        let read = |file| (file, std::fs::read(origin.join(file)).expect("a file of the fixture"));
        let run = Self { folder, files: [RUN_FILE, ENV_FILE, CELLS_FILE].map(read).into() };
        run.files.iter().for_each(|(file, content)| run.write(file, content));
        run
    }

    fn write(&self, file: &str, content: &[u8]) {
        std::fs::write(self.folder.path().join(file), content).expect("a file of the run");
    }

    /// Reads it with one file replaced, and puts the file back.
    fn with(&self, file: &str, input: &[u8], edits: bool) {
        let Some((_, whole)) = self.files.iter().find(|(name, _)| *name == file) else { return };
        let content = if edits { edited(whole, input) } else { Some(input.to_vec()) };
        let Some(content) = content else { return };
        self.write(file, &content);
        if let Ok(record) = ::record::read_run(self.folder.path()) {
            rendered(&record, &RecordedIntervals::default());
            compared(&record);
        }
        self.write(file, whole);
    }
}

/// Every page, plot and form of one record.
fn rendered(record: &RunRecord, intervals: &RecordedIntervals) {
    let summary = analysis::summarise(record);
    let _ = analysis::gate(&summary);
    let _ = report::terminal(&summary, report::Screen::PLAIN);
    let page = report::markdown(&summary);
    let plots = report::plots(&summary, &analysis::over_time(record, intervals)).unwrap_or_default();
    let (scenario, environment) = ("version = 1\n", &record.env);
    let _ = report::html(&[report::Page { summary: &summary, plots: &plots, scenario, environment }]);
    let _ = (export::csv(record, &summary), export::jsonl(record, &summary), export::fio(record, &summary));
    let _ = (export::bmf(&summary), export::prometheus(&summary), export::tuning(record));
    let _ = (export::junit(&summary, None), export::markdown_within(&page, export::MARKDOWN_BYTES_MIN));
    for direction in [export::Direction::Bigger, export::Direction::Smaller] {
        let _ = export::github_action_benchmark(&summary, direction);
    }
    for distribution in analysis::distributions(&analysis::fold_ranks(record)) {
        let _ = export::hgrm(&distribution);
    }
    let _ = export::otava(&[summary]);
}

/// A record against itself: as a variant, as a later run, over time, and as one rank of two.
fn compared(record: &RunRecord) {
    let of = |id: &str, number: u32| {
        let mut one = record.clone();
        id.clone_into(&mut one.run.run_id);
        one.run.variant =
            Some(Variant { name: id.to_owned(), group: "group".to_owned(), number, settings: Vec::new() });
        one
    };
    let (before, after) = (of("before", 0), of("after", 1));
    let samples = [RunSample::of(&before), RunSample::of(&after)];
    if let Ok(found) = analysis::compare_variants(&samples[0], &samples[1], &Margins::INTERLEAVED) {
        let _ = (
            report::comparison_terminal(&found, report::Screen::PLAIN),
            report::comparison_markdown(&found, usize::MAX),
        );
        let _ = export::junit(&analysis::summarise(record), Some(&found));
    }
    let _ = analysis::compare_stored("before", &samples[..1], &samples[1], 1, &[], &Margins::STORED);
    let _ = analysis::calibrate(&samples[0], &samples[1]);
    let _ = analysis::shift(&before, &after);
    if let Some(history) = analysis::history(&samples) {
        let _ = (report::history_terminal(&history, report::Screen::PLAIN), report::history_csv(&history));
        let _ = report::history_svg(&history);
    }
    let of_rank = |rank: u32| {
        let mut one = record.clone();
        (one.run.rank, one.run.ranks, one.loss) = (rank, 2, None);
        for line in &mut one.lines {
            if let Line::Rep(rep) = line {
                rep.rank = rank;
            }
        }
        RankRecord { name: rank.to_string(), record: one, intervals: RecordedIntervals::default() }
    };
    if let Ok(merged) = ::record::merge(vec![of_rank(0), of_rank(1)], "merged") {
        let whole = RunRecord { run: merged.run, lines: merged.lines, loss: None, ..record.clone() };
        rendered(&whole, &RecordedIntervals { reps: merged.intervals, loss: None });
    }
}

/// `whole` with some bytes replaced: place and length, two bytes each, and what comes there.
fn edited(whole: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    let (edit, by) = input.split_at_checked(4)?;
    let number = |at: usize| usize::from(u16::from_le_bytes([edit[at], edit[at + 1]]));
    // Two bytes reach every place of a small file, and places all over a large one.
    let stride = whole.len() / 65_536 + 1;
    let from = (number(0) * stride).min(whole.len());
    let to = (from + number(2) % 64).min(whole.len());
    Some([&whole[..from], by, &whole[to..]].concat())
}

// Of each thread, so that two that replay inputs do not meet in a folder.
thread_local! {
    static SMALL: Run = Run::of("record/tests/fixtures/v1_4");
    static LARGEST: Run = Run::of("analysis/tests/fixtures/golden");
}

/// Seconds as they come, and inside a member that is whole.
fn intervals(run: &Run, input: &[u8], packs: bool) {
    let mut content = input.to_vec();
    if packs {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(input).expect("memory");
        content = encoder.finish().expect("memory");
    }
    run.write(INTERVALS_FILE, &content);
    if let Ok(found) = ::record::read_intervals(run.folder.path()) {
        for second in found.reps.iter().flat_map(|rep| &rep.seconds) {
            let _ = second.service_ns.decode();
        }
        if let Ok(record) = ::record::read_run(run.folder.path()) {
            let _ = analysis::over_time(&record, &found);
        }
    }
}

/// See the module.
pub fn record(data: &[u8]) {
    let Some((kind, input)) = data.split_first() else { return };
    let run = if kind & GOLDEN == GOLDEN { &LARGEST } else { &SMALL };
    run.with(|run| read(run, *kind, input));
}

/// What the first byte `kind` says is replaced by `input`.
fn read(run: &Run, kind: u8, input: &[u8]) {
    let edits = kind & EDITS != 0;
    match kind & 0x07 {
        0 | 5 => run.with(CELLS_FILE, input, edits),
        1 => run.with(RUN_FILE, input, edits),
        2 => run.with(ENV_FILE, input, edits),
        3 => intervals(run, input, edits),
        _ => {
            if let Ok(histogram) = HistogramText::new(String::from_utf8_lossy(input).into_owned()).decode() {
                let _ = (histogram.value_at_quantile(0.99), ::record::encode(&histogram).decode());
            }
        }
    }
}
