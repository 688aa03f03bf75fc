// What can be wrong with HogQL, told with the place in the text.
import type { Span } from './ast.ts'

type Hints = {
  /** The nearest name that exists, where one that does not was written. */
  did_you_mean?: string | null
  /** What to do instead: a sentence of its own. */
  advice?: string | null
}

/** `syntax`: it does not parse. `query`: it parses, but names or asks for something that is not there. */
export class HogqlError extends Error {
  readonly kind: 'syntax' | 'query'
  /** Offsets into the text; null when the part at fault was not written by the user. */
  readonly start: number | null
  readonly end: number | null
  readonly did_you_mean: string | null
  readonly #fault: string
  readonly #advice: string | null

  constructor(
    kind: 'syntax' | 'query',
    fault: string,
    span: Span = {},
    { did_you_mean = null, advice = null }: Hints = {},
  ) {
    super(advice === null ? fault : `${fault}. ${advice}`)
    this.kind = kind
    this.start = span.start ?? null
    this.end = span.end ?? null
    this.did_you_mean = did_you_mean
    this.#fault = fault
    this.#advice = advice
  }

  /** The same with its place, as the API tells it. */
  get detail(): string {
    const place = this.start === null ? '' : ` (at character ${this.start + 1})`
    const advice = this.#advice === null ? '' : ` ${this.#advice}`
    return `${this.#fault.replace(/\.$/, '')}${place}.${advice}`
  }

  /** At this place, unless it has one already. */
  at(span: Span): HogqlError {
    if (this.start !== null) return this
    const { did_you_mean } = this
    return new HogqlError(this.kind, this.#fault, span, { did_you_mean, advice: this.#advice })
  }
}

export const syntaxError = (message: string, span?: Span) => new HogqlError('syntax', message, span)
export const queryError = (message: string, span?: Span, advice: string | null = null) =>
  new HogqlError('query', message, span, { advice })

/** What `work` finds at fault without knowing its place is at `span`. */
export function placedAt<T>(span: Span, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof HogqlError ? error.at(span) : error
  }
}
