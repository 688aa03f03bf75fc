// The sandbox as the rest of the program gets it: tenants are spread over threads, and no thread is started before there
// is something to do. Two more threads are for those that nobody should have to wait behind: one for apps that have hit a
// limit a while ago, one for code that is only looked at or tried out. They get what the others leave of the processors.
import { readFile } from 'node:fs/promises'
import { withTimeout } from '../../lib/with-timeout.ts'
import type { Priority } from '../thread-priority.ts'
import { DEFAULT_LIMITS, type Limits } from './limits.ts'
import { monotonicMs, outOfTurn, restoreFault, type PlainOutcome, type Work } from './messages.ts'
import {
  AppFault,
  type EventOutcome,
  type FaultKind,
  type Host,
  type Offer,
  type Sandbox,
  type SandboxedApp,
} from './sandbox.ts'
import { ThreadLink } from './thread-link.ts'

type Links = { work: readonly ThreadLink[]; apart: ThreadLink; trial: ThreadLink }

export type SandboxOptions = { threads: number; geoip_database: string | null; limits?: Partial<Limits> }

// A thread that does its part answers by itself when the time is up, with what it has.
const ANSWER_GRACE_MS = 200
const APART_MS = 600_000
const HIT_A_LIMIT: ReadonlySet<FaultKind> = new Set(['cpu', 'memory', 'killed'])

export function openSandbox({ threads, geoip_database, limits }: SandboxOptions): Sandbox {
  const all_limits = { ...DEFAULT_LIMITS, ...limits }
  const places = new Map<number, ThreadLink>()
  /** The number of the thread that each tenant got when its first app was called: they take turns. */
  const turns = new Map<string, number>()
  /** Who is kept apart, until when. */
  const apart = new Map<number, number>()
  let opening: Promise<Links> | null = null
  let isClosed = false

  const setApart = (app_id: number, { kind }: { kind: FaultKind }) => {
    if (!HIT_A_LIMIT.has(kind)) return
    const now = monotonicMs()
    // Those that are never called again must not stay for ever.
    for (const [id, until] of apart) if (until <= now) apart.delete(id)
    apart.set(app_id, now + APART_MS)
  }
  const links = () => {
    if (isClosed) throw new AppFault('gone', 'the sandbox is closed')
    opening ??= readDatabase(geoip_database).then((database) => {
      const open = (priority: Priority) => new ThreadLink(all_limits, database, priority, setApart)
      return {
        work: Array.from({ length: threads }, () => open('work')),
        apart: open('background'),
        trial: open('background'),
      }
    })
    return opening
  }
  const turnOf = (tenant: string) => {
    const turn = turns.get(tenant) ?? turns.size % threads
    turns.set(tenant, turn)
    return turn
  }
  const linkOf = async (app: SandboxedApp) => {
    const all = await links()
    const isApart = (apart.get(app.id) ?? 0) > monotonicMs()
    const link = app.tenant === null ? all.trial : isApart ? all.apart : all.work[turnOf(app.tenant)]!
    const before = places.get(app.id)
    places.set(app.id, link)
    // What it has begun there may end there; nobody waits for that.
    if (before && before !== link) before.dispose(app.id).catch(() => undefined)
    return link
  }
  const work = async (app: SandboxedApp, host: Host, what: Work) => {
    try {
      return await (await linkOf(app)).work(app, host, what)
    } catch (error) {
      if (error instanceof AppFault) setApart(app.id, error)
      throw error
    }
  }

  return {
    async inspect(code, mappings = null) {
      return (await (await links()).trial.inspect(code, mappings)) as Offer
    },
    async prepare(app, host) {
      await work(app, host, { kind: 'prepare' })
    },
    async measure(app, host) {
      return (await work(app, host, { kind: 'measure' })) as number | null
    },
    async call(app, host, call) {
      return work(app, host, { kind: 'call', call })
    },
    async processEvents(app, host, events, within_ms) {
      const until = monotonicMs() + within_ms
      const link = await linkOf(app)
      const working = link.work(app, host, { kind: 'events', events, until }) as Promise<string>
      try {
        const text = await answerInTime(working, within_ms + ANSWER_GRACE_MS, () => link.isHeldUpBy(app.id))
        const outcomes = text === null ? null : (JSON.parse(text) as PlainOutcome[])
        for (const outcome of outcomes ?? []) if (outcome.kind === 'failed') setApart(app.id, outcome.fault)
        return outcomes?.map(restoreOutcome) ?? events.map(outOfTime)
      } catch (error) {
        if (!(error instanceof AppFault) || error.kind === 'load' || error.kind === 'setup') throw error
        setApart(app.id, error)
        return events.map(() => ({ kind: 'failed', fault: error }))
      }
    },
    async dispose(id) {
      const link = places.get(id)
      places.delete(id)
      await link?.dispose(id)
    },
    async close() {
      isClosed = true
      const started = await opening
      if (!started) return
      await Promise.all([...started.work, started.apart, started.trial].map((link) => link.close()))
    },
  }
}

/** Null when it took too long. While `isLate` holds, the watchdog is about to give the answer. */
async function answerInTime<T>(
  working: Promise<T>,
  limit_ms: number,
  isLate: () => boolean,
): Promise<T | null> {
  for (let wait_ms = limit_ms; ; wait_ms = ANSWER_GRACE_MS) {
    const answer = await withTimeout(working, wait_ms, (): typeof LATE => LATE)
    if (answer !== LATE) return answer
    if (!isLate()) return null
  }
}

const LATE = Symbol('late')

function restoreOutcome(outcome: PlainOutcome): EventOutcome {
  return outcome.kind === 'failed' ? { kind: 'failed', fault: restoreFault(outcome.fault) } : outcome
}

const outOfTime = (): EventOutcome => ({
  kind: 'failed',
  fault: outOfTurn(),
})

/** Shared by all threads. Without one, or with one that cannot be read, no address is known. */
async function readDatabase(path: string | null): Promise<SharedArrayBuffer | null> {
  if (path === null) return null
  try {
    const bytes = await readFile(path)
    const shared = new SharedArrayBuffer(bytes.length)
    new Uint8Array(shared).set(bytes)
    return shared
  } catch {
    return null
  }
}
