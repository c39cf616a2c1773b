-- Instants in three forms: microseconds, UTC without a zone, and with a zone.
CREATE TABLE parcels (
    id         INTEGER     NOT NULL PRIMARY KEY,
    depot      TEXT        NOT NULL,
    state      TEXT        NOT NULL CHECK (state IN ('waiting', 'loading', 'gone', 'lost')),
    fence      BIGINT      NOT NULL DEFAULT 0,
    driver     TEXT,
    since      BIGINT,
    lease      TIMESTAMP,
    due        BIGINT      NOT NULL,
    failures   INTEGER     NOT NULL DEFAULT 0,
    finished   TIMESTAMPTZ
);
