// What went wrong at a database, as the runner of exports tells failures apart: by the class of the SQLSTATE.
import pg from 'pg'
import { errorCode } from '../../../../lib/error-code.ts'
import { Passing, Refused } from '../destination.ts'
import { explain } from './explain.ts'

/** No retry changes these: values, constraints, logins, names and rights, limits of size. */
const REFUSED_CLASSES = new Set(['0A', '22', '23', '28', '3D', '3F', '42', '44', '54'])
/** The same, of classes that otherwise pass: a full disk, a server that only reads. */
const REFUSED_CODES = new Set(['53100', '25006'])

export function failureOf(error: unknown, secrets: readonly string[]): Error {
  if (!(error instanceof pg.DatabaseError)) {
    const code = errorCode(error)
    return new Passing(`The connection to the database was lost${code === '' ? '' : ` (${code})`}.`)
  }
  const state = errorCode(error)
  const message = scrubbed(explain(error), secrets)
  const is_refused = REFUSED_CLASSES.has(state.slice(0, 2)) || REFUSED_CODES.has(state)
  return Object.assign(is_refused ? new Refused(message) : new Passing(message), { sqlstate: state })
}

export function sqlstateOf(error: unknown): string {
  return error instanceof Error && 'sqlstate' in error ? String(error.sqlstate) : ''
}

/** Also the user is a secret, and the server repeats it when it refuses a login. */
function scrubbed(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
}
