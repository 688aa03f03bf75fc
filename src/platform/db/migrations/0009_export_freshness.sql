-- How fresh an export is, without going through its runs.

ALTER TABLE batch_export_run
  -- Of the first run of a delivery: one of its runs has completed.
  ADD COLUMN is_delivered boolean NOT NULL DEFAULT false;
UPDATE batch_export_run AS first SET is_delivered = true
WHERE repeats IS NULL AND EXISTS (
  SELECT 1 FROM batch_export_run AS run
  WHERE (run.id = first.id OR run.repeats = first.id) AND run.status = 'Completed');
-- What the schedule still owes: few, however many runs there have been.
CREATE INDEX batch_export_run_undelivered ON batch_export_run (batch_export_id)
  WHERE selection = 'arrival' AND repeats IS NULL AND NOT is_delivered;

-- Written by each run that completes, in the transaction that ends it.
CREATE TABLE batch_export_progress (
  batch_export_id uuid PRIMARY KEY REFERENCES batch_export ON DELETE CASCADE,
  -- When the newest event that is at the destination arrived here; null until a run delivers events.
  newest_delivered_at timestamptz,
  last_completed_at timestamptz NOT NULL,
  -- Rows of earlier runs and how long those took, recent ones with more weight: their speed.
  timed_rows double precision NOT NULL,
  timed_ms double precision NOT NULL
);
INSERT INTO batch_export_progress (batch_export_id, last_completed_at, timed_rows, timed_ms)
SELECT batch_export_id, max(finished_at), 0, 0 FROM batch_export_run WHERE status = 'Completed' GROUP BY batch_export_id;
