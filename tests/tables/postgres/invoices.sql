CREATE TABLE invoices (
    number        TEXT        NOT NULL PRIMARY KEY,
    total         BIGINT      NOT NULL DEFAULT 0,
    priority      INTEGER     NOT NULL DEFAULT 0,
    status        TEXT        NOT NULL DEFAULT 'new'
        CHECK (status IN ('new', 'again', 'sending', 'sent', 'failed', 'unclear')),
    claim_fence   BIGINT      NOT NULL DEFAULT 0,
    claimed_by    TEXT,
    claimed_since TIMESTAMPTZ,
    lease_until   TIMESTAMPTZ,
    send_after    TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    refusals      INTEGER     NOT NULL DEFAULT 0,
    losses        INTEGER     NOT NULL DEFAULT 0,
    trouble       TEXT,
    settled_at    TIMESTAMPTZ
);
CREATE INDEX invoices_claim ON invoices (priority DESC, number) WHERE status IN ('new', 'again');
