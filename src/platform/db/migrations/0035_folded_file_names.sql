-- In a folder `a//b` and `a/b` are one name: exports to folders know files by the shorter one alone.
UPDATE batch_export SET config = jsonb_set(config, '{prefix}', to_jsonb(regexp_replace(
    regexp_replace(config ->> 'prefix', '/{2,}', '/', 'g'), '^/', '')))
  WHERE destination_type = 'File' AND config ->> 'prefix' ~ '//|^/';
UPDATE batch_export_run SET
    definition = jsonb_set(definition, '{config,prefix}', to_jsonb(regexp_replace(
      regexp_replace(definition #>> '{config,prefix}', '/{2,}', '/', 'g'), '^/', ''))),
    published = coalesce((
      SELECT jsonb_agg(regexp_replace(name, '/{2,}', '/', 'g')) FROM jsonb_array_elements_text(published) AS name), published),
    files = coalesce((
      SELECT jsonb_agg(jsonb_set(file, '{name}', to_jsonb(regexp_replace(file ->> 'name', '/{2,}', '/', 'g'))))
      FROM jsonb_array_elements(files) AS file), files)
  WHERE definition ->> 'destination_type' = 'File' AND definition #>> '{config,prefix}' ~ '//|^/';
