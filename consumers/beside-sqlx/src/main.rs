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

    let version: String =
        tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
            let pool = sqlx::SqlitePool::connect("sqlite::memory:").await?;
            sqlx::query_scalar("SELECT sqlite_version()").fetch_one(&pool).await
        })?;
    println!("sqlx beside it, on SQLite {version}");
    Ok(())
}
