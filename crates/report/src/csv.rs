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
    let field = &if is_formula { format!("'{field}") } else { field.to_owned() };
    if field.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_what_it_was_and_no_formula() {
        let fields = ["=HYPERLINK(\"x\")", "-1.5e3", "-", "@a", "a,b", "disk/qd8"];
        assert_eq!(row(&fields), "\"'=HYPERLINK(\"\"x\"\")\",-1.5e3,-,'@a,\"a,b\",disk/qd8\r\n");
    }
}
