// The ways in which a call to a user's address goes wrong. None ever repeats the address: it may hold a secret, and what
// it resolves to is nothing a caller should learn.

const NOT_PUBLIC =
  'This address may not be called: it is not a public one. Use another, or ask the operator of this server to add it to OUTBOUND_ALLOW.'
const NOT_HTTP = 'This address may not be called: it is not an http or https address.'
const UNRESOLVED = 'The host name of this address does not resolve. Check its spelling, or add it to the DNS.'

/** The gate said no: private or reserved, or not http(s). The user has to change the address. */
export class OutboundRefused extends Error {
  override readonly name: string = 'OutboundRefused'
  /** What remains of an error when a client that others wrote wraps it in its own. */
  readonly code: string = 'OUTBOUND_REFUSED'
  constructor(message: string = NOT_PUBLIC) {
    super(message)
  }
}

/** What was given is no address that HTTP can call. */
export class OutboundNotHttp extends OutboundRefused {
  constructor() {
    super(NOT_HTTP)
  }
}

/** Nothing to be dialled now. Refused when it is saved; a run that meets it tries again, because names come back. */
export class OutboundUnresolved extends OutboundRefused {
  override readonly name = 'OutboundUnresolved'
  override readonly code = 'OUTBOUND_UNRESOLVED'
  constructor() {
    super(UNRESOLVED)
  }
}

export type OutboundFailure = 'time_limit' | 'size_limit' | 'redirect_limit' | 'connection' | 'request'

const MESSAGES: Record<OutboundFailure, string> = {
  time_limit: 'The call took longer than its time limit',
  size_limit: 'The answer is larger than its size limit',
  redirect_limit: 'The call was redirected too often',
  connection: 'The connection failed',
  request: 'The request could not be written',
}

/** The gate let the call through and it failed on the way. `code` is Node's or undici's, for the log. */
export class OutboundFailed extends Error {
  override readonly name = 'OutboundFailed'
  constructor(
    readonly failure: OutboundFailure,
    readonly code: string | null = null,
  ) {
    super(`${MESSAGES[failure]}${code ? ` (${code})` : ''}.`)
  }
}
