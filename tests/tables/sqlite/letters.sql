-- Instants as text of one fixed width, `2026-01-31 12:00:00.000000`, and one as microseconds.
CREATE TABLE letters (
    id         BIGINT  NOT NULL PRIMARY KEY,
    tray       TEXT    NOT NULL,
    state      TEXT    NOT NULL CHECK (state IN ('waiting', 'sorting', 'gone', 'lost')),
    fence      BIGINT  NOT NULL DEFAULT 0,
    clerk      TEXT,
    since      TEXT    CHECK (length(since) = 26),
    lease      TEXT    CHECK (length(lease) = 26),
    due        TEXT    NOT NULL CHECK (length(due) = 26),
    failures   INTEGER NOT NULL DEFAULT 0,
    crashes    INTEGER NOT NULL DEFAULT 0,
    finished   BIGINT  CHECK (typeof(finished) IN ('integer', 'null'))
);
