-- What keeps tenants apart: slots by destination as well as by project, a breaker for each destination, and what a run
-- waits for.

-- A hash of where the export goes: its type and the fields that say where its secrets are sent. Null for exports made
-- before this column: each counts as a destination of its own.
ALTER TABLE batch_export ADD COLUMN destination_key text;

-- Two more than four, for scheduled runs to destinations at which nothing of the project is at work.
ALTER TABLE batch_export_slot DROP CONSTRAINT batch_export_slot_active_check;
ALTER TABLE batch_export_slot ADD CONSTRAINT batch_export_slot_active_check CHECK (active BETWEEN 0 AND 6);

-- Known by whoever worked on the run last: the lock that it gave way to, or, while it is at work, since when its
-- destination has not answered.
ALTER TABLE batch_export_run ADD COLUMN waiting_for text, ADD COLUMN waiting_since timestamptz;

-- Destinations whose last attempts have failed. A project's failures never stop another project.
CREATE TABLE batch_export_breaker (
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  -- `destination_key` of the exports it concerns.
  destination text NOT NULL,
  -- In a row; a success removes the row.
  failures integer NOT NULL,
  -- Null while closed. Open: one run at a time may try the destination, from `probe_at` on.
  opened_at timestamptz,
  probe_at timestamptz,
  PRIMARY KEY (project_id, destination),
  CHECK ((opened_at IS NULL) = (probe_at IS NULL))
);
