use claimstore::prelude::*;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;

diesel::table! {
    letters (id) {
        id -> BigInt,
        state -> Text,
        fence -> BigInt,
    }
}

#[derive(Queryable, Selectable, ClaimTable)]
#[diesel(table_name = letters)]
#[claim(backend(sqlite), key = id, fence = fence, order(id.asc()))]
#[claim(state(state, pending("written"), running("sending"), completed("sent")))]
struct Letter {
    id: i64,
}

const TABLE: &str =
    "CREATE TABLE letters (id INTEGER PRIMARY KEY, state TEXT NOT NULL, fence BIGINT NOT NULL DEFAULT 0);
                     INSERT INTO letters (state) VALUES ('written')";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store = SqliteStore::<Letter>::open(":memory:")?;
    store.pool().get()?.batch_execute(TABLE)?;
    let ask = ClaimRequest::new(&WorkerId::generate("consumer"));
    let claimed = store.claim_next(&ask)?.into_iter().next().ok_or("nothing to claim")?;
    println!("letter {}: {:?}", claimed.row.id, store.complete(claimed.claim)?);
    Ok(())
}
