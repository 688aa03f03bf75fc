// The database as an actor of the simulation reaches it: the real one, each statement and each commit through the
// turnstile.
import type { Database, Db } from '../../src/platform/db/database.ts'
import type { Statement } from '../../src/platform/db/sql.ts'
import type { Actor, Call, Turnstile } from './turnstile.ts'

/** `rewrite` is what mutations do to statements. */
export type Gate = {
  turnstile: Turnstile
  actor: Actor
  rewrite(statement: Statement): Statement
  /** A statement of somebody who has lost the lease found nothing. */
  onFenced(): void
  onStatement?(label: string): void
}

const FENCE = /AND attempt = \$\d+ AND finished_at IS NULL/
const LOCKS = /\b(INSERT|UPDATE|DELETE|pg_advisory_xact_lock)\b/

/** Lines of logs decide nothing, and would be half of all statements. */
const LOG_LINE = 'INSERT INTO batch_export_log'

export function gatedDatabase(db: Database, gate: Gate): Database {
  return {
    ...statements(db, gate, false),
    transaction: (work) => transaction(db, gate, work),
    afterCommit: (then) => then(),
    pool: db.pool,
    close: async () => {},
  }
}

function statements(db: Db, gate: Gate, is_inside: boolean): Omit<Db, 'transaction' | 'afterCommit'> {
  const { turnstile, actor, rewrite } = gate
  const pass = <T>(statement: Statement, ask: (db: Db, statement: Statement) => Promise<T>) => {
    const about = labelOf(statement)
    gate.onStatement?.(about)
    const label = `${is_inside ? '  ' : ''}${about}`
    const mayWait = is_inside && LOCKS.test(statement.text)
    const work = () => {
      const rewritten = prepared(rewrite(statement))
      // A statement that cannot have its lock now is undone by itself, not with all that was done before it. Even one that
      // is alone may find a lock taken: that of a connection that was cut a moment ago.
      return mayWait ? db.transaction((nested) => ask(nested, rewritten)) : ask(db, rewritten)
    }
    return turnstile.pass({ actor, place: 'database', label, is_inside }, work)
  }
  return {
    rows: (statement) => pass(statement, (on, it) => on.rows(it)),
    row: (statement) => pass(statement, (on, it) => on.row(it)),
    only: (statement) => pass(statement, (on, it) => on.only(it)),
    async run(statement) {
      if (statement.text.includes(LOG_LINE)) return 1
      const count = await pass(statement, (on, it) => on.run(it))
      if (count === 0 && FENCE.test(statement.text)) gate.onFenced()
      return count
    },
  }
}

/** The commit is a call of its own: it may fail, and its answer may be lost. */
async function transaction<T>(db: Database, gate: Gate, work: (tx: Db) => Promise<T>): Promise<T> {
  const { turnstile, actor } = gate
  let end = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  let commit: Promise<void> | undefined
  const attempt = (tx: Db) =>
    turnstile.rest(async () => {
      let about = ''
      const result = await work(gatedTransaction(tx, { ...gate, onStatement: (label) => (about = label) }))
      await new Promise<void>((resolve, reject) => {
        const let_through = async () => {
          resolve()
          await ended
        }
        const call: Call = { actor, place: 'database', label: `  COMMIT after ${about}`, is_inside: true }
        commit = turnstile.pass(call, let_through)
        commit.catch(reject)
      })
      return result
    })
  const isOver = () => {
    turnstile.endTransaction()
    end()
  }
  const result = await turnstile.move(() => db.transaction(attempt).finally(isOver))
  await commit
  return result
}

function gatedTransaction(tx: Db, gate: Gate): Db {
  const { turnstile } = gate
  return {
    ...statements(tx, gate, true),
    transaction: (work) =>
      turnstile.move(() =>
        tx.transaction((nested) => turnstile.rest(() => work(gatedTransaction(nested, gate)))),
      ),
    afterCommit: (then) => tx.afterCommit(then),
  }
}

// Planning takes longer than the work: statements made of parts have no name of their own.
const names = new Map<string, string>()

function prepared({ text, values }: Statement): Statement {
  const known = names.get(text)
  const name = known ?? `prove_${names.size}`
  if (!known) names.set(text, name)
  return { text, values, name }
}

/** The statement's beginning, and the ids it is about. */
function labelOf({ text, values }: Statement): string {
  const words = text.replaceAll(/\s+/g, ' ').trim().slice(0, 70)
  const ids = values.filter((value) => typeof value === 'string' && value.length === 36)
  return `${words} … ${ids.join(' ')}`
}
