//! The claim statements, as Diesel queries.
//!
//! A claim *is* a Diesel query: each node here can be run on any connection of its database, inside any
//! transaction, by Diesel or by diesel-async, shown by `debug_query` and given to `EXPLAIN`. The stores
//! are sugar over them. What a node does not do is what a single statement cannot: wait modes, telling
//! *why* a row was refused, recording late writers, retrying.
//!
//! ```
//! # use claimstore_diesel as claimstore;
//! use claimstore::{Job, query};
//! use claimstore::core::{ClaimRequest, WorkerId};
//!
//! let ask = ClaimRequest::new(&WorkerId::new("w")?).queue("mail").limit(10);
//! let claim_ten = query::claim_next::<Job>(&ask);
//! # Ok::<(), claimstore::core::InputError>(())
//! ```

mod blockers;
mod claim;
mod count;
mod given;
mod holder;
mod look;
mod node;
mod observe;
mod operate;
mod paused;
mod prune;
mod queues;
mod read;
mod recover;
mod renew;
mod settle;
mod settle_and_claim;
mod shape;
mod table_text;
mod template;
mod values;
mod won;

pub use blockers::{Blockers, blockers};
pub use claim::{ClaimKey, ClaimNext, claim_key, claim_next};
pub use count::{Counting, Number, OldestDue, count, oldest_due};
pub use given::{Given, GivenColumn, LockedRows};
pub use holder::{Holder, KeyOf, holder};
pub use look::{Hold, Look, LookFor, LookParts, Sighted, look_at, look_for};
pub use observe::{NextDue, Observe, next_due, observe};
pub use operate::{Operate, operate, remove};
pub(crate) use paused::{Scope, runs, unless_paused};
pub use prune::{Prune, PruneParts, prune, prune_events};
pub use queues::{Set, SetQueue, Setting, Settings, keep_completed, pause, settings, unpause};
pub use read::{Model, Read, read};
pub use recover::{Expiring, Recover, expiring, recover};
pub use renew::{Renew, renew};
pub(crate) use settle::is_discarded;
pub use settle::{Guard, Settle, SettleMany, guard, settle, settle_many};
pub use settle_and_claim::{SettleAndClaim, settle_and_claim};
pub use shape::{ClaimParts, Shape};
pub use table_text::{Forms, TableText};
pub(crate) use table_text::{last_fence, literal};
pub use template::{Ahead, Hole, Template, TimeForm};
pub(crate) use values::Lapse;
pub use values::Values;
#[cfg(feature = "postgres")]
pub(crate) use won::Reader;
pub use won::{Due, ExpiredRow, Marked, Observed, Touched, Unreadable, Won, WonOrTouched};
