-- What keeps an account with its owner: how recent a sign-in is, and the way back after a changed address.

ALTER TABLE session
  -- When its user last proved who they are: by signing in, or by confirming it since. Null: not known, so not recent.
  ADD COLUMN confirmed_at timestamptz;

-- At most one open way back for each user: see docs/decisions/0034-sensitive-changes-of-an-account.md.
CREATE TABLE address_undo (
  user_id integer PRIMARY KEY REFERENCES app_user ON DELETE CASCADE,
  -- Kept from other accounts as long as the row stands.
  old_email text NOT NULL,
  changed_at timestamptz NOT NULL
);
CREATE INDEX address_undo_address ON address_undo (lower(old_email));
