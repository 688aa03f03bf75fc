// Intl for apps, whose engine has none. Formats are made by V8 from options that were checked one by one. Each takes some
// 40 kB that no collector knows of, so a thread keeps a few, and an app can make only so many new ones.
import { isObject } from '../../../lib/json-object.ts'
import { FORMAT_KINDS, FORMAT_OPTIONS, type FormatKind } from '../intl-options.ts'
import { MAX_FORMATS, MAX_NEW_FORMATS_AT_FIRST, MAX_NEW_FORMATS_PER_S } from '../limits.ts'
import type { Operation } from './toolbox.ts'
import { readNumber, readText, readTexts, Refusal } from './untrusted.ts'

const MAX_LOCALES = 10
const MAX_NAME_LENGTH = 100
const MAX_DIGITS = 1_000
/** Never the server's own: an app must not depend on where it runs. */
const DEFAULT_LOCALE = 'en-US'
const DEFAULT_ZONE = 'UTC'

type Format = Intl.DateTimeFormat | Intl.NumberFormat | Intl.Collator
type Options = Record<string, string | number | boolean>

/** All of a thread. */
export class Formats {
  /** The one that was used last comes last. */
  readonly #made = new Map<string, Format>()

  /** For one app. */
  operations(): Record<string, Operation> {
    const allowance = new Allowance()
    const get = (kind: FormatKind, locales: unknown, options: unknown) =>
      this.#get(kind, readLocales(locales), readOptions(kind, options), allowance)
    return {
      resolveFormat: (kind, locales, options) => get(readKind(kind), locales, options).resolvedOptions(),
      formatDate: (locales, options, time) =>
        told(() => (get('date', locales, options) as Intl.DateTimeFormat).format(readNumber(time))),
      formatDateToParts: (locales, options, time) =>
        told(() => (get('date', locales, options) as Intl.DateTimeFormat).formatToParts(readNumber(time))),
      formatNumber: (locales, options, number) =>
        told(() => (get('number', locales, options) as Intl.NumberFormat).format(readFigure(number))),
      formatNumberToParts: (locales, options, number) =>
        told(() => (get('number', locales, options) as Intl.NumberFormat).formatToParts(readFigure(number))),
      compare: (locales, options, one, other) =>
        (get('collator', locales, options) as Intl.Collator).compare(readText(one), readText(other)),
      supportedLocales: (kind, locales) => told(() => supportedLocales(readKind(kind), locales)),
      upperCase: (locales, text) => told(() => readText(text).toLocaleUpperCase(orDefault(locales))),
      lowerCase: (locales, text) => told(() => readText(text).toLocaleLowerCase(orDefault(locales))),
    }
  }

  #get(kind: FormatKind, locales: string[], options: Options, allowance: Allowance): Format {
    const key = JSON.stringify([kind, locales, options])
    const known = this.#made.get(key)
    if (!known) allowance.take()
    const format = known ?? told(() => make(kind, locales, options))
    this.#made.delete(key)
    this.#made.set(key, format)
    if (this.#made.size > MAX_FORMATS) this.#made.delete(this.#made.keys().next().value!)
    return format
  }
}

/** So many at first, and so many a second. */
class Allowance {
  #left = MAX_NEW_FORMATS_AT_FIRST
  #at_ms = performance.now()

  take(): void {
    const now = performance.now()
    const more = ((now - this.#at_ms) / 1000) * MAX_NEW_FORMATS_PER_S
    this.#left = Math.min(MAX_NEW_FORMATS_AT_FIRST, this.#left + more)
    this.#at_ms = now
    if (this.#left < 1)
      throw new Refusal(
        `too many different formats: an app can make ${MAX_NEW_FORMATS_PER_S} new ones a second`,
      )
    this.#left--
  }
}

function make(kind: FormatKind, given: readonly string[], options: Options): Format {
  const locales = orDefault(given)
  if (kind === 'date') return new Intl.DateTimeFormat(locales, { timeZone: DEFAULT_ZONE, ...options })
  return kind === 'number' ? new Intl.NumberFormat(locales, options) : new Intl.Collator(locales, options)
}

/** A locale that is not known falls back to the last one. */
const orDefault = (locales: unknown) => [...readLocales(locales), DEFAULT_LOCALE]

function supportedLocales(kind: FormatKind, locales: unknown): string[] {
  const given = readLocales(locales)
  if (kind === 'date') return Intl.DateTimeFormat.supportedLocalesOf(given)
  return kind === 'number'
    ? Intl.NumberFormat.supportedLocalesOf(given)
    : Intl.Collator.supportedLocalesOf(given)
}

/** What V8 does not like about options is for the app to read. */
function told<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) throw new Refusal(error.message)
    throw error
  }
}

function readKind(value: unknown): FormatKind {
  const kind = FORMAT_KINDS.find((known) => known === value)
  if (kind === undefined) throw new Refusal('there is no such format')
  return kind
}

function readLocales(value: unknown): string[] {
  const locales = readTexts(value)
  if (locales.length > MAX_LOCALES) throw new Refusal(`at most ${MAX_LOCALES} locales are possible`)
  return locales.map((locale) => readText(locale, MAX_NAME_LENGTH))
}

function readOptions(kind: FormatKind, value: unknown): Options {
  if (!isObject(value)) throw new Refusal('options are an object')
  const options: Options = {}
  for (const name of FORMAT_OPTIONS[kind]) {
    const option = Object.hasOwn(value, name) ? value[name] : undefined
    if (option === undefined) continue
    options[name] = typeof option === 'boolean' ? option : readNumberOrName(option)
  }
  return options
}

function readNumberOrName(value: unknown): string | number {
  return typeof value === 'number' ? readNumber(value) : readText(value, MAX_NAME_LENGTH)
}

/** As text: JSON has neither large integers nor infinity. */
function readFigure(value: unknown): number | bigint {
  const text = readText(value, MAX_DIGITS)
  return /^-?\d{16,}$/.test(text) ? BigInt(text) : Number(text)
}
