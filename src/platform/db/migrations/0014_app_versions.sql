-- What keeps the files of a plugin from running: a list of {file, line, column, message}.
ALTER TABLE plugin ADD COLUMN errors jsonb NOT NULL DEFAULT '[]';
UPDATE plugin SET errors = jsonb_build_array(
    jsonb_build_object('file', 'index.ts', 'line', NULL, 'column', NULL, 'message', load_error))
  WHERE load_error IS NOT NULL;
ALTER TABLE plugin DROP COLUMN load_error;

-- From places in `transpiled` to places in `source`: `mappings` of a source map. Null: from before, or not needed.
ALTER TABLE plugin_source_file ADD COLUMN mappings text;

-- SHA-256 of `source`, in hex.
ALTER TABLE plugin_source_file ADD COLUMN hash text;
UPDATE plugin_source_file SET hash = encode(sha256(convert_to(source, 'UTF8')), 'hex');
ALTER TABLE plugin_source_file ALTER COLUMN hash SET NOT NULL;

-- A plugin as another organization has accepted it: what it runs until it accepts the next.
CREATE TABLE plugin_version (
  plugin_id integer NOT NULL REFERENCES plugin ON DELETE CASCADE,
  -- Of all that decides what the plugin does; see features/plugins/versions/queries.ts.
  hash text NOT NULL,
  config_schema json NOT NULL,
  capabilities jsonb NOT NULL,
  metrics json,
  public_jobs json,
  removes boolean NOT NULL,
  errors jsonb NOT NULL,
  tag text,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (plugin_id, hash)
);

CREATE TABLE plugin_version_file (
  plugin_id integer NOT NULL,
  hash text NOT NULL,
  filename text NOT NULL,
  transpiled text,
  mappings text,
  status text,
  error text,
  PRIMARY KEY (plugin_id, hash, filename),
  FOREIGN KEY (plugin_id, hash) REFERENCES plugin_version ON DELETE CASCADE
);

ALTER TABLE plugin_config
  -- Null: it runs the plugin as it is, which is of the same organization or comes with the server.
  ADD COLUMN version text,
  ADD FOREIGN KEY (plugin_id, version) REFERENCES plugin_version;
CREATE INDEX plugin_config_version ON plugin_config (plugin_id, version) WHERE version IS NOT NULL;

-- Who has a plugin of others configured has accepted it as it is now.
INSERT INTO plugin_version (plugin_id, hash, config_schema, capabilities, metrics, public_jobs, removes, errors, tag,
    created_at)
  SELECT p.id, encode(sha256(convert_to(concat_ws(E'\n', p.config_schema::text, p.public_jobs::text,
      p.capabilities::text, (
        SELECT string_agg(f.filename || ' ' || f.hash, E'\n' ORDER BY f.filename COLLATE "C")
        FROM plugin_source_file f
        WHERE f.plugin_id = p.id AND f.filename IN ('index.ts', 'site.ts', 'frontend.tsx'))), 'UTF8')), 'hex'),
    p.config_schema, p.capabilities, p.metrics, p.public_jobs, p.removes, p.errors, p.tag, p.updated_at
  FROM plugin p WHERE NOT (p.plugin_type = 'local' AND p.url IS NOT NULL) AND EXISTS (
    SELECT FROM plugin_config c JOIN project ON project.id = c.project_id
    WHERE c.plugin_id = p.id AND project.organization_id <> p.organization_id);
INSERT INTO plugin_version_file (plugin_id, hash, filename, transpiled, mappings, status, error)
  SELECT v.plugin_id, v.hash, f.filename, f.transpiled, f.mappings, f.status, f.error
  FROM plugin_version v JOIN plugin_source_file f ON f.plugin_id = v.plugin_id
  WHERE f.filename IN ('index.ts', 'site.ts', 'frontend.tsx');
UPDATE plugin_config c SET version = v.hash
  FROM plugin_version v, plugin p, project
  WHERE v.plugin_id = c.plugin_id AND p.id = c.plugin_id AND project.id = c.project_id
    AND project.organization_id <> p.organization_id;
