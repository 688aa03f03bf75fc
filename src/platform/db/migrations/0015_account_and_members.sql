-- The name that the type of a destination was given by, where it is an alias: AwsS3 and S3Compatible are S3.
ALTER TABLE batch_export ADD COLUMN destination_alias text;

-- What members below admin may do in an organization.
ALTER TABLE organization ADD COLUMN members_can_invite boolean NOT NULL DEFAULT true;
ALTER TABLE organization ADD COLUMN members_can_use_personal_api_keys boolean NOT NULL DEFAULT true;

-- The entry that recorded the deletion of an account, and thereby what was taken out of this one: `hash` is then the one of
-- the entry as it was.
ALTER TABLE activity_log ADD COLUMN erased_by uuid;

-- Anybody can claim a name; it belongs to whoever proves it.
ALTER TABLE domain DROP CONSTRAINT domain_name_unique;
CREATE UNIQUE INDEX domain_name_unique ON domain (domain) WHERE verified_at IS NOT NULL;
DROP INDEX domain_organization;
CREATE UNIQUE INDEX domain_organization_unique ON domain (organization_id, domain);
CREATE INDEX domain_name ON domain (domain);
