// Secrets that tests know of, and the search for them wherever they must not be.
import type { Database } from '../../src/platform/db/database.ts'

const MIN_LENGTH = 8

export class Canary {
  readonly #secrets = new Map<string, string>()

  /** From now on this text may appear in no answer; and in no log line or table ever. */
  plant(kind: string, secret: string): string {
    if (secret.length < MIN_LENGTH) throw new Error(`too short to search for: ${kind}`)
    this.#secrets.set(secret, kind)
    return secret
  }

  get size(): number {
    return this.#secrets.size
  }

  assertAbsent(text: string, where: string): void {
    for (const [secret, kind] of this.#secrets) {
      if (text.includes(secret)) throw new Error(`a ${kind} stands in plain text in ${where}`)
    }
  }

  /** Every row of every table, pg-boss's included. */
  async assertAbsentFromTables(db: Database): Promise<void> {
    const tables = await db.pool.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname IN ('public', 'pgboss')`,
    )
    for (const { name } of tables.rows) {
      const rows = await db.pool.query<{ text: string }>(`SELECT row_to_json(t)::text AS text FROM ${name} t`)
      this.assertAbsent(rows.rows.map((row) => row.text).join('\n'), `table ${name}`)
    }
  }
}
