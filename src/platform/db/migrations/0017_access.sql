-- Rows below name a member, a role and a project of the same organization: the keys say so, no code has to.
ALTER TABLE membership ADD CONSTRAINT membership_of_organization UNIQUE (id, organization_id);
ALTER TABLE project ADD CONSTRAINT project_of_organization UNIQUE (id, organization_id);

-- Roles: groups of members that access to projects is given to.
CREATE TABLE role (
  id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organization ON DELETE CASCADE,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT role_of_organization UNIQUE (id, organization_id)
);
CREATE UNIQUE INDEX role_name_unique ON role (organization_id, lower(name));

CREATE TABLE role_membership (
  id uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  role_id uuid NOT NULL,
  membership_id uuid NOT NULL,
  joined_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT role_membership_unique UNIQUE (role_id, membership_id),
  FOREIGN KEY (role_id, organization_id) REFERENCES role (id, organization_id) ON DELETE CASCADE,
  FOREIGN KEY (membership_id, organization_id) REFERENCES membership (id, organization_id) ON DELETE CASCADE
);
CREATE INDEX role_membership_member ON role_membership (membership_id);

-- Who has which level in a project. Without member and role: everybody who is not named, by themselves or by a role.
CREATE TABLE access_control (
  id uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  project_id integer NOT NULL,
  membership_id uuid,
  role_id uuid,
  -- 0 none, 1 member, 8 admin.
  level smallint NOT NULL CHECK (level IN (0, 1, 8)),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT access_control_of_one CHECK (membership_id IS NULL OR role_id IS NULL),
  CONSTRAINT access_control_unique UNIQUE NULLS NOT DISTINCT (project_id, membership_id, role_id),
  FOREIGN KEY (project_id, organization_id) REFERENCES project (id, organization_id) ON DELETE CASCADE,
  FOREIGN KEY (membership_id, organization_id) REFERENCES membership (id, organization_id) ON DELETE CASCADE,
  FOREIGN KEY (role_id, organization_id) REFERENCES role (id, organization_id) ON DELETE CASCADE
);
CREATE INDEX access_control_member ON access_control (membership_id);
CREATE INDEX access_control_role ON access_control (role_id);

-- Access to projects that comes with joining: a list of {id, level}.
ALTER TABLE invite ADD COLUMN private_project_access jsonb NOT NULL DEFAULT '[]';
