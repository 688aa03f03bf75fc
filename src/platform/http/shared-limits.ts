// Limits that several processes keep together. Each counts in memory, so a request costs no statement; once a second, or when it
// has let through a twentieth of a limit, it adds what it has counted to the row of the window and learns what the others have.
// So together they let through at most the limit and what comes to the others before they have counted: a second's worth.
import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Log } from '../log/log.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { Throttle, Window } from './throttle.ts'

const COUNT_MS = 1_000
/** Between two counts, however much comes. */
const PAUSE_MS = 50
const MOST_AT_ONCE = 2_000

type SharedServices = { db: Db; secrets: Secrets; throttle: Throttle; log: Log }

export class SharedLimits {
  readonly #services: SharedServices
  #timer: NodeJS.Timeout | undefined
  #due_ms = Infinity
  #counting: Promise<void> | null = null
  #is_closed = false

  constructor(services: SharedServices) {
    this.#services = services
    services.throttle.share(() => this.#soon(PAUSE_MS))
    this.#soon(COUNT_MS)
  }

  /** Tells the others, and learns what they have counted. */
  async count(): Promise<void> {
    const { db, secrets, throttle } = this.#services
    const windows = throttle.takeUnshared(MOST_AT_ONCE)
    if (windows.size === 0) return
    const named = new Map(
      [...windows].map(([name, window]) => [secrets.fingerprint('limits', name), { name, window }]),
    )
    try {
      const rows = await addToWindows(db, new Map([...named].map(([key, { window }]) => [key, window])))
      for (const { key, started_at, taken } of rows)
        throttle.learn(named.get(key)!.name, { started_at: started_at.getTime(), used: taken })
    } catch (error) {
      throttle.putBack(windows)
      throw error
    }
  }

  async close(): Promise<void> {
    this.#is_closed = true
    clearTimeout(this.#timer)
    await this.#counting
    await this.count().catch(() => undefined) // what is not told is gone with this process
  }

  #soon(ms: number): void {
    const due_ms = performance.now() + ms
    if (this.#is_closed || this.#counting || due_ms >= this.#due_ms) return
    this.#due_ms = due_ms
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void (this.#counting = this.#work()), ms)
  }

  async #work(): Promise<void> {
    await this.count().catch((error: unknown) =>
      this.#services.log.warn({ err: error }, 'limits are counted by this process alone for the moment'),
    )
    this.#counting = null
    this.#due_ms = Infinity
    this.#soon(COUNT_MS)
  }
}

type WindowRow = { key: string; started_at: Date; taken: number }

/** A window that is over begins anew with the one that is given. Sorted, so that processes do not wait for each other in circles. */
function addToWindows(db: Db, windows: ReadonlyMap<string, Window>): Promise<WindowRow[]> {
  const sorted = [...windows].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const dates = (of: (window: Window) => number) => sorted.map(([, window]) => new Date(of(window)))
  return db.rows(sql`
    INSERT INTO rate_window AS kept (key, started_at, ends_at, taken)
    SELECT * FROM unnest(${sorted.map(([key]) => key)}::text[], ${dates((window) => window.started_at)}::timestamptz[],
      ${dates(({ started_at, window_ms }) => started_at + window_ms)}::timestamptz[],
      ${sorted.map(([, { unshared }]) => unshared)}::int[])
    ON CONFLICT (key) DO UPDATE SET
      taken = excluded.taken + CASE WHEN kept.ends_at > excluded.started_at THEN kept.taken ELSE 0 END,
      started_at = CASE WHEN kept.ends_at > excluded.started_at THEN kept.started_at ELSE excluded.started_at END,
      ends_at = CASE WHEN kept.ends_at > excluded.started_at THEN kept.ends_at ELSE excluded.ends_at END
    RETURNING key, started_at, taken`)
}

export async function forgetOldWindows(db: Db, now: Date): Promise<void> {
  await db.run(sql`DELETE FROM rate_window WHERE ends_at < ${now}`)
}
