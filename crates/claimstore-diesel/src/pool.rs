//! Pools of our own making.

use std::time::Duration;

use claimstore_core::{StoreError, StoreErrorKind};
use diesel::r2d2::{
    ConnectionManager, CustomizeConnection, Error as PoolError, ManageConnection, Pool, R2D2Connection,
};

/// What a pool of ours differs in.
pub(crate) struct PoolOptions<C: 'static> {
    pub(crate) connections: u32,
    pub(crate) customizer: Option<Box<dyn CustomizeConnection<C, PoolError>>>,
}

impl<C> Default for PoolOptions<C> {
    fn default() -> Self {
        PoolOptions { connections: 10, customizer: None }
    }
}

/// A pool that does not test connections on checkout: the test costs a round trip for each call, and the
/// store finds a dead connection by itself.
pub(crate) fn build<C>(
    manager: ConnectionManager<C>,
    options: PoolOptions<C>,
) -> Result<Pool<ConnectionManager<C>>, StoreError>
where
    C: R2D2Connection + 'static,
{
    // A wrong address is known now, not at the first claim. The manager is asked itself, since the pool would
    // go on trying for half a minute before it says why not.
    let mut first = manager.connect().map_err(unreachable)?;
    if let Some(customizer) = &options.customizer {
        customizer.on_acquire(&mut first).map_err(unreachable)?;
    }
    let mut pool = Pool::builder()
        .max_size(options.connections)
        .min_idle(Some(0))
        .test_on_check_out(false)
        // r2d2 would wait for half a minute, whether all connections are in use or the server is away.
        .connection_timeout(Duration::from_secs(5));
    if let Some(customizer) = options.customizer {
        pool = pool.connection_customizer(customizer);
    }
    pool.build(manager).map_err(unavailable)
}

fn unreachable(why: PoolError) -> StoreError {
    StoreError::new(StoreErrorKind::Unavailable, "connecting", why)
}

pub(crate) fn unavailable(why: diesel::r2d2::PoolError) -> StoreError {
    StoreError::new(StoreErrorKind::Unavailable, "connecting", why)
}
