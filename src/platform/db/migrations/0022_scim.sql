-- A directory (Okta, Entra ID, …) that provisions people over SCIM. It speaks for one verified domain, by a token of which
-- only the hash is kept. Without a token it is switched off.
ALTER TABLE domain
  ADD COLUMN scim_token_hash text,
  ADD COLUMN scim_token_mask text,
  ADD COLUMN scim_token_made_at timestamptz,
  -- When somebody last came with a wrong token: what an admin must know whose directory does not sync.
  ADD COLUMN scim_refused_at timestamptz;

-- A person as the directory knows them. Whether they are active is whether they are a member: nothing else says so.
CREATE TABLE scim_user (
  id uuid PRIMARY KEY,
  domain_id uuid NOT NULL REFERENCES domain ON DELETE CASCADE,
  organization_id uuid NOT NULL REFERENCES organization ON DELETE CASCADE,
  user_id integer NOT NULL REFERENCES app_user ON DELETE CASCADE,
  user_name text NOT NULL,
  external_id text,
  -- Other attributes, as they were sent.
  resource jsonb NOT NULL,
  -- The level that mapped groups last gave; null: none did.
  group_level smallint CHECK (group_level IN (1, 8)),
  -- The level at the time of the deactivation, for when they come back.
  last_level smallint CHECK (last_level IN (1, 8, 15)),
  version integer NOT NULL DEFAULT 1,
  -- When owners were last told that the directory wanted to remove the last of them.
  owners_told_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT scim_user_account_unique UNIQUE (domain_id, user_id)
);
CREATE UNIQUE INDEX scim_user_name_unique ON scim_user (domain_id, lower(user_name));
CREATE UNIQUE INDEX scim_user_order ON scim_user (domain_id, id);
CREATE INDEX scim_user_external ON scim_user (domain_id, external_id);
CREATE INDEX scim_user_account ON scim_user (user_id);
CREATE INDEX scim_user_organization ON scim_user (organization_id);

CREATE TABLE scim_group (
  id uuid PRIMARY KEY,
  domain_id uuid NOT NULL REFERENCES domain ON DELETE CASCADE,
  organization_id uuid NOT NULL REFERENCES organization ON DELETE CASCADE,
  display_name text NOT NULL,
  external_id text,
  -- What an admin made of the group: a level for its members, and a role that projects are opened to.
  level smallint CHECK (level IN (1, 8)),
  role_id uuid REFERENCES role ON DELETE SET NULL,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX scim_group_name_unique ON scim_group (domain_id, lower(display_name));
CREATE UNIQUE INDEX scim_group_order ON scim_group (domain_id, id);
CREATE INDEX scim_group_external ON scim_group (domain_id, external_id);
CREATE INDEX scim_group_organization ON scim_group (organization_id);
CREATE INDEX scim_group_role ON scim_group (role_id);

CREATE TABLE scim_group_member (
  group_id uuid NOT NULL REFERENCES scim_group ON DELETE CASCADE,
  scim_user_id uuid NOT NULL REFERENCES scim_user ON DELETE CASCADE,
  PRIMARY KEY (group_id, scim_user_id)
);
CREATE INDEX scim_group_member_user ON scim_group_member (scim_user_id);

-- The last requests of each directory, for admins to read.
CREATE TABLE scim_request (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  domain_id uuid NOT NULL REFERENCES domain ON DELETE CASCADE,
  created_at timestamptz NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  status smallint NOT NULL,
  duration_ms integer NOT NULL,
  request_body text,
  response_body text
);
CREATE INDEX scim_request_newest ON scim_request (domain_id, id DESC);
