// Secrets that tests know of, and the search for them wherever they must not be.
import type { Database } from '../../src/platform/db/database.ts'

const MIN_LENGTH = 8
/** Characters that a hash covers: each is shifted out by those behind it. */
const HASHED = 6
const HASH_BITS = 2 ** (5 * HASHED) - 1
const hashOn = (hash: number, code: number) => ((hash << 5) ^ code) & HASH_BITS
const FILTER_BITS = 2 ** 18 - 1

/**
 * Tests plant thousands, and look for all of them in each answer and in megabytes of log. So a text is read once, whatever
 * their number, and compared where a secret could begin.
 */
export class Canary {
  readonly #secrets = new Map<string, string>()
  /** By the hash of how they begin. */
  readonly #beginnings = new Map<number, string[]>()
  /** Not zero where a hash that ends so is among them. */
  readonly #filter = new Uint8Array(FILTER_BITS + 1)

  /** From now on this text may appear in no answer; and in no log line or table ever. */
  plant(kind: string, secret: string): string {
    if (secret.length < MIN_LENGTH) throw new Error(`too short to search for: ${kind}`)
    if (!this.#secrets.has(secret)) this.#addBeginning(secret)
    this.#secrets.set(secret, kind)
    return secret
  }

  get size(): number {
    return this.#secrets.size
  }

  assertAbsent(text: string, where: string): void {
    let hash = 0
    for (let at = 0; at < text.length; at++) {
      hash = hashOn(hash, text.charCodeAt(at))
      if (this.#filter[hash & FILTER_BITS] === 0) continue
      const found = this.#beginnings.get(hash)?.find((secret) => text.startsWith(secret, at + 1 - HASHED))
      if (found) throw new Error(`a ${this.#secrets.get(found)} stands in plain text in ${where}`)
    }
  }

  #addBeginning(secret: string): void {
    let hash = 0
    for (let at = 0; at < HASHED; at++) hash = hashOn(hash, secret.charCodeAt(at))
    this.#beginnings.set(hash, [...(this.#beginnings.get(hash) ?? []), secret])
    this.#filter[hash & FILTER_BITS] = 1
  }

  /** Every row of every table that has any, pg-boss's included. */
  async assertAbsentFromTables(db: Database): Promise<void> {
    const tables = await db.pool.query<{ name: string }>(
      `SELECT relnamespace::regnamespace || '.' || quote_ident(relname) AS name FROM pg_class WHERE relkind = 'r' AND pg_relation_size(oid) > 0
         AND relnamespace IN ('public'::regnamespace, 'pgboss'::regnamespace)`,
    )
    for (const { name } of tables.rows) {
      const rows = await db.pool.query<{ text: string }>(`SELECT row_to_json(t)::text AS text FROM ${name} t`)
      this.assertAbsent(rows.rows.map((row) => row.text).join('\n'), `table ${name}`)
    }
  }
}
