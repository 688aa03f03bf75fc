-- Directories look people up by their addresses, in any case.
CREATE INDEX scim_user_addresses ON scim_user
  USING gin ((lower((resource -> 'emails')::text)::jsonb) jsonb_path_ops);
