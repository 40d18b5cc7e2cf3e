//! Rows of figures as text (RFC 4180).

/// A row with its line end: fields in quotes where they hold what ends a field or a row.
pub(crate) fn row(fields: &[impl AsRef<str>]) -> String {
    let fields: Vec<String> = fields.iter().map(|field| quoted(field.as_ref())).collect();
    fields.join(",") + "\r\n"
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
