// What can be wrong with HogQL, told with the place in the text.
import type { Span } from './ast.ts'

/** `syntax`: it does not parse. `query`: it parses, but names or asks for something that is not there. */
export class HogqlError extends Error {
  readonly kind: 'syntax' | 'query'
  /** Offsets into the text; null when the part at fault was not written by the user. */
  readonly start: number | null
  readonly end: number | null
  /** The nearest name that exists, where one that does not was written. */
  readonly did_you_mean: string | null

  constructor(kind: 'syntax' | 'query', message: string, span: Span = {}, didYouMean: string | null = null) {
    super(message)
    this.kind = kind
    this.start = span.start ?? null
    this.end = span.end ?? null
    this.did_you_mean = didYouMean
  }
}

export const syntaxError = (message: string, span?: Span) => new HogqlError('syntax', message, span)
export const queryError = (message: string, span?: Span) => new HogqlError('query', message, span)
