-- The ledger: which events each export has handed to which of its runs. A claim is a rectangle in the plane of positions
-- and times, and the database itself refuses two that overlap. A claim is for ever: a run that failed is done again under
-- the same claim, so no event can leave an export by two ways.
CREATE EXTENSION IF NOT EXISTS btree_gist;

ALTER TABLE batch_export_run
  -- The run whose events this one delivers again, under the same names and keys.
  ADD COLUMN repeats uuid REFERENCES batch_export_run ON DELETE CASCADE,
  -- Its claims are in the ledger; there may be none, when nothing was left to claim.
  ADD COLUMN is_claimed boolean NOT NULL DEFAULT false,
  -- Names of the files that may have become visible, whatever became of the run.
  ADD COLUMN published jsonb;
CREATE INDEX batch_export_run_repeats ON batch_export_run (repeats) WHERE repeats IS NOT NULL;

CREATE TABLE batch_export_claim (
  batch_export_id uuid NOT NULL REFERENCES batch_export ON DELETE CASCADE,
  run_id uuid NOT NULL REFERENCES batch_export_run ON DELETE CASCADE,
  positions int8range NOT NULL,
  -- Of the events' own timestamps; unbounded where the run takes events as they arrive.
  times tstzrange NOT NULL,
  -- How many events there are in it; null until they were counted.
  events bigint,
  EXCLUDE USING gist (batch_export_id WITH =, positions WITH &&, times WITH &&)
);
CREATE INDEX batch_export_claim_run ON batch_export_claim (run_id);

-- Events of a scheduled interval that an earlier backfill had delivered: how many it took, and how many passed its filters.
CREATE TABLE batch_export_share (
  interval_run_id uuid NOT NULL REFERENCES batch_export_run ON DELETE CASCADE,
  run_id uuid NOT NULL REFERENCES batch_export_run ON DELETE CASCADE,
  events bigint NOT NULL,
  rows bigint NOT NULL,
  PRIMARY KEY (interval_run_id, run_id)
);

ALTER TABLE batch_export_backfill
  ADD COLUMN kind text NOT NULL DEFAULT 'backfill' CHECK (kind IN ('backfill', 'unpause', 'repair', 'retry')),
  -- Runs to be done again that have no run of this backfill yet.
  ADD COLUMN queue uuid[] NOT NULL DEFAULT '{}',
  -- No run of it ends later: there is nothing to deliver beyond.
  ADD COLUMN last_end_at timestamptz,
  -- As estimated when it was asked for.
  ADD COLUMN rows_to_deliver bigint,
  ADD COLUMN rows_delivered_before bigint;
UPDATE batch_export_backfill SET kind = 'retry' WHERE retry_of IS NOT NULL;
ALTER TABLE batch_export_backfill ALTER COLUMN kind DROP DEFAULT;

-- Retries so far were runs of their own over the same positions: the first run of an interval is the one they repeat.
UPDATE batch_export_run AS run SET repeats = ranked.first
FROM batch_export_backfill AS backfill, (
  SELECT id, first_value(id) OVER (
    PARTITION BY batch_export_id, data_interval_end, selection ORDER BY created_at, id) AS first
  FROM batch_export_run) AS ranked
WHERE run.backfill_id = backfill.id AND backfill.kind = 'retry' AND ranked.id = run.id AND ranked.first <> run.id;

-- What runs of the schedule owned, they keep.
UPDATE batch_export_run SET is_claimed = true WHERE seq_to IS NOT NULL AND repeats IS NULL;
INSERT INTO batch_export_claim (batch_export_id, run_id, positions, times, events)
SELECT batch_export_id, run.id, int8range(seq_from, seq_to, '(]'), tstzrange(NULL, NULL), seq_to - seq_from
FROM batch_export_run AS run JOIN batch_export ON batch_export.id = run.batch_export_id
WHERE repeats IS NULL AND selection = 'arrival' AND seq_to > seq_from AND batch_export.model = 'events'
ORDER BY run.created_at, run.id
ON CONFLICT DO NOTHING;
-- Completed backfills keep what no run of the schedule owned.
INSERT INTO batch_export_claim (batch_export_id, run_id, positions, times)
SELECT run.batch_export_id, run.id, left_over, tstzrange(data_interval_start, data_interval_end)
FROM batch_export_run AS run JOIN batch_export ON batch_export.id = run.batch_export_id,
  LATERAL (
    SELECT unnest(int8multirange(int8range(0, run.seq_to, '(]')) - coalesce(range_agg(positions), '{}')) AS left_over
    FROM batch_export_claim AS taken
    WHERE taken.batch_export_id = run.batch_export_id AND taken.times = tstzrange(NULL, NULL)) AS free
WHERE repeats IS NULL AND selection = 'timestamp' AND seq_to > 0 AND status = 'Completed'
  AND batch_export.model = 'events'
ORDER BY run.created_at, run.id
ON CONFLICT DO NOTHING;

-- One run for each interval by arrival, of the schedule or making up for a pause: they share their files' names.
DROP INDEX batch_export_run_scheduled;
CREATE UNIQUE INDEX batch_export_run_arrivals ON batch_export_run (batch_export_id, data_interval_end)
  WHERE selection = 'arrival' AND repeats IS NULL;
DROP INDEX batch_export_run_backfilled;
CREATE UNIQUE INDEX batch_export_run_backfilled ON batch_export_run (backfill_id, data_interval_end, repeats)
  NULLS NOT DISTINCT WHERE backfill_id IS NOT NULL;
