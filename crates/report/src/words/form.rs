//! What sets a dataset apart from others of its layout and sample size.

use record::{Axis, AxisWords, Cell};

/// A coordinate whose value alone does not say what it is of: `64 MiB shards`; `None` of any other.
pub(crate) fn words(along: &AxisWords) -> Option<String> {
    let AxisWords { value, unit, .. } = along;
    let number = value.parse::<u64>().ok();
    Some(match along.axis() {
        Axis::ShardBytes => {
            format!("{} shards", number.map_or_else(|| format!("{value}{unit}"), feed::format_bytes))
        }
        Axis::Members => {
            number.map_or_else(|| format!("{value} members"), |members| feed::counted_noun(members, "member"))
        }
        Axis::Codec => format!("codec {value}"),
        Axis::Compressibility => format!("{value} {unit} compressible"),
        _ => return None,
    })
}

/// A form, in the order of the scenario's keys: `64 MiB shards, codec none`; nothing where the scenario lists no several.
pub fn all<'a>(form: impl IntoIterator<Item = &'a AxisWords>) -> String {
    form.into_iter().filter_map(words).collect::<Vec<_>>().join(", ")
}

/// The form of what a cell reads; `None` where the scenario lists no several.
pub(crate) fn of_cell(cell: &Cell) -> Option<String> {
    Some(all(cell.form())).filter(|words| !words.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_said_with_what_it_is_of() {
        let said = |name: &str, value: &str, unit: &str| {
            words(&AxisWords { name: name.to_owned(), value: value.to_owned(), unit: unit.to_owned() })
        };
        assert_eq!(said("shard_size", "67108864", "B").unwrap(), "64 MiB shards");
        assert_eq!(said("members", "1", "").unwrap(), "1 member");
        assert_eq!(said("codec", "none", "").unwrap(), "codec none");
        assert_eq!(said("compressibility", "50", "%").unwrap(), "50 % compressible");
        assert_eq!(said("sample_size", "4096", "B"), None);
    }
}
