//! What the user says of a storage: what it is, and what its requests cost.

use crate::diagnostic::Problems;
use crate::document::{Node, Value};
use crate::reader::Written;
use crate::table::{Table, missing, table};
use crate::value::{Amount, Count, Flag, Text, schema};

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
        format!("text in quotes, or {}", AboutTable::expected())
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        match node.value {
            Value::Table(_) => {
                AboutTable::read(node, path, problems).map(|table| Self::Table(Box::new(table)))
            }
            _ => Text::read(node, path, problems).map(Self::Line),
        }
    }
}

schema!(About, "about", Text | AboutTable);

table! {
    /// What a storage is, each thing by itself.
    pub(crate) struct AboutTable {
        /// What it is sold or known as.
        product: Text,
        /// Its firmware or version.
        firmware: Text,
        /// What the data lies on.
        media: Text,
        /// Servers that make it up.
        nodes: Count,
        /// Whether reports show all this. The record keeps it in any case. Default: true.
        publish: Flag,
    }
}

impl Table for AboutTable {
    const EXAMPLE: &'static str = "{ product = \"filer\", firmware = \"9.1\" }";
}

impl About {
    /// In plain types; `None` when something in it was wrong.
    pub(crate) fn resolved(&self) -> Option<plan::About> {
        match self {
            Self::Line(line) => {
                // A line is taken for a product: that is what people write when they write one thing.
                Some(plan::About { product: Some(line.0.clone()), publish: true, ..plan::About::default() })
            }
            Self::Table(table) => Some(plan::About {
                product: table.product.optional()?,
                firmware: table.firmware.optional()?,
                media: table.media.optional()?,
                nodes: table.nodes.optional()?,
                publish: table.publish.value_or(true)?,
            }),
        }
    }
}

table! {
    /// What requests cost, by the price list that holds for the user.
    #[schemars(extend("required" = ["currency"]))]
    pub(crate) struct Price {
        /// As it is printed: USD, EUR.
        currency: Text,
        /// Of a thousand requests that read (GET, HEAD). Default: 0.
        per_1000_reads: Amount,
        /// Of a thousand requests that write or list (PUT, LIST). Default: 0.
        per_1000_writes: Amount,
        /// Of 10^9 bytes that leave the service. Default: 0.
        per_gb: Amount,
    }
}

impl Table for Price {
    const EXAMPLE: &'static str = "{ currency = \"USD\", per_1000_reads = 0.0004 }";

    fn check(&self, problems: &mut Problems) {
        // No default: a sum in the wrong currency looks as right as one in the right one.
        if self.currency.is_absent() {
            problems.push(missing(&self.name, "currency", "", "in what?", "currency = \"USD\""));
        }
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
