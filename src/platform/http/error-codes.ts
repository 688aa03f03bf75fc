// The vocabulary of errors: every code a client can meet, its status, and when it comes. docs/errors.md is this list.

export type ErrorType =
  | 'authentication_error'
  | 'validation_error'
  | 'invalid_request'
  | 'throttled_error'
  | 'server_error'

export type ErrorCode = keyof typeof ERROR_CODES

export const ERROR_CODES = {
  parse_error: [400, 'The body is not readable JSON or form data.'],
  required: [400, 'A field is missing.'],
  null: [400, 'A field is null where null is not allowed.'],
  blank: [400, 'A text is empty or has only blanks.'],
  invalid_input: [400, 'A value has the wrong type or format, or the request makes no sense as a whole.'],
  invalid_choice: [400, 'A value is not one of the allowed ones.'],
  max_length: [400, 'A text or list is too long.'],
  min_length: [400, 'A text or list is too short.'],
  max_value: [400, 'A number is too large.'],
  min_value: [400, 'A number is too small.'],
  not_a_list: [400, 'A list was expected.'],
  empty: [400, 'A list is empty where it must not be.'],
  unique: [400, 'The value is taken.'],
  does_not_exist: [400, 'A field names something that does not exist, or that you have no access to.'],
  already_verified: [400, 'The domain is verified already.'],
  verification_required: [400, 'The domain must be verified first.'],
  expired: [400, 'The invite has expired.'],
  address_not_proved: [400, 'The invite gives more than membership, and the link was not the mailed one.'],
  invalid_recipient: [400, 'The invite is meant for another address than the signed-in one.'],
  user_already_member: [400, 'The signed-in user is a member already.'],
  existing_email_address: [400, 'An invite was opened whose address belongs to a member already.'],
  account_exists: [400, 'An account with the invited address exists: sign in first.'],
  sso_enforced: [
    400,
    "The address's domain demands single sign-on; passwords are off, and members do not leave it by changing their address.",
  ],
  sso_not_tested: [
    400,
    'No admin has signed in through the provider in the last day, so it cannot be enforced.',
  ],
  email_not_available: [400, 'No outgoing mail is configured, so the message cannot be sent.'],
  invalid_credentials: [400, 'E-mail and password do not match.'],
  not_verified: [400, 'The e-mail address must be verified before signing in.'],
  invalid_token: [400, 'The link is wrong, used or too old.'],
  incorrect_password: [400, 'The current password is wrong.'],
  email_change_request_not_found: [400, 'No change of the e-mail address is waiting for its link.'],
  password_too_short: [400, 'The password has fewer than 8 characters.'],
  password_too_weak: [400, 'The password is too easy to guess.'],
  '2fa_invalid': [400, 'The second-factor code is wrong or used.'],
  '2fa_expired': [400, 'The sign-in waited too long for its second factor: start again.'],
  '2fa_too_many_attempts': [400, 'Too many wrong second-factor codes: wait ten minutes.'],
  token_invalid: [400, 'The code does not fit the authenticator set-up.'],
  invalid: [400, 'The id in the path is not a UUID.'],
  invalid_payload: [
    400,
    'Captured data cannot be decoded, or an event of it is wrong; nothing of the request was stored.',
  ],
  hogql_syntax_error: [400, 'The HogQL does not parse.'],
  hogql_query_error: [400, 'The HogQL names something unknown or asks for what cannot be done.'],
  not_authenticated: [401, 'No credentials were given.'],
  authentication_failed: [401, 'The key is wrong, expired or belongs to a deactivated user.'],
  sso_required: [
    401,
    'The session was opened in a way that its organization no longer allows: sign in through the identity provider.',
  ],
  '2fa_required': [401, 'The password was right; now present the second factor.'],
  missing_api_key: [401, 'Captured data names no project token.'],
  invalid_api_key: [401, 'The project token of captured data is malformed or belongs to no project.'],
  permission_denied: [403, 'The credentials are valid but do not allow this.'],
  too_many_failed_attempts: [403, 'Too many sign-ins for this account have failed from this address: wait.'],
  recent_sign_in_required: [
    403,
    'The session has not been confirmed for too long: send the password to `POST /api/login/confirm/`, or sign in again.',
  ],
  two_factor_setup_required: [403, 'The organization demands two-factor authentication: set it up first.'],
  two_factor_verification_required: [
    403,
    'This session was opened without the second factor: sign in again.',
  ],
  not_found: [404, 'There is no such path or thing, or it is not yours to see.'],
  missing_site_app_source: [404, 'There is no such script for web pages, or it is switched off.'],
  method_not_allowed: [405, 'The path does not offer this method; see the Allow header.'],
  conflict: [409, 'The thing cannot be deleted as long as others depend on it.'],
  project_has_events: [409, 'Sample data goes only into a project without events of its own.'],
  request_too_large: [413, 'The body is over the limit.'],
  payload_too_large: [
    413,
    'Captured data, packed, unpacked or with the properties of its persons, or one event of it is over the limit.',
  ],
  unsupported_media_type: [415, 'The body is neither JSON nor form data, or is compressed.'],
  idempotency_mismatch: [422, 'The Idempotency-Key was used with another request.'],
  too_many_concurrent_backfills: [
    429,
    'The project has ten backfills running: wait for one to end, or cancel it.',
  ],
  too_many_concurrent_verifications: [
    429,
    'The project has twenty verifications of exports waiting: wait for one to end.',
  ],
  too_many_streams: [
    429,
    'You, the project or the organization have too many streams open: close one first.',
  ],
  throttled: [429, 'Too many requests; see the Retry-After header.'],
  client_gone: [
    499,
    'The client closed the connection before the answer was ready. The work was stopped; only the log shows this.',
  ],
  error: [500, 'A fault of the server. The log has the details, under the request id.'],
  unavailable: [
    503,
    'A store does not answer at the moment; try again. A request that was about to commit may have been carried out.',
  ],
  too_many_connections: [
    503,
    'Your address, or all clients together, have too many connections or streams open; try again shortly.',
  ],
  too_many_requests_underway: [
    503,
    'Too many requests or bytes of your address are being worked on; try again after the Retry-After header.',
  ],
  store_busy: [
    503,
    'Too much is waiting to be stored, or too many requests change the same things at once; try again after the Retry-After header.',
  ],
  disk_full: [503, "The server's disk is full and nothing was stored; try again once there is room."],
  source_unavailable: [
    503,
    "The provider of a plugin's code does not answer, or did not a moment ago; see the Retry-After header.",
  ],
  query_timeout: [504, 'The query ran too long and was stopped.'],
} as const satisfies Record<string, readonly [number, string]>

const SERVER_ERRORS = new Set<ErrorCode>(['missing_site_app_source'])
const REQUEST_ERRORS = new Set<ErrorCode>(['parse_error', 'idempotency_mismatch'])

/** The `type` beside a code: 403 counts as authentication, unreadable bodies as a bad request (conventions.md §4). */
export function errorType(code: ErrorCode): ErrorType {
  const status: number = ERROR_CODES[code][0]
  if (status === 401 || status === 403) return 'authentication_error'
  if (status === 429) return 'throttled_error'
  if (status >= 500 || SERVER_ERRORS.has(code)) return 'server_error'
  if (code === 'payload_too_large') return 'validation_error'
  if (status === 400 && !REQUEST_ERRORS.has(code)) return 'validation_error'
  return 'invalid_request'
}
