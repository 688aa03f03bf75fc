-- The domain whose provider, or whose owner's mailed link, opened a session: where a domain demands its own provider, another's does
-- not count. No reference: a domain that is gone is nobody's.
ALTER TABLE session ADD COLUMN domain_id uuid;
UPDATE session SET domain_id = domain.id FROM app_user, domain
WHERE app_user.id = session.user_id AND signed_in_by IN ('saml', 'oidc', 'recovery')
  AND domain.domain = lower(substring(app_user.email from '[^@]*$')) AND domain.verified_at IS NOT NULL;

-- When the settings of its provider were last changed: whoever came in by it before has tested another.
ALTER TABLE domain ADD COLUMN provider_changed_at timestamptz;
