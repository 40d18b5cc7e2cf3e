//! Azure Blob Storage as storage under test, by the engine `lean` of [`backend_http`].
//!
//! A target is a container of a storage account, or what lies below a prefix of it. Requests are signed by the account's key
//! (Shared Key), carry a shared access signature (SAS), or are anonymous; what signs them comes from the environment, as for
//! every Azure tool. What is not timed (opening, listing, writing, removing) goes over connections of its own (`call.rs`), which
//! wait for each answer. No key, token or signature appears in an error, a fact or a record.

mod account;
mod asked;
mod call;
mod container;
mod date;
mod failure;
pub mod fuzzing;
mod kind;
mod listing;
mod page;
mod request;
mod rights;
mod sign;
mod store;
mod write;

pub use store::AzureStore;
