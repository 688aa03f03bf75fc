// Addresses as people paste them: one a line, with commas or semicolons, or out of a mail program ("Ada L." <ada@…>).
import { Failure } from '../../api/failure'

export const MOST_AT_ONCE = 20

export type Invitee = { target_email: string; first_name: string }

export function readAddresses(text: string): Invitee[] {
  const parts = text.split(/[\n,;]/).map((part) => part.trim())
  return parts.filter((part) => part !== '').map(readOne)
}

function readOne(part: string): Invitee {
  const [, name = '', address] = /^"?([^"<]*)"?\s*<([^<>]+)>$/.exec(part) ?? []
  const first = name.trim().split(/\s+/)[0] ?? ''
  return address === undefined
    ? { target_email: part, first_name: '' }
    : { target_email: address.trim(), first_name: first.slice(0, 30) }
}

/** A refusal of one of many (`3__target_email`) names the address it is about. */
export function aboutOne(error: unknown, invitees: readonly Invitee[]): unknown {
  if (!(error instanceof Failure)) return error
  const index = /^(\d+)__/.exec(error.attr ?? '')?.[1]
  const invitee = index === undefined ? undefined : invitees[Number(index)]
  if (!invitee) return error
  const { status, code, attr, requestId, message, extra } = error
  return new Failure(status, code, `${invitee.target_email}: ${message}`, attr, requestId, extra)
}
