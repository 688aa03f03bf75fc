-- Signing in through an identity provider: docs/decisions/0058-sign-on-through-a-provider.md.

ALTER TABLE session
  -- How its user proved who they are: password, recovery, or the name of a provider.
  ADD COLUMN signed_in_by text NOT NULL DEFAULT 'password';

ALTER TABLE organization
  -- Whether enforce_2fa holds for whoever comes through a provider as well.
  ADD COLUMN enforce_2fa_with_sso boolean NOT NULL DEFAULT false;

ALTER TABLE domain
  -- Whether an answer of the SAML provider counts that nobody asked for.
  ADD COLUMN saml_allow_idp_initiated boolean NOT NULL DEFAULT false,
  ADD COLUMN oidc_issuer text,
  ADD COLUMN oidc_client_id text,
  -- Sealed.
  ADD COLUMN oidc_client_secret text;

-- Who a provider says somebody is. What a domain's own provider says counts for that domain alone: anybody can set up a
-- provider that calls itself by another's name.
CREATE TABLE identity (
  id uuid PRIMARY KEY,
  user_id integer NOT NULL REFERENCES app_user ON DELETE CASCADE,
  provider text NOT NULL,
  issuer text NOT NULL,
  subject text NOT NULL,
  domain_id uuid REFERENCES domain ON DELETE CASCADE,
  -- As the provider last said it.
  email text,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz NOT NULL,
  CONSTRAINT identity_unique UNIQUE NULLS NOT DISTINCT (provider, issuer, subject, domain_id)
);
CREATE INDEX identity_user ON identity (user_id, created_at, id);
CREATE INDEX identity_domain ON identity (domain_id, last_used_at DESC);

-- A sign-in that is on its way to a provider and back: used once, ten minutes, in the browser that began it.
CREATE TABLE sign_in_attempt (
  id uuid PRIMARY KEY,
  state_hash text NOT NULL CONSTRAINT sign_in_attempt_state_unique UNIQUE,
  browser_hash text NOT NULL,
  provider text NOT NULL,
  domain_id uuid REFERENCES domain ON DELETE CASCADE,
  -- What it is for: sign-in, or test (nothing is changed).
  purpose text NOT NULL,
  next text NOT NULL,
  -- What the way in keeps until the answer comes: nonce, code verifier, id of the request.
  sealed_kept text NOT NULL,
  -- What the provider's answer came to, when it arrived where the browser could not show that it began it.
  sealed_verdict text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX sign_in_attempt_expiry ON sign_in_attempt (expires_at);

-- What became of sign-ins through providers, for admins: each refusal shown to a person names its row here.
CREATE TABLE sign_in_record (
  id uuid PRIMARY KEY,
  domain_id uuid NOT NULL REFERENCES domain ON DELETE CASCADE,
  provider text NOT NULL,
  purpose text NOT NULL,
  -- signed_in, or why not.
  outcome text NOT NULL,
  user_id integer REFERENCES app_user ON DELETE SET NULL,
  email text,
  ip text NOT NULL,
  checks jsonb NOT NULL,
  received jsonb NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX sign_in_record_newest ON sign_in_record (domain_id, created_at DESC, id);
CREATE INDEX sign_in_record_age ON sign_in_record (created_at);

-- Assertions that were used, until they expire by themselves.
CREATE TABLE saml_assertion (
  domain_id uuid NOT NULL REFERENCES domain ON DELETE CASCADE,
  assertion_id text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (domain_id, assertion_id)
);
CREATE INDEX saml_assertion_expiry ON saml_assertion (expires_at);

-- What the server signs its SAML requests with. All are in the metadata; one signs once it was there for a month.
CREATE TABLE saml_key (
  id uuid PRIMARY KEY,
  certificate text NOT NULL,
  sealed_private_key text NOT NULL,
  created_at timestamptz NOT NULL
);

-- Whoever a provider vouches for is looked for among all invites.
CREATE INDEX invite_address ON invite (lower(target_email));
