-- Notes on a project's time line: releases, campaigns, incidents. People and apps write them.
CREATE TABLE annotation (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organization ON DELETE CASCADE,
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  content text,
  -- Null: its time is not known.
  date_marker timestamptz,
  -- `organization`: every project of the organization shows it.
  scope text NOT NULL,
  creation_type text NOT NULL,
  deleted boolean NOT NULL DEFAULT false,
  -- Null for what a service key or an app made.
  created_by integer REFERENCES app_user ON DELETE SET NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX annotation_project ON annotation (project_id, date_marker);
CREATE INDEX annotation_organization ON annotation (organization_id) WHERE scope = 'organization';
