CREATE TABLE invoices (
    number        TEXT    NOT NULL PRIMARY KEY,
    total         BIGINT  NOT NULL DEFAULT 0,
    priority      INTEGER NOT NULL DEFAULT 0,
    status        TEXT    NOT NULL DEFAULT 'new'
        CHECK (status IN ('new', 'again', 'sending', 'sent', 'failed', 'unclear')),
    claim_fence   BIGINT  NOT NULL DEFAULT 0,
    claimed_by    TEXT,
    claimed_since INTEGER,
    lease_until   INTEGER,
    send_after    INTEGER NOT NULL CHECK (typeof(send_after) = 'integer'),
    refusals      INTEGER NOT NULL DEFAULT 0,
    losses        INTEGER NOT NULL DEFAULT 0,
    trouble       TEXT,
    settled_at    INTEGER
);
CREATE INDEX invoices_claim ON invoices (priority DESC, number) WHERE status IN ('new', 'again');
