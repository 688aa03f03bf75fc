-- Positions of events that lie in ClickHouse. The embedded store keeps its own.
CREATE TABLE event_head (
  -- Outlives the project: what is written for one that was deleted is stored nowhere.
  project_id integer PRIMARY KEY,
  last_position bigint NOT NULL,
  -- Microseconds since 1970: nothing may arrive before.
  arrived_at bigint NOT NULL,
  is_deleted boolean NOT NULL DEFAULT false
);

-- A stretch of positions that a writer was given for its batch. The row goes when the batch is stored: that is the moment
-- at which its events are there.
CREATE TABLE event_block (
  batch uuid NOT NULL,
  project_id integer NOT NULL REFERENCES event_head,
  -- After this position, up to that one.
  after_position bigint NOT NULL,
  last_position bigint NOT NULL,
  arrived_at bigint NOT NULL,
  leased_until timestamptz NOT NULL,
  -- The last eight bytes of each event's uuid, for writers that may be sending the same event.
  uuid_ends bigint[] NOT NULL,
  PRIMARY KEY (project_id, after_position, batch)
);
CREATE INDEX event_block_batch ON event_block (batch);

-- Positions without an event: those of repeats that were left out, and those of a batch whose writer was too slow or died.
CREATE TABLE event_hole (
  project_id integer NOT NULL REFERENCES event_head,
  after_position bigint NOT NULL,
  last_position bigint NOT NULL,
  -- Set when rows of this batch may lie in ClickHouse, or come there late: they are never read.
  left_behind uuid,
  CHECK (last_position > after_position OR left_behind IS NOT NULL)
);
CREATE INDEX event_hole_project ON event_hole (project_id, after_position);

-- How far the changes of persons and groups were copied to ClickHouse: one row.
CREATE TABLE event_copies (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  position bigint NOT NULL
);
INSERT INTO event_copies (position) VALUES (0);
