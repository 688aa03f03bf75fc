// What the addresses of these pages say besides their paths. What makes no sense is left out.

export const LOG_TYPES = ['DEBUG', 'LOG', 'INFO', 'WARN', 'ERROR'] as const
export type LogType = (typeof LOG_TYPES)[number]
export const RANGES = { '24h': 'Last 24 hours', '7d': 'Last 7 days', '30d': 'Last 30 days' } as const
export type Range = keyof typeof RANGES

export type ListSearch = { q?: string }
export type AppSearch = {
  /** Code: the open file, and the place in it that is shown. */
  file?: string
  at?: string
  /** Logs: only these, with this text. */
  types?: readonly LogType[]
  q?: string
  /** Logs: the line that is open. */
  line?: number
  /** Metrics: which calls, since when, and the error whose occurrences are open. */
  calls?: string
  range?: Range
  error?: string
}

type Given = Record<string, unknown>

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
/** Addresses make a number of what looks like one. */
const words = (value: unknown): string | undefined =>
  typeof value === 'number' ? String(value) : text(value)
const present = <Values extends object>(values: Values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Values]?: Exclude<Values[Name], undefined>
  }

export const readListSearch = ({ q }: Given): ListSearch => present({ q: words(q) })

export function readAppSearch({ file, at, types, q, line, calls, range, error }: Given): AppSearch {
  const known = Array.isArray(types) ? LOG_TYPES.filter((type) => (types as unknown[]).includes(type)) : []
  const number = Number(line)
  return present({
    file: text(file),
    at: /^\d{1,7}:\d{1,7}$/.test(String(at)) ? String(at) : undefined,
    types: known.length > 0 ? known : undefined,
    q: words(q),
    line: Number.isSafeInteger(number) && number > 0 ? number : undefined,
    calls: text(calls),
    range: typeof range === 'string' && Object.hasOwn(RANGES, range) ? (range as Range) : undefined,
    error: text(error),
  })
}
