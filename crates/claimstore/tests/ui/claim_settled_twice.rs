use claimstore::core::{Claim, ClaimStore};

fn twice<S: ClaimStore>(store: &S, claim: Claim<S::Key>) {
    let _ = store.complete(claim);
    let _ = store.complete(claim);
}

fn main() {}
