-- Who did something: persons, the distinct ids that lead to them, and groups. Written by ingestion alone.

-- One number for each change of a row below, in the order of the changes. There is one writer, so where a number is
-- visible all smaller ones are, and "what changed since" is a range of the indexes on `change`.
CREATE SEQUENCE people_change;

CREATE TABLE person (
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  uuid uuid NOT NULL,
  id integer GENERATED ALWAYS AS IDENTITY,
  properties jsonb NOT NULL,
  -- Characters of the properties as JSON: tells how much will be read before it is read.
  properties_size integer NOT NULL,
  is_identified boolean NOT NULL,
  created_at timestamptz NOT NULL,
  distinct_id_count integer NOT NULL,
  -- The person is gone: its distinct ids moved to that one. The row stays, without properties, so that copies of it
  -- are deleted too.
  merged_into uuid,
  change bigint NOT NULL,
  PRIMARY KEY (project_id, uuid)
);
CREATE UNIQUE INDEX person_id_unique ON person (project_id, id);
CREATE INDEX person_change ON person (change);
-- Cut, because an index takes no entry beyond 2,704 bytes while a property may have a million characters.
CREATE INDEX person_email ON person (project_id, left(lower(properties ->> 'email'), 200))
  WHERE properties ->> 'email' IS NOT NULL;

-- No foreign key to person: the deletion of a project would then look for each person's ids one by one.
CREATE TABLE person_distinct_id (
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  distinct_id text NOT NULL,
  person uuid NOT NULL,
  -- A row changes when its id is given to a person and at no other time, so this is also the order of a person's ids.
  change bigint NOT NULL,
  PRIMARY KEY (project_id, distinct_id)
);
CREATE INDEX person_distinct_id_person ON person_distinct_id (project_id, person, change);
CREATE INDEX person_distinct_id_change ON person_distinct_id (change);

-- The first five names that a project's events use for groups.
CREATE TABLE group_type (
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  index smallint NOT NULL CHECK (index BETWEEN 0 AND 4),
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, index),
  CONSTRAINT group_type_name_unique UNIQUE (project_id, name)
);

-- "group" is a reserved word.
CREATE TABLE group_of_project (
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  index smallint NOT NULL CHECK (index BETWEEN 0 AND 4),
  key text NOT NULL,
  properties jsonb NOT NULL,
  properties_size integer NOT NULL,
  created_at timestamptz NOT NULL,
  change bigint NOT NULL,
  PRIMARY KEY (project_id, index, key)
);
CREATE INDEX group_of_project_change ON group_of_project (change);
