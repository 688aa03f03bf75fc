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

-- Retries so far were runs of their own over the same positions. Each repeats the run that the first of a chain of
-- retries was asked for.
WITH RECURSIVE retry AS (
  SELECT run.id, backfill.retry_of AS first
  FROM batch_export_run AS run JOIN batch_export_backfill AS backfill ON backfill.id = run.backfill_id
  WHERE backfill.kind = 'retry'
  UNION ALL
  SELECT retry.id, backfill.retry_of
  FROM retry JOIN batch_export_run AS run ON run.id = retry.first
    JOIN batch_export_backfill AS backfill ON backfill.id = run.backfill_id
  WHERE backfill.kind = 'retry')
UPDATE batch_export_run AS run SET repeats = retry.first
FROM retry JOIN batch_export_run AS first ON first.id = retry.first
WHERE run.id = retry.id AND NOT EXISTS (SELECT 1 FROM retry AS longer WHERE longer.id = retry.first);
-- Where the first run ended before it had positions, the retry has found them.
UPDATE batch_export_run AS first SET seq_from = retry.seq_from, seq_to = retry.seq_to
FROM batch_export_run AS retry WHERE retry.repeats = first.id AND retry.seq_to IS NOT NULL AND first.seq_to IS NULL;

-- Whoever repeats a run that got through keeps its rows and replaces its files. Not those of backfills: they may have been
-- written over by the schedule, whose names they had.
UPDATE batch_export_run SET published = coalesce(
  (SELECT jsonb_agg(file -> 'name') FROM jsonb_array_elements(files) AS file WHERE selection = 'arrival'), '[]')
WHERE status = 'Completed';

-- What runs of the schedule owned, they keep. Of backfills, those that got through; the others take what is left by then.
UPDATE batch_export_run AS first SET is_claimed = true
WHERE seq_to IS NOT NULL AND repeats IS NULL AND (selection = 'arrival' OR EXISTS (
  SELECT 1 FROM batch_export_run AS run WHERE (run.id = first.id OR run.repeats = first.id) AND run.status = 'Completed'));
INSERT INTO batch_export_claim (batch_export_id, run_id, positions, times, events)
SELECT batch_export_id, run.id, int8range(seq_from, seq_to, '(]'), tstzrange(NULL, NULL), seq_to - seq_from
FROM batch_export_run AS run JOIN batch_export ON batch_export.id = run.batch_export_id
WHERE is_claimed AND selection = 'arrival' AND seq_to > seq_from AND batch_export.model = 'events'
ORDER BY run.created_at, run.id
ON CONFLICT DO NOTHING;
-- One backfill after the other: each keeps what neither the schedule nor an earlier one owned.
DO $$
DECLARE backfilled record;
BEGIN
  FOR backfilled IN
    SELECT run.id, batch_export_id, seq_to, tstzrange(data_interval_start, data_interval_end) AS times
    FROM batch_export_run AS run JOIN batch_export ON batch_export.id = run.batch_export_id
    WHERE is_claimed AND selection = 'timestamp' AND batch_export.model = 'events'
    ORDER BY run.created_at, run.id
  LOOP
    INSERT INTO batch_export_claim (batch_export_id, run_id, positions, times)
    SELECT backfilled.batch_export_id, backfilled.id, unnest(free), backfilled.times
    FROM (
      SELECT int8multirange(int8range(0, backfilled.seq_to, '(]')) - coalesce(range_agg(positions), '{}') AS free
      FROM batch_export_claim
      WHERE batch_export_id = backfilled.batch_export_id AND times && backfilled.times) AS left_over;
  END LOOP;
END $$;

-- One run for each interval by arrival, of the schedule or making up for a pause: they share their files' names.
DROP INDEX batch_export_run_scheduled;
CREATE UNIQUE INDEX batch_export_run_arrivals ON batch_export_run (batch_export_id, data_interval_end)
  WHERE selection = 'arrival' AND repeats IS NULL;
DROP INDEX batch_export_run_backfilled;
CREATE UNIQUE INDEX batch_export_run_backfilled ON batch_export_run (backfill_id, data_interval_end, repeats)
  NULLS NOT DISTINCT WHERE backfill_id IS NOT NULL;
