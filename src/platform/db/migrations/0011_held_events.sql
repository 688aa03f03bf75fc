-- What becomes of events whose app cannot run, and the events that wait until it can.

ALTER TABLE plugin_config
  -- Null: `hold` for an app that removes something, `pass` for others.
  ADD COLUMN on_failure text CHECK (on_failure IN ('pass', 'hold', 'drop')),
  -- It has dropped an event of this project, or removed a property.
  ADD COLUMN has_removed boolean NOT NULL DEFAULT false;

-- Whether its code drops events or removes properties when it is tried on samples.
ALTER TABLE plugin ADD COLUMN removes boolean NOT NULL DEFAULT false;
-- Code from before was never tried: until it is saved again it is taken for such code.
UPDATE plugin SET removes = true WHERE capabilities->'methods' ? 'processEvent';

CREATE TABLE plugin_held_event (
  -- The order in which they go on.
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  project_id integer NOT NULL REFERENCES project ON DELETE CASCADE,
  -- Whose app it waits for.
  plugin_config_id integer REFERENCES plugin_config ON DELETE SET NULL,
  uuid uuid NOT NULL,
  timestamp timestamptz NOT NULL,
  -- JSON text: the event as its apps have left it so far, and which of them those were.
  contents text NOT NULL,
  -- True: the app failed over this very event, so those behind it do not wait for it.
  alone boolean NOT NULL,
  -- How often it was tried again by itself, and when it is tried next.
  attempts integer NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX plugin_held_event_line ON plugin_held_event (project_id, alone, id);
CREATE INDEX plugin_held_event_uuid ON plugin_held_event (project_id, uuid);
CREATE INDEX plugin_held_event_config ON plugin_held_event (plugin_config_id);
