-- Events on their way from one store to the other, or that went: one row at most, of the last move.
CREATE TABLE event_move (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  target text NOT NULL CHECK (target IN ('duckdb', 'clickhouse')),
  started_at timestamptz NOT NULL,
  -- Set once everything has arrived and was compared.
  finished_at timestamptz
);
