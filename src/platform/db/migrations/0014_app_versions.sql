-- What keeps the files of a plugin from running: a list of {file, line, column, message}.
ALTER TABLE plugin ADD COLUMN errors jsonb NOT NULL DEFAULT '[]';
UPDATE plugin SET errors = jsonb_build_array(
    jsonb_build_object('file', 'index.ts', 'line', NULL, 'column', NULL, 'message', load_error))
  WHERE load_error IS NOT NULL;
ALTER TABLE plugin DROP COLUMN load_error;

-- From places in `transpiled` to places in `source`: `mappings` of a source map. Null: from before, or not needed.
ALTER TABLE plugin_source_file ADD COLUMN mappings text;
