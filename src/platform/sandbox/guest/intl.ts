// Intl, and the methods that stand on it, which the engine has not or gets wrong: it knows neither locales nor time zones.
// The host formats. What is missing says so: nothing here answers as if an option had not been given.
import { FORMAT_OPTIONS, type FormatKind } from '../intl-options.ts'
import { ask } from './host.ts'

type Options = Record<string, string | number | boolean>

/** A format as the host knows it. */
type Recipe = { locales: string[]; options: Options }

class DateTimeFormat {
  static supportedLocalesOf = (locales: unknown) => supportedLocales('date', locales)
  readonly #recipe: Recipe
  readonly #resolved: object

  constructor(locales?: unknown, options?: unknown) {
    this.#recipe = readRecipe('date', locales, options)
    this.#resolved = resolve('date', this.#recipe)
  }
  /** Bound to its format, as in `dates.map(format.format)`. */
  get format(): (date?: unknown) => string {
    return (date) => formatDate(this.#recipe, readTime(date))
  }
  formatToParts(date?: unknown): object[] {
    const { locales, options } = this.#recipe
    return askIntl('formatDateToParts', locales, options, readTime(date)) as object[]
  }
  resolvedOptions(): object {
    return { ...this.#resolved }
  }
}

class NumberFormat {
  static supportedLocalesOf = (locales: unknown) => supportedLocales('number', locales)
  readonly #recipe: Recipe
  readonly #resolved: object

  constructor(locales?: unknown, options?: unknown) {
    this.#recipe = readRecipe('number', locales, options)
    this.#resolved = resolve('number', this.#recipe)
  }
  get format(): (number: unknown) => string {
    return (number) => formatNumber(this.#recipe, number)
  }
  formatToParts(number: unknown): object[] {
    const { locales, options } = this.#recipe
    return askIntl('formatNumberToParts', locales, options, figureText(number)) as object[]
  }
  resolvedOptions(): object {
    return { ...this.#resolved }
  }
}

function resolve(kind: FormatKind, { locales, options }: Recipe): object {
  return askIntl('resolveFormat', kind, locales, options) as object
}

function formatDate({ locales, options }: Recipe, time: number): string {
  return askIntl('formatDate', locales, options, time) as string
}

function formatNumber({ locales, options }: Recipe, number: unknown): string {
  return askIntl('formatNumber', locales, options, figureText(number)) as string
}

function supportedLocales(kind: FormatKind, locales: unknown): string[] {
  return askIntl('supportedLocales', kind, readLocales(locales)) as string[]
}

/** What the host refuses is about a locale, an option or a value. */
function askIntl(operation: string, ...args: unknown[]): unknown {
  try {
    return ask(operation, ...args)
  } catch (error) {
    throw new RangeError((error as Error).message)
  }
}

function readRecipe(kind: FormatKind, locales: unknown, options: unknown): Recipe {
  return { locales: readLocales(locales), options: readOptions(kind, options) }
}

function readLocales(locales: unknown): string[] {
  if (locales === undefined) return []
  return Array.isArray(locales) ? locales.map(asText) : [asText(locales)]
}

function readOptions(kind: FormatKind, given: unknown = {}): Options {
  if (given === null) throw new TypeError('options are an object')
  const options: Options = {}
  for (const name of FORMAT_OPTIONS[kind]) {
    const value = (given as Record<string, unknown>)[name]
    if (value === undefined) continue
    options[name] = typeof value === 'boolean' || isFiniteNumber(value) ? value : asText(value)
  }
  return options
}

/** The standard turns any value into a text. */
const asText = (value: unknown) => String(value as string)

const isFiniteNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value)

function readTime(date: unknown): number {
  const time = date === undefined ? Date.now() : Number(date)
  if (!Number.isFinite(time)) throw new RangeError('Invalid time value')
  return time
}

function figureText(number: unknown): string {
  return typeof number === 'bigint' ? String(number) : Object.is(number, -0) ? '-0' : String(Number(number))
}

const DATE_PARTS = ['weekday', 'year', 'month', 'day']
const TIME_PARTS = ['dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits']
const DATE_DEFAULTS = { year: 'numeric', month: 'numeric', day: 'numeric' }
const TIME_DEFAULTS = { hour: 'numeric', minute: 'numeric', second: 'numeric' }

type Wanted = 'both' | 'date' | 'time'

/** A date written without any of its parts being asked for has the usual ones. */
function withDefaults(options: Options, wanted: Wanted): Options {
  const other = wanted === 'date' ? 'timeStyle' : 'dateStyle'
  if (wanted !== 'both' && options[other] !== undefined)
    throw new TypeError(`${other} cannot be used here: use toLocaleString`)
  const parts = [...(wanted === 'time' ? [] : DATE_PARTS), ...(wanted === 'date' ? [] : TIME_PARTS)]
  if ([...parts, 'dateStyle', 'timeStyle'].some((name) => options[name] !== undefined)) return options
  return {
    ...options,
    ...(wanted === 'time' ? {} : DATE_DEFAULTS),
    ...(wanted === 'date' ? {} : TIME_DEFAULTS),
  }
}

function dateMethod(wanted: Wanted) {
  return function (this: Date, locales?: unknown, options?: unknown): string {
    const time = Date.prototype.getTime.call(this)
    if (Number.isNaN(time)) return 'Invalid Date'
    const recipe = readRecipe('date', locales, options)
    return formatDate({ ...recipe, options: withDefaults(recipe.options, wanted) }, time)
  }
}

function numberMethod(this: unknown, locales?: unknown, options?: unknown): string {
  const value = (this as { valueOf(): unknown }).valueOf()
  return formatNumber(readRecipe('number', locales, options), value)
}

function listMethod(this: ArrayLike<unknown>, locales?: unknown, options?: unknown): string {
  const write = (item: unknown) =>
    (item as Date | null | undefined)?.toLocaleString(locales as string, options as object)
  return Array.from(this, (item) => String(write(item) ?? '')).join(',')
}

function localeCompare(this: unknown, other: unknown, locales?: unknown, options?: unknown): number {
  const recipe = readRecipe('collator', locales, options)
  return askIntl('compare', recipe.locales, recipe.options, String(this), String(other)) as number
}

function caseMethod(operation: 'upperCase' | 'lowerCase', inherited: () => string) {
  return function (this: unknown, locales?: unknown): string {
    if (locales === undefined) return inherited.call(this)
    return askIntl(operation, readLocales(locales), String(this)) as string
  }
}

/** Standard classes that may be called without `new`. */
function callable(made: typeof DateTimeFormat | typeof NumberFormat): unknown {
  function construct(locales?: unknown, options?: unknown) {
    return new made(locales, options)
  }
  construct.supportedLocalesOf = made.supportedLocalesOf
  Object.defineProperty(construct, 'name', { value: made.name })
  construct.prototype = made.prototype
  made.prototype.constructor = construct
  for (const name of ['formatRange', 'formatRangeToParts']) {
    define(made.prototype, name, missing(`Intl.${made.name}.prototype.${name}`))
  }
  return construct
}

const MISSING = [
  'Collator',
  'DisplayNames',
  'DurationFormat',
  'ListFormat',
  'Locale',
  'PluralRules',
  'RelativeTimeFormat',
  'Segmenter',
  'getCanonicalLocales',
  'supportedValuesOf',
]

function missing(name: string): () => never {
  return function () {
    throw new Error(`${name} is not available to apps. Intl.DateTimeFormat and Intl.NumberFormat are.`)
  }
}

function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, writable: true, configurable: true })
}

export function installIntl(): void {
  const intl = Object.create(Object.prototype, {
    [Symbol.toStringTag]: { value: 'Intl', configurable: true },
  })
  define(intl, 'DateTimeFormat', callable(DateTimeFormat))
  define(intl, 'NumberFormat', callable(NumberFormat))
  for (const name of MISSING) define(intl, name, missing(`Intl.${name}`))
  define(globalThis, 'Intl', intl)
  define(Date.prototype, 'toLocaleString', dateMethod('both'))
  define(Date.prototype, 'toLocaleDateString', dateMethod('date'))
  define(Date.prototype, 'toLocaleTimeString', dateMethod('time'))
  define(Number.prototype, 'toLocaleString', numberMethod)
  define(BigInt.prototype, 'toLocaleString', numberMethod)
  define(Array.prototype, 'toLocaleString', listMethod)
  define(Object.getPrototypeOf(Uint8Array.prototype) as object, 'toLocaleString', listMethod)
  const { toUpperCase, toLowerCase } = String.prototype
  define(String.prototype, 'localeCompare', localeCompare)
  define(String.prototype, 'toLocaleUpperCase', caseMethod('upperCase', toUpperCase))
  define(String.prototype, 'toLocaleLowerCase', caseMethod('lowerCase', toLowerCase))
}
