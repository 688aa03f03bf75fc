-- Several processes may store events at the same time.

-- The state that a project's persons, distinct ids, groups and types of groups are in. Whoever changes them takes this row
-- first, so that in one project numbers of changes rise in the order of the commits: those of one commit come after its
-- own head and before the next one. No row: nothing was ever changed.
CREATE TABLE people_head (
  project_id integer PRIMARY KEY REFERENCES project ON DELETE CASCADE,
  change bigint NOT NULL,
  -- The head that this one followed, for whoever takes it: PostgreSQL 15 does not return old values.
  before bigint NOT NULL DEFAULT 0
);
INSERT INTO people_head (project_id, change) SELECT id, nextval('people_change') FROM project;

-- Changes that are committed here and perhaps not copied to ClickHouse yet: after the one, up to the other. The row goes with the
-- commit of the copies. Whoever finds it past its lease makes the copies instead.
CREATE TABLE owed_copies (
  last_change bigint PRIMARY KEY,
  after_change bigint NOT NULL,
  leased_until timestamptz NOT NULL
);
INSERT INTO owed_copies (last_change, after_change, leased_until)
SELECT last_value, position, now() FROM people_change, event_copies WHERE position > 0 AND position < last_value;
DROP TABLE event_copies;
