// Connections to our own PostgreSQL for starting, claiming and stopping it. Called by postmaster.ts and claim.ts.

import { Client } from 'pg'
import { errorCode } from '../../../lib/error-code.ts'
import { port } from './paths.ts'

export const user = 'longshore'

/** Where PostgreSQL listens, and what opens it. */
export type Door = { host: string; password: string }

/** Every connection of this folder goes to the database `postgres`: advisory locks count per database. */
export async function connect(door: Door): Promise<Client> {
  const client = new Client({
    ...connectionTo(door, 'postgres'),
    application_name: `longshore pid ${process.pid}`,
    connectionTimeoutMillis: 5000,
  })
  client.on('error', () => undefined) // the loss shows in the next query, or at 'end'
  await client.connect()
  return client
}

export function connectionTo({ host, password }: Door, database: string) {
  return { host, port, user, password, database, ssl: false as const } // PGSSLMODE is meant for another server
}

/** Somebody's answer on a socket: a connection, 'busy' while it starts or stops, 'none' where nobody listens. */
export async function connectIfListening(door: Door): Promise<Client | 'busy' | 'none'> {
  try {
    return await connect(door)
  } catch (error) {
    if (['ENOENT', 'ECONNREFUSED'].includes(errorCode(error))) return 'none'
    if (isPassing(error)) return 'busy'
    throw error
  }
}

const passing = new Set([
  '57P01', // going down by command
  '57P02', // going down after a crash
  '57P03', // not yet or no longer open
  '53300', // too many connections
  'ENOENT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'EAGAIN',
])

/** Errors of a server that is starting or stopping at this moment: worth another try. */
export function isPassing(error: unknown): boolean {
  if (passing.has(errorCode(error))) return true
  return (
    error instanceof Error &&
    /^(Connection terminated|timeout expired|Client has encountered a connection)/.test(error.message)
  )
}

export async function ensureDatabase(door: Door, name: string) {
  const client = await connect(door)
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name])
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`)
  } catch (error) {
    // 42P04, 23505: a process starting beside us made it.
    if (!['42P04', '23505'].includes(errorCode(error))) throw error
  } finally {
    await client.end()
  }
}
