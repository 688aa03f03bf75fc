// What keeps a start from going on, told by the setting that leads there: nobody can look up a bare ECONNREFUSED.
import { access, constants, mkdtemp, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { errorCode } from '../lib/error-code.ts'
import { ConfigError, type Config } from './config.ts'
import { showSetting } from './shown-settings.ts'

const DATABASE_REASONS: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the host is not known',
  EAI_AGAIN: 'the host is not known, because no name server answers',
  ENOENT: 'there is no such socket',
  EACCES: 'the socket may not be used',
  ETIMEDOUT: 'there is no answer',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the host',
  ECONNRESET: 'the connection was cut',
  '28000': 'the user is refused',
  '28P01': 'the password is refused',
  '3D000': 'there is no such database',
  '53300': 'it has no connection left',
  '57P03': 'it is starting or stopping',
}

/** Faults of the connection; whatever else went wrong comes back as it is. */
export function explainDatabaseFault(url: string, error: unknown): unknown {
  // A host with several addresses, none of which answers, gives an error for each.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error
  const reason = DATABASE_REASONS[errorCode(first)]
  if (reason === undefined) return error
  const { user, host, port, database } = new pg.Client({ connectionString: url })
  const server = host.startsWith('/') ? host : `${host}:${port}`
  return new ConfigError(
    `DATABASE_URL leads to the database ${database} of ${user} at ${server}: ${reason} (${errorCode(first)})`,
  )
}

/** What ClickHouse itself says, or why it says nothing. */
export function explainClickHouseFault(url: string, error: unknown): unknown {
  const { username, host, pathname } = new URL(url)
  const reason =
    DATABASE_REASONS[errorCode(error)] ?? (error instanceof Error ? error.message : String(error))
  const database = pathname.slice(1) || 'default'
  return new ConfigError(
    `CLICKHOUSE_URL leads to the database ${database} of ${username || 'default'} at ${host}: ${reason}`,
    { cause: error },
  )
}

export function explainListenFault({ HOST, PORT }: Config, error: unknown): unknown {
  const host = showSetting('HOST', HOST)
  const port = showSetting('PORT', PORT)
  switch (errorCode(error)) {
    case 'EADDRINUSE':
      return new ConfigError(`${port} is in use at ${HOST}: choose another (PORT=0 picks a free one)`)
    case 'EACCES':
      return new ConfigError(`${port} may not be used by this user: choose one from 1024 on`)
    case 'EADDRNOTAVAIL':
      return new ConfigError(`${host} is not an address of this machine: 0.0.0.0 listens on all of them`)
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new ConfigError(
        `${host} does not resolve to an address (${errorCode(error)}): 0.0.0.0 listens on all addresses of this machine`,
      )
    default:
      return error
  }
}

/**
 * Leaves nothing behind: what is not there yet is made by those who know whom it belongs to. A folder is made for a try,
 * because some places, such as /proc, look as if root could write there, and node would try for ever.
 */
export async function assertUsableFolder(DATA_DIR: string): Promise<void> {
  try {
    const found = await nearest(DATA_DIR)
    await access(found, constants.W_OK | constants.X_OK)
    if (found !== DATA_DIR) await rmdir(await mkdtemp(join(found, '.longshore-')))
  } catch (error) {
    const reason = errorCode(error)
    const setting = showSetting('DATA_DIR', DATA_DIR)
    throw new ConfigError(
      reason === 'ENOTDIR'
        ? `${setting} is not a folder`
        : `${setting} cannot be written by this user (${reason}): choose another folder, or give this one to the user`,
      { cause: error },
    )
  }
}

/** The folder, or the one that it would be made in. */
async function nearest(path: string): Promise<string> {
  const found = await stat(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  })
  if (found === null) return nearest(dirname(path))
  if (!found.isDirectory()) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' })
  return path
}
