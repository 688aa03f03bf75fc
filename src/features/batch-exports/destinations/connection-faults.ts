// What a connection that failed means for a run, by the code of the error. Called by the destinations that are reached
// through a client of others.
import { Passing, Refused, Unreachable } from './destination.ts'

const UNRESOLVED = new Set(['OUTBOUND_UNRESOLVED', 'ENOTFOUND', 'EAI_AGAIN'])
const NOBODY_THERE = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'ETIMEDOUT'])
const CUT = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ESOCKETTIMEDOUT'])

/** Certificates that do not check out, TLS where there is none, an answer that is not HTTP. */
const SPEAKS_OTHERWISE = /CERT|^ERR_TLS_|^ERR_SSL_|^EPROTO$|^HPE_|^UNABLE_TO_/

/** Null for an error that is not about the connection. `place` begins a sentence: “The S3 endpoint”. */
export function connectionFault(code: string, place: string): Error | null {
  if (code === 'OUTBOUND_REFUSED') {
    return new Refused(
      `${place} may not be called: its address is not public. Use another, or ask the operator of this server to add it to OUTBOUND_ALLOW.`,
    )
  }
  if (UNRESOLVED.has(code)) {
    return new Unreachable(`${place} cannot be reached: its host name does not resolve. Check the host name.`)
  }
  if (NOBODY_THERE.has(code)) {
    return new Unreachable(
      `${place} cannot be reached (${code}). Check host and port, and that its firewall lets this server in.`,
    )
  }
  if (SPEAKS_OTHERWISE.test(code)) {
    return new Unreachable(
      `${place} does not offer a connection that can be trusted (${code}). Check its address and its certificate.`,
    )
  }
  if (CUT.has(code)) return new Passing(`${place} cut the connection (${code}).`)
  return null
}
