use claimstore::prelude::*;

#[derive(serde::Serialize, serde::Deserialize)]
struct Hello;
impl JobKind for Hello {
    const KIND: &'static str = "hello";
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store = SqliteStore::<Job>::open(":memory:")?;
    store.migrate()?;
    store.enqueue(&[NewJob::of(&Hello)?])?;
    let ask = ClaimRequest::new(&WorkerId::generate("consumer"));
    let claimed = store.claim_next(&ask)?.into_iter().next().ok_or("nothing to claim")?;
    println!("{:?}", store.complete(claimed.claim)?);

    let other = rusqlite::Connection::open_in_memory()?;
    let version: String = other.query_row("SELECT sqlite_version()", [], |row| row.get(0))?;
    println!("rusqlite beside it, on SQLite {version}");
    Ok(())
}
