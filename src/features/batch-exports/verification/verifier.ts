// The clockwork of verification in one process: one at a time, behind everything else. A verification that is interrupted,
// by the end of its process or of its lease, begins anew with whoever takes it over.
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import type { Services } from '../../../platform/services.ts'
import { attemptVerification, Stopped } from './attempt.ts'
import { Findings } from './findings.ts'
import { givingWay } from './giving-way.ts'
import { claimVerification, keepLease, reapVerifications, type Lease } from './queries.ts'
import type { PlaceReader } from './reader/destination-reader.ts'
import { ThreadReader } from './reader/thread-reader.ts'
import type { VerificationRow } from './rows.ts'

const TICK_MS = 2_000
const BEAT_MS = 3_000
const FOREVER = new Date(8.64e15)
/** How long a destination may take to answer, and to send the next part of a file. */
const PATIENCE = { answer_ms: 10 * 60_000, stall_ms: 60_000 }

export type VerifierOptions = {
  /** Works on these alone, as the command line does. */
  only?: readonly string[]
  openReader?(): PlaceReader
}

type Active = { lease: Lease; findings: Findings; controller: AbortController; done: Promise<void> }

export class Verifier {
  readonly #services: Services
  readonly #options: VerifierOptions
  readonly #owner = randomUUID()
  readonly #giveWay: ReturnType<typeof givingWay>
  readonly #ended: Record<string, number> = {}
  #reader: PlaceReader | null = null
  #active: Active | null = null
  #timers: NodeJS.Timeout[] = []
  #ticking: Promise<void> | null = null
  #is_closing = false

  constructor(services: Services, options: VerifierOptions = {}) {
    this.#services = services
    this.#options = options
    this.#giveWay = givingWay(services)
  }

  /** `takes_over`: nobody else can be reading these events, so what is leased belongs to a dead process. */
  async start({ takes_over }: { takes_over: boolean }): Promise<void> {
    const { db, settings } = this.#services
    if (takes_over) {
      await reapVerifications(db, FOREVER)
      await rm(settings.scratch_folder, { recursive: true, force: true })
    }
    this.#timers = [
      setInterval(() => this.#tickNow(), TICK_MS),
      setInterval(() => this.#quietly(this.beat()), BEAT_MS),
    ]
    this.#tickNow()
  }

  /** Begins the next one, unless one is at work. */
  async tick(): Promise<void> {
    if (this.#active || this.#is_closing) return
    const { db, now } = this.#services
    await reapVerifications(db, now())
    const row = await claimVerification(db, this.#owner, now(), this.#options.only ?? null)
    if (row) this.#begin(row)
    // The thread, and what it has loaded, is needed no more.
    else await this.#closeReader()
  }

  /** Keeps the lease, and tells how far it has come; work on one that was lost stops. */
  async beat(): Promise<void> {
    if (!this.#active) return
    const active = this.#active
    const { lease, findings, controller } = active
    const isKept = await keepLease(this.#services.db, lease, findings.read, this.#services.now())
    // One that has ended meanwhile has no lease either, and the reader is the next one's by now.
    if (!isKept && this.#active === active) controller.abort(new Stopped('lost'))
  }

  /** Until nothing is at work. */
  async idle(): Promise<void> {
    await this.#active?.done
  }

  /** Those that this process has brought to an end, by verdict. */
  countEnded(): Record<string, number> {
    return { ...this.#ended }
  }

  /** What is under way is given back, for whoever comes next. */
  async close(): Promise<void> {
    this.#is_closing = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#ticking?.catch(() => undefined)
    this.#active?.controller.abort(new Stopped('closing'))
    await this.idle()
    await this.#closeReader()
  }

  #begin(verification: VerificationRow): void {
    const lease = { id: verification.id, owner: this.#owner, attempt: verification.attempt }
    const findings = new Findings()
    const controller = new AbortController()
    const { signal } = controller
    const reader = (this.#reader ??= this.#openReader())
    // A call that is under way ends with the thread.
    signal.addEventListener('abort', () => void this.#closeReader())
    const work = attemptVerification({
      services: this.#services,
      verification,
      lease,
      reader,
      findings,
      signal,
      giveWay: this.#giveWay,
    })
    const done = work.then((result) => {
      this.#active = null
      if (result) {
        const verdict = result.verdict ?? 'failed'
        this.#ended[verdict] = (this.#ended[verdict] ?? 0) + 1
      }
      if (this.#timers.length > 0 && !this.#is_closing) this.#tickNow()
    })
    this.#active = { lease, findings, controller, done }
  }

  #openReader(): PlaceReader {
    if (this.#options.openReader) return this.#options.openReader()
    const { export_folder, allow_plaintext, outbound_allow } = this.#services.settings
    return new ThreadReader({ settings: { export_folder, allow_plaintext }, outbound_allow, ...PATIENCE })
  }

  async #closeReader(): Promise<void> {
    const reader = this.#reader
    this.#reader = null
    await reader?.close()
  }

  #tickNow(): void {
    this.#quietly((this.#ticking ??= this.tick().finally(() => (this.#ticking = null))))
  }

  #quietly(work: Promise<void>): void {
    work.catch((error: unknown) => this.#services.log.warn({ err: error }, 'verification: a temporary fault'))
  }
}
