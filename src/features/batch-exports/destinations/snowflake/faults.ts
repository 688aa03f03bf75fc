// What an error of Snowflake's driver means for a run.
import type { SnowflakeError } from 'snowflake-sdk'
import { Passing, Refused } from '../destination.ts'
import { said } from '../warehouse/said.ts'
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

const ADVICE: Readonly<Record<string, string>> = {
  '002003': 'Create it, or grant the role access to it.',
  '002043': 'Create it, or grant the role access to it.',
  '003001': 'Grant them to the role.',
  '390100': 'Check the user, and send the password again.',
  '390144': 'Check the user, and that it has the public key of the private one.',
}

export function meaning(error: SnowflakeError, config: SnowflakeConfig): Error {
  const code = String(error.code ?? '')
  // Not of Snowflake: a file that could not be uploaded, with a signed address in its text.
  if (code === '') return new Passing('Snowflake: a file could not be uploaded to the stage.')
  if (NETWORK.test(code))
    return new Passing(
      `Snowflake cannot be reached (${code}). Check \`account\`, and that a firewall lets this server out.`,
    )
  const { user, password, private_key, private_key_passphrase } = config
  const secrets = [user, password, private_key, private_key_passphrase].filter((text) => text !== null)
  const message = said('Snowflake', error.message, secrets, ADVICE[code])
  return PASSING_CODES.has(code) ? new Passing(message) : new Refused(message)
}
