//! The JSON Schema of scenarios, for editors and the scenario reference.

use schemars::generate::SchemaSettings;

use crate::written::Document;

/// The schema (draft 7) of scenario files, pretty-printed with a final newline.
///
/// It is generated from the types that the reader fills, so it holds exactly the keys that are honoured.
pub fn schema_json() -> String {
    let generator =
        SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true).into_generator();
    let schema = generator.into_root_schema_for::<Document>();
    // Serialising a tree of plain JSON values cannot fail.
    format!("{:#}\n", schema.to_value())
}
