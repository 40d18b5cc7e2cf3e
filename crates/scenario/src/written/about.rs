//! What the user says of a storage: what it is, and what its requests cost.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::diagnostic::{Problem, Problems};
use crate::document::{Node, Value};
use crate::reader::{Field, TableReader, Written};
use crate::value::{Amount, Count, Flag, Text};

/// A line, or a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum About {
    /// In one line.
    Line(Text),
    /// Each thing by itself.
    Table(Box<AboutTable>),
}

impl Written for About {
    fn expected() -> String {
        "text in quotes, or a table such as { product = \"filer\", firmware = \"9.1\" }".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        if !matches!(node.value, Value::Table(_)) {
            return Text::read(node, path, problems).map(Self::Line);
        }
        let mut table = TableReader::open(node, path.to_owned(), "", problems)?;
        let about = AboutTable {
            product: table.field("product", problems),
            firmware: table.field("firmware", problems),
            media: table.field("media", problems),
            nodes: table.field("nodes", problems),
            publish: table.field("publish", problems),
        };
        table.finish(problems);
        Some(Self::Table(Box::new(about)))
    }
}

impl JsonSchema for About {
    fn schema_name() -> Cow<'static, str> {
        "about".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (line, table) = (Text::json_schema(generator), AboutTable::json_schema(generator));
        json_schema!({ "anyOf": [line, table] })
    }
}

/// What a storage is, each thing by itself.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub(crate) struct AboutTable {
    /// What it is sold or known as.
    pub(crate) product: Field<Text>,
    /// Its firmware or version.
    pub(crate) firmware: Field<Text>,
    /// What the data lies on.
    pub(crate) media: Field<Text>,
    /// Servers that make it up.
    pub(crate) nodes: Field<Count>,
    /// Whether reports show all this. The record keeps it in any case. Default: true.
    pub(crate) publish: Field<Flag>,
}

impl About {
    /// In plain types; `None` when something in it was wrong.
    pub(crate) fn resolved(&self) -> Option<plan::About> {
        match self {
            Self::Line(line) => {
                Some(plan::About { product: Some(line.0.clone()), publish: true, ..plan::About::default() })
            }
            Self::Table(table) => Some(plan::About {
                product: text(&table.product)?,
                firmware: text(&table.firmware)?,
                media: text(&table.media)?,
                nodes: match &table.nodes {
                    Field::Wrong(_) => return None,
                    nodes => nodes.given().map(|nodes| nodes.value.into()),
                },
                publish: table.publish.value_or(true)?,
            }),
        }
    }
}

/// `Some(None)` where it was not written; `None` when it was wrong.
#[expect(clippy::option_option, reason = "absent and wrong differ")]
pub(crate) fn text(field: &Field<Text>) -> Option<Option<String>> {
    match field {
        Field::Absent => Some(None),
        Field::Wrong(_) => None,
        Field::Given(entry) => Some(Some(entry.value.0.clone())),
    }
}

/// What requests cost, by the price list that holds for the user.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
#[schemars(extend("required" = ["currency"]))]
pub(crate) struct Price {
    /// As it is printed: USD, EUR.
    pub(crate) currency: Field<Text>,
    /// Of a thousand requests that read (GET, HEAD). Default: 0.
    pub(crate) per_1000_reads: Field<Amount>,
    /// Of a thousand requests that write or list (PUT, LIST). Default: 0.
    pub(crate) per_1000_writes: Field<Amount>,
    /// Of 10^9 bytes that leave the service. Default: 0.
    pub(crate) per_gb: Field<Amount>,
}

impl Written for Price {
    fn expected() -> String {
        "a table such as { currency = \"USD\", per_1000_reads = 0.0004 }".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let mut table = TableReader::open(node, path.to_owned(), &Self::expected(), problems)?;
        let price = Self {
            currency: table.field("currency", problems),
            per_1000_reads: table.field("per_1000_reads", problems),
            per_1000_writes: table.field("per_1000_writes", problems),
            per_gb: table.field("per_gb", problems),
        };
        table.finish(problems);
        if price.currency.is_absent() {
            let problem = Problem::absent(format!("`{path}.currency` is missing"));
            problems.push(problem.at(node.span, "in what?").help("for example currency = \"USD\""));
        }
        Some(price)
    }
}

impl Price {
    /// In plain types; `None` when something in it was wrong.
    pub(crate) fn resolved(&self) -> Option<plan::Price> {
        Some(plan::Price {
            currency: self.currency.given()?.value.0.clone(),
            per_1000_reads: self.per_1000_reads.value_or(0.0)?,
            per_1000_writes: self.per_1000_writes.value_or(0.0)?,
            per_gb: self.per_gb.value_or(0.0)?,
        })
    }
}
