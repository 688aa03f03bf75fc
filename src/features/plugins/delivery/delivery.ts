// The clockwork of destinations in one process: sees which configs want events, and how far their projects have come, and
// keeps their streams going.
import { setMaxListeners } from 'node:events'
import type { Services } from '../../../platform/services.ts'
import type { PluginLogs } from '../logs/plugin-logs.ts'
import type { PluginMetrics } from '../metrics/plugin-metrics.ts'
import type { Lease } from '../running/lease-queries.ts'
import type { Leases } from '../running/leases.ts'
import type { RunningApp, RunningApps } from '../running/running-app.ts'
import { withTimeout } from '../../../lib/with-timeout.ts'
import type { Tools } from './attempt.ts'
import { deliveryMethodsOf } from './methods.ts'
import type { StreamKey } from './queries.ts'
import { Slots } from './slots.ts'
import { Stream } from './stream.ts'

const TICK_MS = 500
/** What a killed process tried a moment before is not tried again sooner than the first wait has it. */
const FIRST_TICK_MS = 1_000
/** Streams that hold events in memory, a megabyte each. */
const AT_ONCE = 200
/** Streams of one organization. */
const SHARE = 50
/** Then a page makes room for the next who waits. */
const TURN_MS = 5_000
/** What is under way may finish; requests that do not are cut off, and nobody waits for apps. */
const CLOSING_MS = 4_000
const CUT_MS = 500

export class Delivery {
  readonly #tools: Tools
  readonly #streams = new Map<string, Stream>()
  readonly #slots = new Slots(AT_ONCE, SHARE)
  readonly #cut = new AbortController()
  #timer: NodeJS.Timeout | null = null
  #ticking: Promise<void> | null = null
  #is_closing = false

  constructor(
    services: Services,
    apps: RunningApps,
    logs: PluginLogs,
    metrics: PluginMetrics,
    leases: Leases,
    private readonly turn_ms = TURN_MS,
  ) {
    // Every request under way listens.
    setMaxListeners(0, this.#cut.signal)
    const is_closing = () => this.#is_closing
    this.#tools = { services, apps, logs, metrics, leases, is_closing, signal: this.#cut.signal }
  }

  start(): void {
    this.#timer = setTimeout(() => {
      this.#timer = setInterval(() => this.#tickNow(), TICK_MS)
    }, FIRST_TICK_MS)
  }

  /** Looks what there is to do and begins it. */
  async tick(): Promise<void> {
    const { apps, services, leases } = this.#tools
    await leases.keep()
    const wanted = new Map(
      apps.list().flatMap((app) => {
        const lease = leases.of(app.project_id)
        return lease ? streamsOf(app, lease) : []
      }),
    )
    const project_ids = [...new Set([...wanted.values()].map(({ project_id }) => project_id))]
    const positions = new Map(
      await Promise.all(
        project_ids.map(async (id) => [id, await services.eventStore.lastPosition(id)] as const),
      ),
    )
    if (this.#is_closing) return
    for (const [name, stream] of this.#streams) {
      // Under another lease it may stand elsewhere.
      if (wanted.get(name)?.lease !== stream.lease && !stream.is_busy) this.#streams.delete(name)
    }
    for (const [name, { lease, organization_id, ...key }] of wanted) {
      const stream = this.#stream(name, key, lease, organization_id)
      if (stream.lease === lease) stream.wake(positions.get(key.project_id)!)
    }
  }

  /** Whether something is under way for the project. */
  isBusy(project_id: number): boolean {
    return [...this.#streams.values()].some(
      ({ lease, is_busy }) => is_busy && lease.project_id === project_id,
    )
  }

  /** Until nothing is under way. */
  async idle(): Promise<void> {
    const busy = () => [...this.#streams.values()].filter((stream) => stream.is_busy)
    while (busy().length > 0) await Promise.all(busy().map((stream) => stream.settled()))
  }

  async close(): Promise<void> {
    this.#is_closing = true
    if (this.#timer) clearInterval(this.#timer)
    await this.#ticking?.catch(() => undefined)
    const cut = setTimeout(() => this.#cut.abort(new Error('the server stops')), CLOSING_MS)
    await withTimeout(this.idle(), CLOSING_MS + CUT_MS, () => undefined)
    clearTimeout(cut)
  }

  #stream(name: string, key: StreamKey, lease: Lease, organization_id: string): Stream {
    const slots = { slots: this.#slots, organization_id, turn_ms: this.turn_ms }
    const known = this.#streams.get(name) ?? new Stream(this.#tools, key, slots, lease)
    this.#streams.set(name, known)
    return known
  }

  #tickNow(): void {
    this.#ticking ??= this.tick()
      .catch((error: unknown) =>
        this.#tools.services.log.warn({ err: error }, 'plugins: a temporary fault in deliveries'),
      )
      .finally(() => (this.#ticking = null))
  }
}

function streamsOf(
  { config_id, project_id, organization_id, methods }: RunningApp,
  lease: Lease,
): [string, StreamKey & { lease: Lease; organization_id: string }][] {
  return deliveryMethodsOf(methods).map((method) => [
    `${config_id} ${method}`,
    { config_id, project_id, method, lease, organization_id },
  ])
}
