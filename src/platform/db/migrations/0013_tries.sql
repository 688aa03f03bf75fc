-- Tries at secrets, counted by account, address and network: one row per window, however many tries fall into it.
CREATE TABLE tries (
  -- A keyed hash: the table does not say who failed, or from where.
  who text NOT NULL,
  window_ms integer NOT NULL,
  used integer NOT NULL,
  ends_at timestamptz NOT NULL,
  PRIMARY KEY (who, window_ms)
);
CREATE INDEX tries_ends_at ON tries (ends_at);

-- One row per failure, counted and then written: of many sent at once, more passed than the limit allows.
DROP TABLE failed_sign_in;
