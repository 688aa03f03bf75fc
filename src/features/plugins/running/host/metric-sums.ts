// The figures that apps count by `meta.metrics`: gathered by the minute, and stored as one event of the project.
import type { MetricKind } from '../../../../platform/sandbox/sandbox.ts'
import type { Captures } from './captures.ts'
import type { RunningApp } from '../running-app.ts'

const MINUTE_MS = 60_000
const MAX_NAMES = 100

type Sender = Parameters<Captures['capture']>[0]
type Minute = { app: Sender; minute: number; values: Map<string, number> }

export class MetricSums {
  readonly #minutes = new Map<number, Minute>()
  readonly #now: () => Date

  constructor(now: () => Date) {
    this.#now = now
  }

  add(app: RunningApp | Sender, name: string, kind: MetricKind, value: number): void {
    if (!Number.isFinite(value)) return
    const known = this.#minutes.get(app.config_id)
    const entry = known ?? { app, minute: minuteOf(this.#now()), values: new Map<string, number>() }
    this.#minutes.set(app.config_id, entry)
    const before = entry.values.get(name)
    if (before === undefined && entry.values.size === MAX_NAMES) return
    entry.values.set(name, before === undefined ? value : JOIN[kind](before, value))
  }

  /** The minutes that are over, or all. They are not given again. */
  take(which: 'ended' | 'all'): { app: Sender; values: Record<string, number> }[] {
    const current = minuteOf(this.#now())
    const due = [...this.#minutes.values()].filter(({ minute }) => which === 'all' || minute < current)
    for (const { app } of due) this.#minutes.delete(app.config_id)
    return due.map(({ app, values }) => ({ app, values: Object.fromEntries(values) }))
  }
}

const JOIN: Record<MetricKind, (a: number, b: number) => number> = {
  sum: (a, b) => a + b,
  max: Math.max,
  min: Math.min,
}

function minuteOf(now: Date): number {
  return Math.floor(now.getTime() / MINUTE_MS)
}
