use claimstore::diesel::{Connection, PgConnection, connection::SimpleConnection};
use claimstore::prelude::*;

#[derive(serde::Serialize, serde::Deserialize)]
struct Hello;
impl JobKind for Hello {
    const KIND: &'static str = "hello";
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A schema of its own, named so that the tests sweep it should this process be killed.
    let url = std::env::var("CLAIMSTORE_TEST_POSTGRES_URL")?;
    let second = std::time::UNIX_EPOCH.elapsed()?.as_secs();
    let schema = format!("claimstore_test_{second:010}_{:0>12}", std::process::id());
    let mut server = PgConnection::establish(&url)?;
    server.batch_execute(&format!("CREATE SCHEMA {schema}"))?;
    let and = if url.contains('?') { '&' } else { '?' };

    let store = PgStore::<Job>::connect(&format!("{url}{and}options=-csearch_path%3D{schema}"))?;
    store.migrate()?;
    store.enqueue(&[NewJob::of(&Hello)?])?;
    let ask = ClaimRequest::new(&WorkerId::generate("consumer"));
    let claimed = store.claim_next(&ask)?.into_iter().next().ok_or("nothing to claim")?;
    println!("{:?}", store.complete(claimed.claim)?);

    server.batch_execute(&format!("SET client_min_messages = warning; DROP SCHEMA {schema} CASCADE"))?;
    Ok(())
}
