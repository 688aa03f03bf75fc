-- What carries events out: exports, the runs that do it, backfills, and what they say of themselves.

CREATE TABLE batch_export (
  id uuid PRIMARY KEY,
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  name text NOT NULL,
  model text NOT NULL CHECK (model IN ('events', 'persons', 'sessions')),
  destination_type text NOT NULL,
  -- Without secrets: those are in `secrets`, sealed, as one JSON object of the same shape.
  config jsonb NOT NULL,
  secrets text NOT NULL,
  interval text NOT NULL,
  timezone text NOT NULL,
  offset_day smallint,
  offset_hour smallint,
  paused boolean NOT NULL,
  last_paused_at timestamptz,
  start_at timestamptz,
  end_at timestamptz,
  -- Normalised; null for the columns of the destination's own.
  hogql_query text,
  schema jsonb,
  filters jsonb,
  -- End of the next interval that has no run yet. Kept, so that what falls due while nobody runs is made up for.
  next_due_at timestamptz NOT NULL,
  created_by integer REFERENCES app_user ON DELETE SET NULL,
  created_at timestamptz NOT NULL,
  last_updated_at timestamptz NOT NULL,
  -- Of the last e-mail about a failure.
  notified_at timestamptz,
  deleted_at timestamptz
);
CREATE INDEX batch_export_project ON batch_export (project_id, created_at) WHERE deleted_at IS NULL;
CREATE INDEX batch_export_due ON batch_export (next_due_at) WHERE deleted_at IS NULL AND NOT paused;

-- How far a project's events had come when an instant passed: the last position that arrived before it. Written once and
-- shared by all exports, so that neighbouring runs meet in the same place.
CREATE TABLE batch_export_bound (
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  at timestamptz NOT NULL,
  seq bigint NOT NULL,
  PRIMARY KEY (project_id, at)
);

CREATE TABLE batch_export_backfill (
  id uuid PRIMARY KEY,
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  batch_export_id uuid NOT NULL REFERENCES batch_export ON DELETE CASCADE,
  -- Null: from the first event on.
  start_at timestamptz,
  -- Null: until it has caught up, then the export is unpaused.
  end_at timestamptz,
  adjusted_start_at timestamptz,
  -- A retry repeats this run, with its way of choosing rows.
  retry_of uuid,
  -- Last position that counts, frozen when the backfill was asked for.
  seq_to bigint NOT NULL,
  status text NOT NULL,
  total_runs integer NOT NULL,
  -- End of the next interval that has no run yet; null when all have one.
  next_end_at timestamptz,
  created_at timestamptz NOT NULL,
  finished_at timestamptz,
  last_updated_at timestamptz NOT NULL
);
CREATE INDEX batch_export_backfill_export ON batch_export_backfill (batch_export_id, created_at, id);
CREATE INDEX batch_export_backfill_live ON batch_export_backfill (project_id)
  WHERE status IN ('Starting', 'Running');

-- The run is the job: who works on it, until when, and what it has done. Whoever holds the lease may change it, and only
-- under the attempt that the lease was given for.
CREATE TABLE batch_export_run (
  id uuid PRIMARY KEY,
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  batch_export_id uuid NOT NULL REFERENCES batch_export ON DELETE CASCADE,
  backfill_id uuid REFERENCES batch_export_backfill ON DELETE CASCADE,
  status text NOT NULL CHECK (status IN ('Starting', 'Running', 'Completed', 'Failed', 'FailedRetryable', 'Cancelled',
    'Terminated', 'TimedOut')),
  data_interval_start timestamptz,
  data_interval_end timestamptz NOT NULL,
  -- Which events: those that arrived in the interval, or those that happened in it.
  selection text NOT NULL CHECK (selection IN ('arrival', 'timestamp')),
  -- Positions (seq_from, seq_to], frozen before the first row is read.
  seq_from bigint,
  seq_to bigint,
  -- Model, destination without secrets, columns and filters as they were when the run began.
  definition jsonb,
  records_total_count integer,
  records_completed integer,
  records_failed integer,
  bytes_exported bigint,
  -- [{name, rows, bytes, sha256}]
  files jsonb,
  -- What the destination has acknowledged, where it takes a run piece by piece.
  progress jsonb,
  latest_error text,
  -- Counts claims, and fences: a statement of an older attempt finds nothing.
  attempt integer NOT NULL DEFAULT 0,
  -- Attempts that failed, or whose worker died.
  failures integer NOT NULL DEFAULT 0,
  run_after timestamptz NOT NULL,
  lease_owner uuid,
  lease_until timestamptz,
  -- The destination is being told to make the run visible: too late to cancel.
  is_committing boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  finished_at timestamptz,
  last_updated_at timestamptz NOT NULL,
  CHECK ((lease_owner IS NULL) = (lease_until IS NULL)),
  CHECK ((finished_at IS NULL) = (status IN ('Starting', 'Running')))
);
-- Each interval of the schedule once, each interval of a backfill once, however many schedulers tick.
CREATE UNIQUE INDEX batch_export_run_scheduled ON batch_export_run (batch_export_id, data_interval_end)
  WHERE backfill_id IS NULL;
CREATE UNIQUE INDEX batch_export_run_backfilled ON batch_export_run (backfill_id, data_interval_end)
  WHERE backfill_id IS NOT NULL;
CREATE INDEX batch_export_run_waiting ON batch_export_run (project_id, run_after) WHERE finished_at IS NULL AND lease_owner IS NULL;
CREATE INDEX batch_export_run_live ON batch_export_run (batch_export_id, backfill_id) WHERE finished_at IS NULL;
CREATE INDEX batch_export_run_leased ON batch_export_run (lease_until) WHERE lease_owner IS NOT NULL;
CREATE INDEX batch_export_run_created ON batch_export_run (batch_export_id, created_at, id);
CREATE INDEX batch_export_run_interval ON batch_export_run (batch_export_id, data_interval_start, id);

-- How many runs of a project are being worked on. The database itself refuses one too many.
CREATE TABLE batch_export_slot (
  project_id integer PRIMARY KEY REFERENCES project ON DELETE CASCADE,
  active integer NOT NULL DEFAULT 0 CHECK (active BETWEEN 0 AND 4),
  last_claimed_at timestamptz NOT NULL DEFAULT '-infinity'
);

CREATE TABLE batch_export_log (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  batch_export_id uuid NOT NULL REFERENCES batch_export ON DELETE CASCADE,
  run_id uuid REFERENCES batch_export_run ON DELETE CASCADE,
  timestamp timestamptz NOT NULL,
  level text NOT NULL CHECK (level IN ('DEBUG', 'LOG', 'INFO', 'WARNING', 'ERROR')),
  message text NOT NULL
);
CREATE INDEX batch_export_log_export ON batch_export_log (batch_export_id, timestamp, id);
CREATE INDEX batch_export_log_run ON batch_export_log (run_id, timestamp, id);
CREATE INDEX batch_export_log_time ON batch_export_log (timestamp);

-- Copies of persons elsewhere tell the newer of two by these.
ALTER TABLE person ADD COLUMN version integer NOT NULL DEFAULT 0;
ALTER TABLE person_distinct_id ADD COLUMN version integer NOT NULL DEFAULT 0;
