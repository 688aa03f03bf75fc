// Who may call itself the server on a data folder: advisory locks on a connection kept open, so that they end with
// their process however it ends. Called by server.ts and command.ts.

import type { Client } from 'pg'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Door } from './client.ts'

const family = 0x4c6f6e67 // 'Long'
const server = 1 // held by the one server
const visit = 2 // shared by the commands at work

export type Claim = {
  client: Client
  /** Settles when the connection, and the claim with it, is gone. */
  lost: Promise<void>
}

/** @param patience_ms the connection of a killed process may live on for a moment */
export async function takeClaim(door: Door, patience_ms: number): Promise<Claim | { holder: string }> {
  const client = await connect(door)
  const lost = new Promise<void>((resolve) => client.once('end', resolve))
  try {
    for (const end = Date.now() + patience_ms; ; await sleep(100)) {
      if (await tryLock(client, server)) return { client, lost }
      if (Date.now() < end) continue
      const holder = await findHolder(client)
      await client.end()
      return { holder }
    }
  } catch (error) {
    await client.end().catch(() => undefined)
    throw error
  }
}

/** Makes a command known to other commands, so that none stops PostgreSQL under another. */
export async function announceVisit(door: Door): Promise<Client> {
  const client = await connect(door)
  await client.query('select pg_advisory_lock_shared($1, $2)', [family, visit])
  return client
}

/** True when neither a server nor another command is at work; both are kept out until the connection ends. */
export async function isLastVisitor(client: Client): Promise<boolean> {
  await client.query('select pg_advisory_unlock_shared($1, $2)', [family, visit])
  return (await tryLock(client, visit)) && (await tryLock(client, server))
}

async function tryLock(client: Client, lock: number): Promise<boolean> {
  const sql = 'select pg_try_advisory_lock($1, $2) as taken'
  return (await client.query<{ taken: boolean }>(sql, [family, lock])).rows[0]?.taken === true
}

async function findHolder(client: Client): Promise<string> {
  const { rows } = await client.query<{ holder: string }>(
    `select a.application_name as holder from pg_locks l join pg_stat_activity a using (pid)
     where l.locktype = 'advisory' and l.classid = $1 and l.objid = $2 and l.granted`,
    [family, server],
  )
  return rows[0]?.holder || 'unknown'
}
