//! Bencher Metric Format: `{"cell": {"measure": {"value": 1, "lower_value": 0.9, "upper_value": 1.1}}}`.

use analysis::Summary;
use serde_json::{Map, Value, json};

use super::Export;
use super::measure::measures;

/// Longest name of a benchmark that Bencher takes.
const NAME_CHARS_MAX: usize = 1_024;

/// The cells of a run for [Bencher](https://bencher.dev), with the 95 % interval as lower and upper value.
pub fn bmf(summary: &Summary) -> Export {
    let mut benchmarks = Map::new();
    let mut gaps = Vec::new();
    for cell in &summary.cells {
        let (measures, absent) = measures(cell);
        gaps.extend(absent);
        let name = &cell.cell.cell;
        // Left out and said: a name that is cut would be another benchmark from then on.
        if name.chars().count() > NAME_CHARS_MAX {
            gaps.push(format!("{name}: its name is longer than {NAME_CHARS_MAX} characters"));
            continue;
        }
        let metric = |measure: &super::measure::Measure| {
            let value = match measure.interval {
                Some((low, high)) => {
                    json!({ "value": measure.value, "lower_value": low, "upper_value": high })
                }
                None => json!({ "value": measure.value }),
            };
            (measure.tracked.name.to_owned(), value)
        };
        if !measures.is_empty() {
            benchmarks.insert(name.clone(), Value::Object(measures.iter().map(metric).collect()));
        }
    }
    Export { text: super::json::pretty(&Value::Object(benchmarks)), gaps }
}
