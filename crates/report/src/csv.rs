//! Rows of figures as text (RFC 4180).

/// A row with its line end: fields in quotes where they hold what ends a field or a row.
pub(crate) fn row(fields: &[impl AsRef<str>]) -> String {
    let fields: Vec<String> = fields.iter().map(|field| quoted(field.as_ref())).collect();
    fields.join(",") + "\r\n"
}

fn quoted(field: &str) -> String {
    // A spreadsheet would compute it: a name from a record is only read.
    let is_formula =
        field.len() > 1 && field.starts_with(['=', '+', '-', '@']) && field.parse::<f64>().is_err();
    // Where a row is shown on a terminal it is only read, too; what is left needs no quotes for line ends.
    let field = feed::plain(&if is_formula { format!("'{field}") } else { field.to_owned() });
    if field.contains([',', '"']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_what_it_was_and_no_formula() {
        let fields = ["=HYPERLINK(\"x\")", "-1.5e3", "-", "@a", "a,b", "disk/qd8", "a\r\n\u{1b}[2Jb"];
        assert_eq!(row(&fields), "\"'=HYPERLINK(\"\"x\"\")\",-1.5e3,-,'@a,\"a,b\",disk/qd8,a   [2Jb\r\n");
    }
}
