-- The catalogue of a project: which events it has, with which properties of which type. Names come from the stream of
-- events, the rest from people. Rows per project are limited by the writer.

CREATE TABLE event_definition (
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  id uuid NOT NULL,
  name text NOT NULL,
  -- Names of the properties that such events have had. As an array, because a row for each would take fifteen times the
  -- room, and they are only ever read together.
  properties text[] NOT NULL,
  -- Events since the definition was made, and when the last of them was stored: as of definition_count.position.
  volume bigint NOT NULL DEFAULT 0,
  last_seen_at timestamptz,
  description text NOT NULL DEFAULT '',
  tags text[] NOT NULL DEFAULT '{}',
  hidden boolean NOT NULL DEFAULT false,
  verified boolean NOT NULL DEFAULT false,
  verified_at timestamptz,
  verified_by integer REFERENCES app_user ON DELETE SET NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  updated_by integer REFERENCES app_user ON DELETE SET NULL,
  PRIMARY KEY (project_id, name),
  CONSTRAINT event_definition_id_unique UNIQUE (project_id, id)
);
CREATE INDEX event_definition_verified_by ON event_definition (verified_by) WHERE verified_by IS NOT NULL;
CREATE INDEX event_definition_updated_by ON event_definition (updated_by) WHERE updated_by IS NOT NULL;

CREATE TABLE property_definition (
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  id uuid NOT NULL,
  type text NOT NULL CHECK (type IN ('event', 'person', 'group')),
  -- Which type of groups it belongs to; -1 for events and persons.
  group_type_index smallint NOT NULL CHECK ((type = 'group') = (group_type_index >= 0)),
  name text NOT NULL,
  -- Null until a value of a plain type has been seen.
  property_type text CHECK (property_type IN ('String', 'Numeric', 'Boolean', 'DateTime', 'Duration')),
  description text NOT NULL DEFAULT '',
  tags text[] NOT NULL DEFAULT '{}',
  hidden boolean NOT NULL DEFAULT false,
  verified boolean NOT NULL DEFAULT false,
  verified_at timestamptz,
  verified_by integer REFERENCES app_user ON DELETE SET NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  updated_by integer REFERENCES app_user ON DELETE SET NULL,
  PRIMARY KEY (project_id, type, group_type_index, name),
  CONSTRAINT property_definition_id_unique UNIQUE (project_id, id)
);
CREATE INDEX property_definition_verified_by ON property_definition (verified_by) WHERE verified_by IS NOT NULL;
CREATE INDEX property_definition_updated_by ON property_definition (updated_by) WHERE updated_by IS NOT NULL;

-- Up to which position a project's events are counted in `volume`. Who sets `claimed_at` counts on; others wait a while.
CREATE TABLE definition_count (
  project_id integer PRIMARY KEY REFERENCES project ON DELETE CASCADE,
  position bigint NOT NULL,
  claimed_at timestamptz NOT NULL
);
