//! Shares as sentences have them.

use crate::number::{self, in_times};

/// A share of the line: `8.0 %`, `278 %`, and `17,665 x` from 10,000 % on.
pub(crate) fn of_line(share: f64) -> String {
    in_times(share).unwrap_or_else(|| percent(share))
}

/// A utilization: `96.1 %`, and one digit more from 99.9 on, cut and not rounded, since 99.96 is not all.
pub(crate) fn utilization(au: f64) -> String {
    let percent = au * 100.0;
    // Cut and with a second digit: what a user reads as 100 % must be all.
    if (99.9..100.0).contains(&percent) {
        // The tolerance keeps 99.98 from becoming 99.97 by its own binary form.
        return format!("{:.2} %", (percent * 100.0 + 1e-6).floor() / 100.0);
    }
    format!("{percent:.1} %")
}

/// `97 %`, and one digit more below 10.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value <= 0.0 {
        "0 %".to_owned()
    } else if value < 0.05 {
        "under 0.1 %".to_owned()
    } else if value < 9.95 {
        format!("{value:.1} %")
    } else {
        number::percent(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_line_keeps_a_digit_where_it_is_small() {
        assert_eq!([0.05, 2.78, 99.99, 100.0].map(of_line), ["5.0 %", "278 %", "9,999 %", "100 x"]);
    }

    #[test]
    fn a_utilization_is_cut_near_the_whole() {
        let written = [0.5, 0.961_4, 0.998_9, 0.999, 0.999_8, 0.999_999, 1.0].map(utilization);
        assert_eq!(written, ["50.0 %", "96.1 %", "99.9 %", "99.90 %", "99.98 %", "99.99 %", "100.0 %"]);
    }
}
