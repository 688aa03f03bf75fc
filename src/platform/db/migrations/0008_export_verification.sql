-- Verification: what lies at a destination, read back and compared. Each row is a request, the work on it, and its result.
CREATE TABLE batch_export_verification (
  id uuid PRIMARY KEY,
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  batch_export_id uuid NOT NULL REFERENCES batch_export ON DELETE CASCADE,
  trigger text NOT NULL CHECK (trigger IN ('run', 'timetable', 'request')),
  -- What is verified: what one run delivered, what was delivered in the intervals that end in (start_at, end_at], or, with
  -- none of these, everything.
  run_id uuid REFERENCES batch_export_run ON DELETE CASCADE,
  start_at timestamptz,
  end_at timestamptz,
  status text NOT NULL CHECK (status IN ('Waiting', 'Running', 'Completed', 'Failed')),
  verdict text CHECK (verdict IN ('intact', 'problems', 'unreachable', 'nothing_to_verify')),
  -- What was read so far.
  runs integer NOT NULL DEFAULT 0,
  files integer NOT NULL DEFAULT 0,
  rows bigint NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  -- The first of them, the number of all, and the number by kind.
  problems jsonb NOT NULL DEFAULT '[]',
  problems_count bigint NOT NULL DEFAULT 0,
  problem_kinds jsonb NOT NULL DEFAULT '{}',
  -- What could not be judged, and why.
  notes jsonb NOT NULL DEFAULT '[]',
  -- Counts claims, and fences: a statement of an older attempt finds nothing.
  attempt integer NOT NULL DEFAULT 0,
  run_after timestamptz NOT NULL,
  lease_owner uuid,
  lease_until timestamptz,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  finished_at timestamptz,
  CHECK ((lease_owner IS NULL) = (lease_until IS NULL)),
  CHECK ((finished_at IS NULL) = (status IN ('Waiting', 'Running')))
);
-- Nobody waits for the same work twice.
CREATE UNIQUE INDEX batch_export_verification_live ON batch_export_verification (batch_export_id, run_id, start_at, end_at)
  NULLS NOT DISTINCT WHERE finished_at IS NULL;
CREATE INDEX batch_export_verification_waiting ON batch_export_verification (run_after) WHERE finished_at IS NULL;
CREATE INDEX batch_export_verification_turn ON batch_export_verification (project_id, started_at);
CREATE INDEX batch_export_verification_created ON batch_export_verification (batch_export_id, created_at, id);
-- The one that counts for an export: over everything, or one that has found something since.
CREATE INDEX batch_export_verification_standing ON batch_export_verification (batch_export_id, created_at, id)
  WHERE status = 'Completed' AND (run_id IS NULL AND start_at IS NULL AND end_at IS NULL OR verdict = 'problems');

-- Runs that ended before this list was kept: verification must know their manifests from files that nobody wrote.
UPDATE batch_export_run SET published = (
    SELECT jsonb_agg(file -> 'name') FROM jsonb_array_elements(files) AS file)
  || CASE WHEN (definition #>> '{config,max_file_size_mb}') IS NULL THEN '[]'::jsonb
     ELSE jsonb_build_array(regexp_replace(files #>> '{0,name}', '-\d+\.[a-z.]+$', '_manifest.json')) END
WHERE published IS NULL AND jsonb_array_length(files) > 0;
