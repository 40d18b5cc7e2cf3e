//! Shares as a reader takes them in.

/// A utilization: `96.1 %`, and one digit more from 99.9 on, cut and not rounded, since 99.96 is not all.
pub(crate) fn utilization(au: f64) -> String {
    let percent = au * 100.0;
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
        format!("{value:.0} %")
    }
}
