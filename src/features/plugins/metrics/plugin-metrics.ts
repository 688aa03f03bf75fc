// How calls of apps ended: counted in memory by the hour, and written together. Of faults, the first ones of each hour are
// kept with what was known of them.
import { WriteLater } from '../../../lib/write-later.ts'
import { uuid7 } from '../../../lib/uuid.ts'
import type { JsonObject } from '../../../lib/json-object.ts'
import type { AppFault } from '../../../platform/sandbox/sandbox.ts'
import type { Services } from '../../../platform/services.ts'
import type { AppIds } from '../running/running-app.ts'
import type { Category } from './categories.ts'
import { describeFault } from './fault-details.ts'
import { addCounts, insertFaults, type Counts, type NewFault } from './write-queries.ts'

export type Outcome = 'success' | 'success_on_retry' | 'failure'

const DELAY_MS = 2_000
const HOUR_MS = 3_600_000
const FAULTS_AN_HOUR = 100
/** Each takes some 30 kB at worst. */
const MAX_WAITING_FAULTS = 500
/** Beyond this, jobs are no longer told apart until the next writing. */
const MAX_COUNTS = 10_000

const NOTHING = { successes: 0, successes_on_retry: 0, failures: 0 }
const COLUMN = {
  success: 'successes',
  success_on_retry: 'successes_on_retry',
  failure: 'failures',
} as const satisfies Record<Outcome, keyof Counts>

export class PluginMetrics {
  readonly #services: Pick<Services, 'db' | 'log' | 'now'>
  readonly #later: WriteLater
  #counts = new Map<string, Counts>()
  #faults: NewFault[] = []
  /** How many were kept within `#hour`, by config and category. */
  readonly #kept = new Map<string, number>()
  #hour = 0

  constructor(services: Pick<Services, 'db' | 'log' | 'now'>) {
    this.#services = services
    this.#later = new WriteLater({
      delay_ms: DELAY_MS,
      write: () => this.#write(),
      onFault: (error) => services.log.warn({ err: error }, 'plugins: metrics wait to be written'),
    })
  }

  count(
    app: AppIds,
    category: Category,
    outcome: Outcome,
    { by = 1, job_id = '' }: { by?: number; job_id?: string } = {},
  ): void {
    const now_ms = this.#services.now().getTime()
    add(this.#counts, {
      project_id: app.project_id,
      plugin_config_id: app.config_id,
      category,
      hour: now_ms - (now_ms % HOUR_MS),
      job_id: this.#counts.size < MAX_COUNTS ? job_id : '',
      ...NOTHING,
      [COLUMN[outcome]]: by,
    })
    this.#later.soon()
  }

  /** Besides `count`: what went wrong, and with which event. */
  error(app: AppIds, category: Category, fault: AppFault, event: JsonObject | null, job_id = ''): void {
    const now = this.#services.now()
    if (this.#faults.length >= MAX_WAITING_FAULTS || !this.#mayKeep(app, category, now)) return
    this.#faults.push({
      id: uuid7(now),
      project_id: app.project_id,
      plugin_config_id: app.config_id,
      category,
      job_id,
      timestamp: now,
      ...describeFault(app.redactor, fault, event),
    })
    this.#later.soon()
  }

  flush(): Promise<void> {
    return this.#later.now()
  }

  close(): Promise<void> {
    return this.#later.close()
  }

  #mayKeep({ config_id }: AppIds, category: Category, now: Date): boolean {
    const hour = Math.floor(now.getTime() / HOUR_MS)
    if (hour !== this.#hour) this.#kept.clear()
    this.#hour = hour
    const key = `${config_id} ${category}`
    const kept = this.#kept.get(key) ?? 0
    if (kept >= FAULTS_AN_HOUR) return false
    this.#kept.set(key, kept + 1)
    return true
  }

  async #write(): Promise<void> {
    const counts = this.#counts
    const faults = this.#faults
    if (counts.size === 0 && faults.length === 0) return
    this.#counts = new Map()
    this.#faults = []
    try {
      await this.#services.db.transaction(async (tx) => {
        await addCounts(tx, [...counts.values()])
        await insertFaults(tx, faults)
      })
    } catch (error) {
      for (const entry of counts.values()) add(this.#counts, entry)
      this.#faults = [...faults, ...this.#faults].slice(0, MAX_WAITING_FAULTS)
      throw error
    }
  }
}

function add(sums: Map<string, Counts>, counts: Counts): void {
  const { plugin_config_id, category, hour, job_id } = counts
  const key = `${plugin_config_id} ${category} ${hour} ${job_id}`
  const sum = sums.get(key)
  if (!sum) {
    sums.set(key, counts)
    return
  }
  sum.successes += counts.successes
  sum.successes_on_retry += counts.successes_on_retry
  sum.failures += counts.failures
}
