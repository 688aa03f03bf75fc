// What an app keeps between calls: JSON texts by key, per config. Counters are numbers among them.
import type { Db } from '../../../../platform/db/database.ts'
import { sql } from '../../../../platform/db/sql.ts'
import { HostError } from './host-error.ts'
import type { AppIds } from '../running-app.ts'

const MAX_KEY = 200
const MB = 1024 * 1024
const MAX_VALUE = MB
const MAX_TOTAL = 20 * MB
/** What a row costs besides its texts. */
const ROW_BYTES = 64

type Owner = Pick<AppIds, 'config_id' | 'project_id'>

export class AppStorage {
  readonly #db: Db
  readonly #owner: Owner
  /** At least what is stored; null: not known yet. Counting for every write would read all rows. */
  #bytes: number | null = null

  constructor(db: Db, { config_id, project_id }: Owner) {
    this.#db = db
    this.#owner = { config_id, project_id }
  }

  async get(key: string): Promise<string | null> {
    const { config_id, project_id } = this.#owner
    const row = await this.#db.row<{ value: string }>(sql`
      SELECT value FROM plugin_storage
      WHERE project_id = ${project_id} AND plugin_config_id = ${config_id} AND key = ${checkedKey(key)}`)
    return row?.value ?? null
  }

  async set(key: string, value: string): Promise<void> {
    const { config_id, project_id } = this.#owner
    checkedKey(key)
    if (Buffer.byteLength(value) > MAX_VALUE) throw new HostError('A stored value may have 1 MB at most.')
    await this.#takeRoom(key, value)
    await this.#db.run(sql`
      INSERT INTO plugin_storage (project_id, plugin_config_id, key, value)
      VALUES (${project_id}, ${config_id}, ${key}, ${value})
      ON CONFLICT (plugin_config_id, key) DO UPDATE SET value = excluded.value`)
  }

  async delete(key: string): Promise<void> {
    const { config_id, project_id } = this.#owner
    await this.#db.run(sql`
      DELETE FROM plugin_storage
      WHERE project_id = ${project_id} AND plugin_config_id = ${config_id} AND key = ${checkedKey(key)}`)
  }

  /** One statement, so that no two calls see the same number. */
  async increment(key: string, by: number): Promise<number> {
    const { config_id, project_id } = this.#owner
    const step = String(checkedNumber(by))
    await this.#takeRoom(checkedKey(key), step)
    const row = await this.#db.row<{ value: string }>(sql`
      INSERT INTO plugin_storage (project_id, plugin_config_id, key, value)
      VALUES (${project_id}, ${config_id}, ${key}, ${step})
      ON CONFLICT (plugin_config_id, key)
      DO UPDATE SET value = (plugin_storage.value::float8 + excluded.value::float8)::text
      WHERE plugin_storage.value ~ '^-?[0-9]{1,16}([.][0-9]+)?(e[+-]?[0-9]{1,2})?$'
      RETURNING value`)
    if (!row) throw new HostError('What is stored under this key is not a number.')
    return Number(row.value)
  }

  async init(key: string, value: number): Promise<void> {
    const { config_id, project_id } = this.#owner
    const text = String(checkedNumber(value))
    await this.#takeRoom(checkedKey(key), text)
    await this.#db.run(sql`
      INSERT INTO plugin_storage (project_id, plugin_config_id, key, value)
      VALUES (${project_id}, ${config_id}, ${key}, ${text})
      ON CONFLICT (plugin_config_id, key) DO NOTHING`)
  }

  /** Each write is added, also where it takes another's place; only when that seems too much is it counted anew. */
  async #takeRoom(key: string, value: string): Promise<void> {
    const bytes = ROW_BYTES + Buffer.byteLength(key) + Buffer.byteLength(value)
    if (this.#bytes === null || this.#bytes + bytes > MAX_TOTAL) this.#bytes = await this.#countWithout(key)
    if (this.#bytes + bytes > MAX_TOTAL)
      throw new HostError('The storage of this app is full: 20 MB at most.')
    this.#bytes += bytes
  }

  async #countWithout(key: string): Promise<number> {
    const { config_id, project_id } = this.#owner
    const { bytes } = await this.#db.only<{ bytes: string }>(sql`
      SELECT coalesce(sum(${ROW_BYTES} + octet_length(key) + octet_length(value)), 0) AS bytes FROM plugin_storage
      WHERE project_id = ${project_id} AND plugin_config_id = ${config_id} AND key <> ${key}`)
    return Number(bytes)
  }
}

function checkedKey(key: string): string {
  const isFit = typeof key === 'string' && key.length <= MAX_KEY && !key.includes('\0') && key.isWellFormed()
  if (!isFit) throw new HostError('A key is a text of at most 200 characters.')
  return key
}

/** Beyond it a counter no longer counts by one. */
function checkedNumber(value: number): number {
  if (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value
  throw new HostError('A counter takes a number.')
}
