// Limits on guessing, by the caller's address and network and across all accounts: a route names what can be guessed in
// `guesses`, and dispatch.ts enforces the limits. Limits per account are in the slice that owns the account.
import { originOf } from '../../lib/network.ts'
import type { Db } from '../db/database.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { throttled } from './errors.ts'
import type { Rate } from './throttle.ts'
import { giveTryBack, NoTriesLeft, takeTry, type Budget } from './tries.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const WRONG_ONES: readonly Rate[] = [
  { count: 40, window_ms: 10 * MINUTE_MS },
  { count: 200, window_ms: DAY_MS },
]

/** Limits per address. Passwords, codes, links and keys count only when wrong; the other kinds always count. */
const RATES = {
  password: WRONG_ONES,
  code: WRONG_ONES,
  /** The secret of a link: an invite, a reset, a verification. */
  link: WRONG_ONES,
  key: [
    { count: 60, window_ms: 10 * MINUTE_MS },
    { count: 600, window_ms: DAY_MS },
  ],
  /** Asking for a mail to an address or user: the answer tells nothing, but the mail goes out. */
  mail: [
    { count: 20, window_ms: HOUR_MS },
    { count: 60, window_ms: DAY_MS },
  ],
  /** Setting out for an identity provider, and coming back: two or three for each sign-in. A whole office may come at nine. */
  'sign-on': [
    { count: 600, window_ms: 10 * MINUTE_MS },
    { count: 6000, window_ms: DAY_MS },
  ],
  /** A new account: the answer tells which addresses have one. */
  'sign-up': [{ count: 5, window_ms: DAY_MS }],
} satisfies Record<string, readonly Rate[]>

export type GuessKind = keyof typeof RATES

const ALWAYS_COUNTED: readonly GuessKind[] = ['mail', 'sign-on', 'sign-up']
/** A network may hold a whole office, or one customer with many addresses. */
const ADDRESSES_IN_NETWORK = 5
const MAX_REMEMBERED = 10_000

export class Guesses {
  /** Places known to have no tries left, and until when: a flood from there costs no statement. */
  readonly #closed = new Map<string, Date>()

  constructor(
    private readonly db: Db,
    private readonly secrets: Secrets,
    private readonly is_on: boolean,
  ) {}

  /** Takes a try before `attempt`, and gives it back when the result is right. Throws 429 when no try is left. */
  async during<T>(
    guess: { kind: GuessKind; ip: string; now: Date },
    attempt: () => Promise<T>,
    isRight: (result: T) => boolean,
  ): Promise<T> {
    await this.take(guess)
    const result = await attempt()
    if (isRight(result) && !ALWAYS_COUNTED.includes(guess.kind)) await this.#giveBack(guess)
    return result
  }

  /** For what is known to be wrong: right API keys are never counted, and never limited by wrong ones. */
  async take({ kind, ip, now }: { kind: GuessKind; ip: string; now: Date }): Promise<void> {
    if (!this.is_on) return
    const budgets = this.#budgetsOf(kind, ip)
    this.#assertOpen(budgets, now)
    try {
      await takeTry(this.db, budgets, now)
    } catch (error) {
      if (!(error instanceof NoTriesLeft)) throw error
      this.#remember(error)
      throw throttled(error.waitMs(now))
    }
  }

  async #giveBack({ kind, ip, now }: { kind: GuessKind; ip: string; now: Date }): Promise<void> {
    if (!this.is_on) return
    const whos = this.#budgetsOf(kind, ip).map(({ who }) => who)
    await giveTryBack(this.db, whos, now)
    for (const who of whos) this.#closed.delete(who)
  }

  #budgetsOf(kind: GuessKind, ip: string): Budget[] {
    const { address, network } = originOf(ip)
    const who = (place: string) => this.secrets.fingerprint('guesses', kind, place)
    const ofNetwork = RATES[kind].map((rate) => ({ ...rate, count: rate.count * ADDRESSES_IN_NETWORK }))
    return [
      { who: who(address), rates: RATES[kind] },
      { who: who(network), rates: ofNetwork },
    ]
  }

  #assertOpen(budgets: readonly Budget[], now: Date): void {
    const ends = budgets.flatMap(({ who }) => this.#closed.get(who) ?? []).map((end) => end.getTime())
    const wait_ms = Math.max(0, ...ends) - now.getTime()
    if (wait_ms > 0) throw throttled(wait_ms)
  }

  /** Only a shortcut, so it may be dropped whole. */
  #remember({ windows }: NoTriesLeft): void {
    if (this.#closed.size >= MAX_REMEMBERED) this.#closed.clear()
    for (const { who, ends_at } of windows) {
      const known = this.#closed.get(who)
      if (!known || known < ends_at) this.#closed.set(who, ends_at)
    }
  }
}
