-- Apps that change, import and carry events: code by organization, switched on by project, and what they leave behind.

-- What the organization may do with plugins: 0 nothing, 3 configure, 6 install, 9 share with every organization.
ALTER TABLE organization ADD COLUMN plugins_access_level integer NOT NULL DEFAULT 9
  CHECK (plugins_access_level IN (0, 3, 6, 9));

CREATE TABLE plugin (
  id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  -- Null: comes with the server.
  organization_id uuid REFERENCES organization ON DELETE CASCADE,
  plugin_type text NOT NULL CHECK (plugin_type IN ('local', 'custom', 'repository', 'source', 'inline')),
  name text,
  description text,
  -- Without its query string: tokens are in `private_token`.
  url text,
  -- Sealed.
  private_token text,
  icon text,
  -- As sent, keys in their order.
  config_schema json NOT NULL,
  tag text,
  latest_tag text,
  latest_tag_checked_at timestamptz,
  is_global boolean NOT NULL,
  capabilities jsonb NOT NULL,
  metrics json,
  public_jobs json,
  -- Where it counts as a member until its code decides.
  created_via_family text NOT NULL,
  -- Why the code does not load.
  load_error text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX plugin_url ON plugin (organization_id, url) NULLS NOT DISTINCT WHERE url IS NOT NULL;
CREATE INDEX plugin_global ON plugin (id) WHERE is_global;
CREATE INDEX plugin_organization ON plugin (organization_id);

CREATE TABLE plugin_source_file (
  plugin_id integer NOT NULL REFERENCES plugin ON DELETE CASCADE,
  filename text NOT NULL,
  source text NOT NULL,
  transpiled text,
  status text CHECK (status IN ('LOCKED', 'TRANSPILED', 'ERROR')),
  error text,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (plugin_id, filename)
);

CREATE TABLE plugin_config (
  id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  plugin_id integer NOT NULL REFERENCES plugin ON DELETE CASCADE,
  enabled boolean NOT NULL,
  deleted boolean NOT NULL DEFAULT false,
  "order" integer NOT NULL,
  name text NOT NULL,
  description text NOT NULL,
  -- Without secrets: those are in `secrets`, sealed, as one JSON object.
  config json NOT NULL,
  secrets text NOT NULL,
  filters jsonb,
  -- The fault that keeps it from running: {message, time}.
  error jsonb,
  -- Opens the script that web pages load.
  web_token text NOT NULL,
  -- Of the last e-mail about a fault.
  notified_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX plugin_config_project ON plugin_config (project_id, "order", plugin_id, id) WHERE NOT deleted;
CREATE INDEX plugin_config_plugin ON plugin_config (plugin_id);
CREATE INDEX plugin_config_enabled ON plugin_config (id) WHERE enabled AND NOT deleted;

CREATE TABLE plugin_attachment (
  id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  plugin_config_id integer NOT NULL REFERENCES plugin_config ON DELETE CASCADE,
  key text NOT NULL,
  content_type text NOT NULL,
  file_name text NOT NULL,
  size integer NOT NULL,
  -- Base64, sealed: what is uploaded is as a rule somebody's key.
  contents text NOT NULL,
  UNIQUE (plugin_config_id, key)
);

CREATE TABLE plugin_storage (
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  plugin_config_id integer NOT NULL REFERENCES plugin_config ON DELETE CASCADE,
  key text NOT NULL,
  -- JSON text.
  value text NOT NULL,
  PRIMARY KEY (plugin_config_id, key)
);

CREATE TABLE plugin_log (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  plugin_id integer NOT NULL,
  plugin_config_id integer NOT NULL REFERENCES plugin_config ON DELETE CASCADE,
  timestamp timestamptz NOT NULL,
  source text NOT NULL CHECK (source IN ('SYSTEM', 'PLUGIN', 'CONSOLE')),
  type text NOT NULL CHECK (type IN ('DEBUG', 'LOG', 'INFO', 'WARN', 'ERROR')),
  message text NOT NULL,
  instance_id uuid NOT NULL
);
CREATE INDEX plugin_log_config ON plugin_log (plugin_config_id, id);
CREATE INDEX plugin_log_age ON plugin_log (timestamp);

-- How calls ended, by the hour.
CREATE TABLE plugin_metric (
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  plugin_config_id integer NOT NULL REFERENCES plugin_config ON DELETE CASCADE,
  category text NOT NULL,
  hour timestamptz NOT NULL,
  -- Empty: not of a job.
  job_id text NOT NULL DEFAULT '',
  successes bigint NOT NULL DEFAULT 0,
  successes_on_retry bigint NOT NULL DEFAULT 0,
  failures bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (plugin_config_id, category, hour, job_id)
);
CREATE INDEX plugin_metric_age ON plugin_metric (hour);

CREATE TABLE plugin_metric_error (
  id uuid PRIMARY KEY,
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  plugin_config_id integer NOT NULL REFERENCES plugin_config ON DELETE CASCADE,
  category text NOT NULL,
  job_id text NOT NULL DEFAULT '',
  timestamp timestamptz NOT NULL,
  error_type text NOT NULL,
  -- {error: {name, message, stack}, event}
  details json NOT NULL
);
CREATE INDEX plugin_metric_error_config ON plugin_metric_error (plugin_config_id, category, timestamp);
CREATE INDEX plugin_metric_error_age ON plugin_metric_error (timestamp);

CREATE TABLE plugin_job (
  id uuid PRIMARY KEY,
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  plugin_config_id integer NOT NULL REFERENCES plugin_config ON DELETE CASCADE,
  name text NOT NULL,
  payload json NOT NULL,
  -- When it may run, or run again.
  run_at timestamptz NOT NULL,
  -- How often it has begun.
  attempt integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL
);
CREATE INDEX plugin_job_due ON plugin_job (run_at);
CREATE INDEX plugin_job_config ON plugin_job (plugin_config_id, run_at);

-- How far a config has come with the project's stored events, by the function that gets them: every event up to `cursor`
-- was handed over, or waits in plugin_delivery_retry.
CREATE TABLE plugin_delivery (
  plugin_config_id integer NOT NULL REFERENCES plugin_config ON DELETE CASCADE,
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  method text NOT NULL CHECK (method IN ('onEvent', 'composeWebhook', 'exportEvents')),
  cursor bigint NOT NULL,
  PRIMARY KEY (plugin_config_id, method)
);

CREATE TABLE plugin_delivery_retry (
  id uuid PRIMARY KEY,
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  plugin_config_id integer NOT NULL REFERENCES plugin_config ON DELETE CASCADE,
  method text NOT NULL CHECK (method IN ('onEvent', 'composeWebhook', 'exportEvents')),
  -- The events, by position; more than one only for exportEvents.
  seqs bigint[] NOT NULL,
  -- Of composeWebhook: the request as it was composed, sealed, for it may carry a key.
  request text,
  -- How often it was tried.
  attempt integer NOT NULL,
  due_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX plugin_delivery_retry_due ON plugin_delivery_retry (plugin_config_id, method, due_at);
