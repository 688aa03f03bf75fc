-- The sweep of what dead runs leave at destinations.

-- Uploads that attempts began at S3. Neither their keys nor anything else that S3 tells of them says whose they are, so
-- the sweep ends none but these. A sweep deletes the rows of the runs it has looked after.
CREATE TABLE batch_export_upload (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  run_id uuid NOT NULL REFERENCES batch_export_run ON DELETE CASCADE,
  attempt integer NOT NULL,
  name text NOT NULL,
  upload_id text NOT NULL
);
CREATE INDEX batch_export_upload_run ON batch_export_upload (run_id);

-- How far each export has been swept: what runs left that ended before this instant is gone.
CREATE TABLE batch_export_sweep (
  batch_export_id uuid PRIMARY KEY REFERENCES batch_export ON DELETE CASCADE,
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  swept_until timestamptz NOT NULL
);

-- Runs that may have left something, which are few.
CREATE INDEX batch_export_run_unclean ON batch_export_run (finished_at)
  WHERE finished_at IS NOT NULL AND (status <> 'Completed' OR attempt > 1);
