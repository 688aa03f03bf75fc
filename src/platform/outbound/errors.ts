// The two ways in which a call to a user's address goes wrong. Neither ever repeats the address: it may hold a
// secret, and what it resolves to is nothing a caller should learn.

/** The gate said no: not http(s), private or reserved, or not to be resolved. The user has to change the address. */
export class OutboundRefused extends Error {
  override readonly name: string = 'OutboundRefused'
  /** What remains of an error when a client that others wrote wraps it in its own. */
  readonly code: string = 'OUTBOUND_REFUSED'
  constructor() {
    super('This address may not be called: it is not a public http(s) address, or it does not resolve.')
  }
}

/** Nothing to be dialled now: the name may resolve later, so a configuration with it may be saved. */
export class OutboundUnresolved extends OutboundRefused {
  override readonly name = 'OutboundUnresolved'
  override readonly code = 'OUTBOUND_UNRESOLVED'
}

export type OutboundFailure = 'time_limit' | 'size_limit' | 'redirect_limit' | 'connection' | 'request'

const MESSAGES: Record<OutboundFailure, string> = {
  time_limit: 'The call took longer than its time limit.',
  size_limit: 'The answer is larger than its size limit.',
  redirect_limit: 'The call was redirected too often.',
  connection: 'The connection failed.',
  request: 'The request could not be written.',
}

/** The gate let the call through and it failed on the way. `code` is Node's or undici's, for the log. */
export class OutboundFailed extends Error {
  override readonly name = 'OutboundFailed'
  constructor(
    readonly failure: OutboundFailure,
    readonly code: string | null = null,
  ) {
    super(code ? `${MESSAGES[failure]} (${code})` : MESSAGES[failure])
  }
}
