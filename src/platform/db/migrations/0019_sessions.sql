-- What a signed-in browser is shown as to its owner, who may end it from another one.
ALTER TABLE session
  -- Names it in paths and answers; the hash of its token stays here.
  ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid(),
  ADD COLUMN last_used_at timestamptz,
  ADD COLUMN last_used_ip text NOT NULL DEFAULT '',
  -- In words, as of the sign-in: "Firefox 128", "Windows". Null: not known.
  ADD COLUMN browser text,
  ADD COLUMN system text;
UPDATE session SET last_used_at = created_at;
ALTER TABLE session ALTER COLUMN last_used_at SET NOT NULL;
CREATE UNIQUE INDEX session_id ON session (id);
