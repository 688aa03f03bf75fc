-- Uuids that apps gave to events, by the uuid that each came with: when its sender repeats it, it gets the same one again.
CREATE TABLE plugin_given_uuid (
  project_id integer NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  uuid uuid NOT NULL,
  given uuid NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, uuid)
);
CREATE INDEX plugin_given_uuid_age ON plugin_given_uuid (created_at);
