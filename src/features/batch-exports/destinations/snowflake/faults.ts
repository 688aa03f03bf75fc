// What an error of Snowflake's driver means for a run.
import type { SnowflakeError } from 'snowflake-sdk'
import { Passing, Refused } from '../destination.ts'
import { scrub } from '../../scrub.ts'
import type { SnowflakeConfig } from './kind.ts'

/** Statements that were stopped, waited too long for a lock, met an internal error; sessions that are no more. */
const PASSING_CODES = new Set([
  '000603',
  '000604',
  '000625',
  '000630',
  '390111',
  '390112',
  '390114',
  '390195',
])

/** The driver's own errors about the way to the server, rather than what the server said. */
const NETWORK = /^(40\d{4})$/

export function meaning(error: SnowflakeError, config: SnowflakeConfig): Error {
  const code = String(error.code ?? '')
  // Not of Snowflake: a file that could not be uploaded, with a signed address in its text.
  if (code === '') return new Passing('Snowflake could not be given a file.')
  if (NETWORK.test(code)) return new Passing(`Snowflake could not be reached (${code}).`)
  const { user, password, private_key, private_key_passphrase } = config
  const secrets = [user, password, private_key, private_key_passphrase].filter((text) => text !== null)
  const message = `Snowflake: ${scrub(error.message, secrets)}`
  return PASSING_CODES.has(code) ? new Passing(message) : new Refused(message)
}
