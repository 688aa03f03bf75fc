-- Many processes on one database: what they tell each other, who of them works on what, and what they count together.

-- Changes that other processes must hear of. `version` is the transaction that made it: whoever was away asks for all
-- since the oldest one that was still open when it last looked, so none is missed, in whichever order they were committed.
CREATE TABLE change (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  version xid8 NOT NULL DEFAULT pg_current_xact_id(),
  origin uuid NOT NULL,
  topic text NOT NULL,
  subject_id integer NOT NULL,
  project_id integer,
  told_at timestamptz NOT NULL
);
CREATE INDEX change_version ON change (version);
CREATE INDEX change_told_at ON change (told_at);

-- Processes that do the work of apps. Whatever a process holds is free once its time is over and somebody has removed it.
CREATE TABLE plugin_process (
  id uuid PRIMARY KEY,
  until timestamptz NOT NULL
);

-- The one process that delivers the events of a project to its apps, and runs their jobs and timetables.
CREATE TABLE plugin_lease (
  project_id integer PRIMARY KEY REFERENCES project ON DELETE CASCADE,
  process_id uuid NOT NULL REFERENCES plugin_process ON DELETE CASCADE
);
CREATE INDEX plugin_lease_process ON plugin_lease (process_id);

-- The process that runs it; null while it waits.
ALTER TABLE plugin_job ADD COLUMN process_id uuid;

-- The last minute, hour or day in which a function of a timetable was begun, counted from 1970.
CREATE TABLE plugin_timetable (
  plugin_config_id integer NOT NULL REFERENCES plugin_config ON DELETE CASCADE,
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  task text NOT NULL,
  period bigint NOT NULL,
  PRIMARY KEY (plugin_config_id, task)
);
CREATE INDEX plugin_timetable_project ON plugin_timetable (project_id);

-- What processes have taken of a limit on requests. Keys are hashed.
CREATE TABLE rate_window (
  key text PRIMARY KEY,
  started_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  taken integer NOT NULL
);
CREATE INDEX rate_window_ends_at ON rate_window (ends_at);
