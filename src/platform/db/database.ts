// The connection to PostgreSQL as the slices see it: rows, one row, a statement, a transaction.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { errorCode } from '../../lib/error-code.ts'
import type { Statement } from './sql.ts'

export type Db = {
  rows<Row>(statement: Statement): Promise<Row[]>
  row<Row>(statement: Statement): Promise<Row | undefined>
  /** For statements that must give a row; without one, the thing they are about has just gone: RowGone. */
  only<Row>(statement: Statement): Promise<Row>
  /** Number of rows the statement touched. */
  run(statement: Statement): Promise<number>
  /** Nested calls become savepoints. The outermost is run again after a deadlock, so `work` must only touch `tx`. */
  transaction<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /** Runs once what was written is visible to others; never after a rollback. */
  afterCommit(then: () => void): void
}

export type Database = Db & { pool: pg.Pool; close(): Promise<void> }

/** What a statement needed was deleted by somebody else a moment ago; a client sees 404. */
export class RowGone extends Error {}

type Queryable = Pick<pg.Pool | pg.PoolClient, 'query'>

const RETRIED_CODES = new Set(['40001', '40P01'])
const RETRIES = 5
/** Doubled with each try, and of random length: two that ran into each other must not meet again. */
const FIRST_PAUSE_MS = 10

export function openDatabase(connection: pg.PoolConfig): Database {
  const pool = new pg.Pool({
    max: 10,
    idleTimeoutMillis: 10_000,
    connectionTimeoutMillis: 10_000,
    ...connection,
  })
  // A connection that the server drops is replaced by the pool at the next use, and the statement on it fails by
  // itself. Without listeners for both, idle and in use, it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return {
    ...statements(pool),
    transaction: (work) => retried(() => inTransaction(pool, work)),
    afterCommit: (then) => then(),
    pool,
    close: () => pool.end(),
  }
}

function statements(on: Queryable): Omit<Db, 'transaction' | 'afterCommit'> {
  const query = async <Row>(statement: Statement) =>
    (await on.query(statement)) as unknown as pg.QueryResult<Row & pg.QueryResultRow>
  return {
    rows: async <Row>(statement: Statement) => (await query<Row>(statement)).rows as Row[],
    row: async <Row>(statement: Statement) => (await query<Row>(statement)).rows[0] as Row | undefined,
    only: async <Row>(statement: Statement) => {
      const row = (await query<Row>(statement)).rows[0]
      if (row === undefined) throw new RowGone()
      return row as Row
    },
    run: async (statement) => (await query(statement)).rowCount ?? 0,
  }
}

async function inTransaction<T>(pool: pg.Pool, work: (tx: Db) => Promise<T>): Promise<T> {
  const { result, afterCommit } = await committed(pool, work)
  for (const then of afterCommit) then()
  return result
}

async function committed<T>(
  pool: pg.Pool,
  work: (tx: Db) => Promise<T>,
): Promise<{ result: T; afterCommit: (() => void)[] }> {
  const client = await pool.connect()
  const afterCommit: (() => void)[] = []
  try {
    await client.query('BEGIN')
    const result = await work(transactionOn(client, afterCommit))
    const { command } = await client.query('COMMIT')
    // After a failed statement whose error was swallowed, PostgreSQL answers COMMIT by rolling back.
    if (command !== 'COMMIT') throw new Error('the transaction held a failed statement and was rolled back')
    client.release()
    return { result, afterCommit }
  } catch (error) {
    // A connection that cannot even roll back is thrown away rather than handed to the next caller.
    const rollback = await client.query('ROLLBACK').catch((failure: Error) => failure)
    client.release(rollback instanceof Error)
    throw error
  }
}

function transactionOn(client: pg.PoolClient, afterCommit: (() => void)[]): Db {
  return {
    ...statements(client),
    afterCommit: (then) => void afterCommit.push(then),
    async transaction(work) {
      const afterNested: (() => void)[] = []
      await client.query('SAVEPOINT nested')
      try {
        const result = await work(transactionOn(client, afterNested))
        await client.query('RELEASE SAVEPOINT nested')
        afterCommit.push(...afterNested)
        return result
      } catch (error) {
        // On a lost connection this fails too, and the outer transaction with it: the first error says why.
        await client.query('ROLLBACK TO SAVEPOINT nested; RELEASE SAVEPOINT nested').catch(() => {})
        throw error
      }
    },
  }
}

async function retried<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (tries > RETRIES || !isConflict(error)) throw error
      await sleep(Math.random() * FIRST_PAUSE_MS * 2 ** tries)
    }
  }
}

/** Others were changing the same rows at the same time. */
export function isConflict(error: unknown): boolean {
  return RETRIED_CODES.has(errorCode(error))
}

/** A row that the new one would point to was deleted by somebody else a moment ago. */
export function isParentGone(error: unknown): boolean {
  return errorCode(error) === '23503'
}

/** The unique constraint that an INSERT or UPDATE ran into, if that is what went wrong. */
export function violatedUnique(error: unknown): string | undefined {
  if (errorCode(error) !== '23505') return undefined
  return error instanceof Error && 'constraint' in error ? String(error.constraint) : undefined
}
