// Why somebody does not come in through a provider: what a page tells them, by the code in its address.

/** Each says to the person what happened, and what to do. The console has no other texts for these. */
export const REFUSALS = {
  provider_not_set_up: 'This way to sign in is not set up here. Go back and choose another.',
  attempt_unknown: 'This sign-in took longer than ten minutes or was finished already. Start again.',
  other_browser: 'This sign-in was begun in another browser. Start again in this one.',
  provider_refused: 'The identity provider did not let you in. Ask whoever looks after it.',
  provider_unreachable: 'The identity provider does not answer at the moment. Try again shortly.',
  answer_not_accepted:
    'The answer of the identity provider could not be accepted. An admin of your organization finds the reason in the log of sign-ins.',
  no_email: 'The identity provider sent no e-mail address. Ask whoever looks after it to send one.',
  email_not_vouched: 'The provider has not confirmed your e-mail address. Confirm it there, then try again.',
  email_not_in_domain:
    'The identity provider sent an address of another domain than the one it is set up for.',
  account_inactive: 'Your account is deactivated. Ask an admin of your organization.',
  not_invited:
    'There is no account for your address. Ask an admin of your organization to invite you, or to let everybody of your domain join.',
  way_not_allowed:
    'Your organization demands another way to sign in. Enter your address, and you are led to it.',
} as const

export type RefusalCode = keyof typeof REFUSALS
