use claimstore::core::Claim;

fn copy(claim: &Claim<i64>) -> Claim<i64> {
    claim.clone()
}

fn main() {}
