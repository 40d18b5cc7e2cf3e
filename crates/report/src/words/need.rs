//! Why no line can be drawn, in words.

use analysis::NoNeed;

pub(crate) fn none(why: NoNeed) -> String {
    match why {
        NoNeed::NotStated => "the record states no need, so no line can be drawn".to_owned(),
        NoNeed::Utilization(target) => {
            format!("the record's utilization target is {target}, not within 0 to 1")
        }
    }
}
