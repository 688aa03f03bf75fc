// Hears what other processes tell: a connection of its own listens, and asks now and then whether it is still there. After a
// gap it asks for what was told meanwhile, by version; when that is no longer kept, everything may have changed.
import pg from 'pg'
import { CHANNEL, TOPICS, type Change, type Changes, type Topic } from './changes.ts'
import type { Database } from './db/database.ts'
import type { Log } from './log/log.ts'

/** A connection that does not answer in this time is given up. */
const ANSWER_MS = 5_000
const LOOK_MS = 5_000
const RECONNECT_MS = 500
/** Less than what is kept (changes.ts): what is on its way to be forgotten does not count as kept. */
const LONGEST_GAP_MS = 50 * 60_000

type Version = { version: string; looked_ms: number }

export type Following = { stop(): Promise<void> }

/** Resolves once it listens. */
export async function followChanges(
  db: Pick<Database, 'pool'>,
  changes: Changes,
  log: Log,
  elapsed_ms: () => number = () => performance.now(),
): Promise<Following> {
  let isStopped = false
  let client: pg.Client | null = null
  let timer: NodeJS.Timeout | undefined
  /** Everything of older transactions has been heard of. */
  let known: Version | null = null

  const look = async (connection: pg.Client) => {
    const looked_ms = elapsed_ms()
    const { rows } = await connection.query<{ version: string }>(
      'SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS version',
    )
    known = { version: rows[0]!.version, looked_ms }
  }

  const catchUp = async (connection: pg.Client) => {
    if (known && elapsed_ms() - known.looked_ms > LONGEST_GAP_MS) changes.hearOfAnything()
    else if (known) {
      const { rows } = await connection.query<Change>(
        `SELECT topic, subject_id AS id, project_id FROM change
         WHERE version >= $1::text::xid8 AND origin <> $2 ORDER BY id`,
        [known.version, changes.origin],
      )
      for (const change of rows) changes.hear(change)
    }
  }

  const connect = async () => {
    const connection = new pg.Client({
      ...db.pool.options,
      // The pool hides it from whoever walks over its options.
      password: db.pool.options.password,
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
    })
    client = connection
    connection.on('error', () => undefined) // it ends, and that is heard of
    connection.on('end', () => {
      if (client === connection) later(0)
    })
    connection.on('notification', ({ payload }) => {
      const change = readChange(payload ?? '', changes.origin)
      if (change) changes.hear(change)
    })
    await connection.connect()
    await connection.query(`LISTEN ${CHANNEL}`)
    // From here on everything is heard of; before, it has to be asked for.
    await catchUp(connection)
    await look(connection)
  }

  const goOn = async () => {
    try {
      if (client) await look(client)
      else await connect()
      later(LOOK_MS)
    } catch (error) {
      if (!isStopped) log.warn({ err: error }, 'changes of other processes are heard of later')
      await drop()
      later(RECONNECT_MS)
    }
  }
  const drop = async () => {
    const dropped = client
    client = null
    await dropped?.end().catch(() => undefined)
  }
  let working: Promise<void> = Promise.resolve()
  const later = (ms: number) => {
    clearTimeout(timer)
    if (!isStopped) timer = setTimeout(() => void (working = working.then(goOn)), ms)
  }

  await connect().catch(async (error: unknown) => {
    await drop()
    throw error
  })
  later(LOOK_MS)
  return {
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await working
      await drop()
    },
  }
}

/** Null for what this process has told itself, and what a later version may tell. */
function readChange(payload: string, own: string): Change | null {
  const [origin, topic, id, project_id] = payload.split(' ')
  if (origin === own || !TOPICS.includes(topic as Topic)) return null
  return {
    topic: topic as Topic,
    id: Number(id),
    project_id: project_id === undefined ? null : Number(project_id),
  }
}
