// A connection to Snowflake through its driver, which is an optional package: loaded when the first run needs it.
import { createPrivateKey } from 'node:crypto'
import type { Bind, Connection, ConnectionOptions, SnowflakeError } from 'snowflake-sdk'
import { errorCode } from '../../../../lib/error-code.ts'
import { connectionFault } from '../connection-faults.ts'
import { Refused, Unreachable, type DeliveryContext } from '../destination.ts'
import { meaning } from './faults.ts'
import type { SnowflakeConfig } from './kind.ts'

export type SnowflakeContext = Pick<DeliveryContext<SnowflakeConfig>, 'config' | 'outbound' | 'signal'>

export type SnowflakeRow = Record<string, unknown>

export type Session = {
  run(sql: string, binds?: readonly Bind[], signal?: AbortSignal): Promise<SnowflakeRow[]>
  /** Never throws; an open transaction is rolled back. */
  close(): Promise<void>
}

export type AccessUrl = (account: string) => string

const STATEMENT_ANSWER_MS = 120_000

export async function connect(accessUrl: AccessUrl, context: SnowflakeContext): Promise<Session> {
  const { config, outbound, signal } = context
  const url = accessUrl(config.account)
  // The driver dials by itself, so the gate is asked beforehand; the host is Snowflake's own, whatever the account.
  await outbound.checkedAddress(new URL(url).hostname).catch((error: unknown) => {
    throw connectionFault(errorCode(error), 'Snowflake') ?? error
  })
  const connection = await createConnection(url, config)
  await logIn(connection, context)
  return {
    run: (sql, binds = [], until = signal) => execute(connection, sql, binds, until, config),
    close: () => new Promise((resolve) => connection.destroy(() => resolve())),
  }
}

/** The driver tries for minutes and cannot be stopped: whoever has to stop does not wait for it. */
async function logIn(connection: Connection, { config, signal }: SnowflakeContext): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    connection.connect((error) => {
      signal.removeEventListener('abort', stop)
      if (error) reject(loginFault(error, config))
      else if (signal.aborted) connection.destroy(() => {})
      else resolve()
    })
  })
}

async function createConnection(url: string, config: SnowflakeConfig): Promise<Connection> {
  const driver = await loadDriver()
  const options = {
    account: config.account,
    accessUrl: url,
    username: config.user,
    warehouse: config.warehouse,
    application: 'Longshore',
    timeout: STATEMENT_ANSWER_MS,
    sfRetryMaxLoginRetries: 3,
    ...(config.role !== null && { role: config.role }),
    ...credentials(config),
  }
  try {
    return driver.createConnection(options)
  } catch {
    throw new Refused('Snowflake: no connection can be made with this account, user and role. Check them.')
  }
}

async function loadDriver() {
  const { default: driver } = await import('snowflake-sdk').catch(() => {
    throw new Refused(
      'The package snowflake-sdk is not installed on this server. Ask its operator to install it.',
    )
  })
  // Its own log would be a file in the working directory, with statements in it.
  driver.configure({ logLevel: 'OFF', additionalLogToConsole: false, useEnvProxy: false })
  return driver
}

function credentials(config: SnowflakeConfig): Partial<ConnectionOptions> {
  if (config.authentication_type === 'password') return { password: config.password ?? '' }
  return { authenticator: 'SNOWFLAKE_JWT', privateKey: readKey(config) }
}

/** Without its passphrase, as the driver wants it. */
function readKey({ private_key, private_key_passphrase }: SnowflakeConfig): string {
  try {
    const key = createPrivateKey({
      key: (private_key ?? '').replaceAll(String.raw`\n`, '\n'),
      ...(private_key_passphrase !== null && { passphrase: private_key_passphrase }),
    })
    return key.export({ type: 'pkcs8', format: 'pem' }).toString()
  } catch {
    // The error's own text may quote the key.
    throw new Refused(
      'The private key cannot be read. Send it again in PEM form, with its passphrase if it has one.',
    )
  }
}

function loginFault(error: SnowflakeError, config: SnowflakeConfig): Error {
  const fault = meaning(error, config)
  return fault instanceof Refused ? fault : new Unreachable(fault.message)
}

async function execute(
  connection: Connection,
  sqlText: string,
  binds: readonly Bind[],
  signal: AbortSignal,
  config: SnowflakeConfig,
): Promise<SnowflakeRow[]> {
  signal.throwIfAborted()
  return await new Promise((resolve, reject) => {
    const stop = () => {
      statement.cancel(() => {})
      reject(signal.reason)
    }
    const statement = connection.execute({
      sqlText,
      binds: [...binds],
      complete(error, _statement, rows) {
        signal.removeEventListener('abort', stop)
        if (error) reject(meaning(error, config))
        else resolve((rows ?? []) as SnowflakeRow[])
      },
    })
    signal.addEventListener('abort', stop, { once: true })
  })
}
