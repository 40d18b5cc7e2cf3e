//! Prints the scenario reference of the book, made from the schema: `cargo run -p scenario --example reference`.

#![expect(clippy::print_stdout, reason = "its output is its purpose")]

use serde_json::{Map, Value};

/// Tables in the order in which a scenario is written.
const TABLES: [&str; 11] = [
    "need",
    "dataset",
    "targets",
    "cache_tier",
    "load",
    "training",
    "checkpoint",
    "copy",
    "measure",
    "expect",
    "gate",
];

fn main() {
    let schema: Value = serde_json::from_str(&scenario::schema_json()).unwrap_or_default();
    println!("## Top level\n");
    println!("| key | meaning |\n|---|---|");
    for (key, of) in properties(&schema) {
        if !TABLES.contains(&key.as_str()) {
            println!("{}", row(key, of));
        }
    }
    for table in TABLES {
        let of = &schema["properties"][table];
        print_table(table, of);
        // The one table within a table that is long enough for a place of its own.
        if table == "need"
            && let Some(of) = shape(of)
        {
            print_table("need.checkpoint", &of["properties"]["checkpoint"]);
        }
    }
}

fn print_table(name: &str, of: &Value) {
    let heading = if name == "targets" { "targets.NAME" } else { name };
    println!("\n## `{heading}`\n\n{}\n", text(of));
    println!("| key | meaning |\n|---|---|");
    for (key, of) in shape(of).map(properties).into_iter().flatten() {
        println!("{}", row(key, of));
    }
}

/// The part of a schema that has properties: itself, the table among alternatives, or that of each entry.
fn shape(of: &Value) -> Option<&Value> {
    let alternatives = of["anyOf"].as_array().into_iter().flatten();
    std::iter::once(of)
        .chain(alternatives)
        .chain([&of["additionalProperties"]])
        .find(|part| part["properties"].is_object())
}

fn properties(of: &Value) -> impl Iterator<Item = (&String, &Value)> {
    of["properties"].as_object().into_iter().flat_map(Map::iter)
}

fn row(key: &str, of: &Value) -> String {
    let words = choices(of);
    let words = if words.is_empty() { words } else { format!(" {words}") };
    format!("| `{key}` | {}{words} |", text(of))
}

fn text(of: &Value) -> String {
    of["description"].as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|")
}

/// The words that a key knows, each with its meaning.
fn choices(of: &Value) -> String {
    let lists = ["oneOf", "anyOf"].map(|name| of[name].as_array().cloned().unwrap_or_default());
    let words = lists.concat().into_iter().flat_map(|part| {
        let nested = part["oneOf"].as_array().cloned().unwrap_or_default();
        std::iter::once(part).chain(nested)
    });
    let described = words.filter_map(|word| Some(format!("`{}`: {}", word["const"].as_str()?, text(&word))));
    let described: Vec<String> = described.collect();
    if described.is_empty() { String::new() } else { format!("<br>{}", described.join("<br>")) }
}
