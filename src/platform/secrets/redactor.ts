// Takes known secrets out of texts before they are written where somebody reads them: logs, errors, results of tests. It
// looks for the values themselves, however they are escaped, in base64 or broken into lines, not for what looks like one.
import { plainBytes } from '../../lib/plain-bytes.ts'
import { Windows } from '../../lib/windows.ts'
import { secretParts } from './secret-parts.ts'

const MASK = '***'
/** Shorter ones are part of every other word. */
const MIN_LENGTH = 4
/** So much of a value, in a row, gives it away: a line of a key, or the start of a token. The largest that fits counts. */
const WINDOWS = [16, 12, 8, 7, 6, 5, MIN_LENGTH] as const
const WINDOW = WINDOWS[0]
/** All forms of all values together have at most this; the shortest values come first. */
const MAX_BYTES = 64 * 1024
const MAX_LITERAL = 20
const ESCAPE = /[%\\]/

export class Redactor {
  readonly #values: readonly string[]
  readonly #words: RegExp | null
  #windows: readonly Windows[] | null = null
  /** Values that are nothing but backslashes and the like: these are looked for as they are. */
  readonly #literal: string[] = []
  /** All forms as they are written: after a `%` or a backslash, the start of one is read as an escape. */
  readonly #written = new Set<string>()

  /**
   * `values` are texts and what holds texts, at any depth. Of 1 to 3 characters they are left alone, or, with
   * `short: 'words'`, replaced where they are a word of their own.
   */
  constructor(values: unknown, { short = 'left' }: { short?: 'left' | 'words' } = {}) {
    const parts = [...new Set(secretParts(values))]
    this.#values = parts.filter((value) => value.length >= MIN_LENGTH)
    const words = parts.filter((value) => value.length < MIN_LENGTH && value.trim() !== '')
    this.#words = short === 'words' && words.length > 0 ? wordsPattern(words) : null
  }

  /** Whether there is nothing to look for, which costs nothing. */
  get is_empty(): boolean {
    return this.#values.length === 0 && this.#words === null
  }

  /** `was_cut`: what came next may have been the rest of a secret, so the end is hidden as well. */
  clean(text: string, was_cut = false): string {
    if (this.is_empty) return text
    let clean = this.#withoutForms(text, was_cut)
    for (const value of this.#literal) clean = clean.replaceAll(value, MASK)
    if (ESCAPE.test(text)) for (const form of this.#written) clean = clean.replaceAll(form, MASK)
    return this.#words ? clean.replaceAll(this.#words, MASK) : clean
  }

  /** JSON, names of fields included. */
  cleanJson<T>(value: T): T {
    return this.is_empty ? value : (this.#cleanNode(value) as T)
  }

  /** For the server's own log: an error of the same class, with message, stack and code. */
  cleanError(error: unknown): unknown {
    if (!(error instanceof Error)) return typeof error === 'string' ? this.clean(error) : error
    const clean = Object.create(Object.getPrototypeOf(error) as object) as Error & { code?: unknown }
    clean.message = this.clean(error.message)
    clean.stack = this.clean(error.stack ?? '')
    if ('code' in error) clean.code = error.code
    return clean
  }

  #cleanNode(value: unknown): unknown {
    if (typeof value === 'string') return this.clean(value)
    if (typeof value === 'number') return this.clean(String(value)) === MASK ? MASK : value
    if (Array.isArray(value)) return value.map((item) => this.#cleanNode(item))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [this.clean(key), this.#cleanNode(item)]),
    )
  }

  #withoutForms(text: string, was_cut: boolean): string {
    this.#windows ??= this.#prepare()
    const { bytes, from, to } = plainBytes(text)
    const marks = new Uint8Array(bytes.length)
    for (const windows of this.#windows) windows.mark(bytes, marks)
    if (was_cut) marks.fill(1, Math.max(0, marks.length - WINDOW + 1))
    let clean = ''
    let end = 0
    for (let at = marks.indexOf(1); at >= 0; at = marks.indexOf(1, at)) {
      const first = at
      while (marks[at] === 1) at++
      clean += text.slice(end, from[first]!) + MASK
      end = to[at - 1]!
    }
    return clean + text.slice(end)
  }

  /** At the first text: most redactors never see one. */
  #prepare(): Windows[] {
    const bySize = new Map<number, Uint8Array[]>()
    let left = MAX_BYTES
    for (const value of this.#values.toSorted((one, other) => one.length - other.length)) {
      if (left <= 0) break
      const texts = textsOf(value.slice(0, left))
      const forms = formsOf(texts)
      for (const text of texts) if (text.length >= MIN_LENGTH) this.#written.add(text)
      if (forms[0]!.length < MIN_LENGTH && this.#literal.length < MAX_LITERAL) this.#literal.push(value)
      for (const form of forms.filter(({ length }) => length >= MIN_LENGTH)) {
        left -= form.length
        const size = WINDOWS.find((each) => each <= form.length)!
        const alike = bySize.get(size) ?? []
        alike.push(form)
        bySize.set(size, alike)
      }
    }
    return [...bySize].map(([size, forms]) => new Windows(size, forms))
  }
}

/** The value, as JSON and forms write it beyond what can be undone, in capitals as some databases do, and in base64. */
function textsOf(value: string): string[] {
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    value.replaceAll(' ', '+'),
    value.toUpperCase(),
    value.toLowerCase(),
    ...base64Forms(value),
  ]
}

function formsOf(texts: readonly string[]): Uint8Array[] {
  const forms = texts.map((text) => Buffer.from(plainBytes(text).bytes))
  return forms.filter((form, at) => forms.findIndex((other) => other.equals(form)) === at)
}

/** Wherever in a longer text it stood when that was encoded, as a password does in `user:password`. */
function base64Forms(text: string): string[] {
  const bytes = Buffer.from(text)
  return [0, 1, 2].map((before) => {
    const shifted = Buffer.concat([Buffer.alloc(before), bytes])
    // Characters at either end that carry bits of a neighbour are left out.
    return shifted.toString('base64').slice(Math.ceil((before * 4) / 3), Math.floor((shifted.length * 4) / 3))
  })
}

function wordsPattern(words: readonly string[]): RegExp {
  const literal = words
    .toSorted((one, other) => other.length - one.length)
    .map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`))
  return new RegExp(String.raw`(?<![\p{L}\p{N}_])(?:${literal.join('|')})(?![\p{L}\p{N}_])`, 'giu')
}
