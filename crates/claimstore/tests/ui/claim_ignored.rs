#![deny(unused_must_use)]

use claimstore::core::{Claim, ClaimRequest, ClaimStore, StoreError};

fn held<K>() -> Claim<K> {
    unimplemented!()
}

fn ignoring<S: ClaimStore>(store: &S, key: &S::Key, ask: &ClaimRequest) -> Result<(), StoreError> {
    held::<S::Key>();
    store.claim(key, ask)?;
    store.claim_next(ask)?;
    store.settle_and_claim(Vec::new(), ask);
    Ok(())
}

fn main() {}
