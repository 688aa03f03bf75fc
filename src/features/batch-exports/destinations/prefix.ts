// Names of exported files: a prefix with placeholders, rendered from the interval (batch-exports of PostHog name theirs
// the same way, so readers that know those find these).
import type { DataInterval } from '../definition.ts'
import { FILE_FORMATS, type Encoding } from '../formats/encoding.ts'
import { layout } from './described.ts'
import type { NamedRun } from './destination.ts'

const PLACEHOLDERS = [
  'year',
  'month',
  'day',
  'hour',
  'minute',
  'second',
  'data_interval_start',
  'data_interval_end',
  'table',
  'export_id',
]

export const PREFIX = layout(
  'Prefix',
  `What names of files begin with. Filled in are ${PLACEHOLDERS.map((name) => `{${name}}`).join(', ')}.`,
)

/** Unless told otherwise each export has a folder of its own. */
export const OWN_FOLDER = '{export_id}'

/** Object stores take names of 1024 bytes; the interval and its like take up to 200. */
const MAX_PREFIX_BYTES = 800

/** What is wrong with a prefix, or null. */
export function prefixFault(prefix: string): string | null {
  if (/[\p{Cc}\p{Cs}]/u.test(prefix)) return 'Control characters are not allowed.'
  if (Buffer.byteLength(prefix) > MAX_PREFIX_BYTES)
    return `The prefix is longer than ${MAX_PREFIX_BYTES} bytes.`
  if (prefix.split('/').includes('..') || prefix.split('/').includes('.'))
    return 'The prefix may not lead elsewhere: no `.` or `..`.'
  const rest = prefix.replaceAll(/\{([a-z_]+)\}/g, (whole, name: string) =>
    PLACEHOLDERS.includes(name) ? '' : whole,
  )
  if (/[{}]/.test(rest))
    return `Known placeholders are ${PLACEHOLDERS.map((name) => `{${name}}`).join(', ')}.`
  return null
}

/**
 * `<prefix>/<start>-<end>`, without what follows. A backfill of the same interval delivers other rows, and may be asked for
 * again: its files bear its id as well.
 */
export function renderName(prefix: string, run: NamedRun): string {
  const end = run.interval.end
  const two = (value: number) => String(value).padStart(2, '0')
  const values: Record<string, string> = {
    year: String(end.getUTCFullYear()),
    month: two(end.getUTCMonth() + 1),
    day: two(end.getUTCDate()),
    hour: two(end.getUTCHours()),
    minute: two(end.getUTCMinutes()),
    second: two(end.getUTCSeconds()),
    data_interval_start: startText(run.interval),
    data_interval_end: instantText(end),
    table: run.model,
    export_id: run.batch_export_id,
  }
  const folder = prefix
    .replaceAll(/\{([a-z_]+)\}/g, (whole, name: string) => values[name] ?? whole)
    .replace(/^\/+/, '')
  const interval = `${startText(run.interval)}-${instantText(end)}`
  const file = run.backfill_id === null ? interval : `${interval}_backfill-${run.backfill_id}`
  return folder === '' ? file : folder.endsWith('/') ? `${folder}${file}` : `${folder}/${file}`
}

/** `2023-07-19T00:00:00+00:00`, as PostHog writes it. */
function instantText(instant: Date): string {
  return `${instant.toISOString().slice(0, 19)}+00:00`
}

function startText({ start }: DataInterval): string {
  return start === null ? 'START' : instantText(start)
}

const EXTENSIONS = { JSONLines: 'jsonl', Parquet: 'parquet', CSV: 'csv', CopyText: 'txt' } as const
const COMPRESSED = { gzip: 'gz', brotli: 'br', zstd: 'zst', lz4: 'lz4', snappy: 'sz' } as const

/** Numbered when the run may have several files. */
export function fileName(name: string, index: number, { format, compression, max_bytes }: Encoding): string {
  const number = max_bytes === null ? '' : `-${index}`
  return `${name}${number}.${EXTENSIONS[format]}${compression === null ? '' : `.${COMPRESSED[compression]}`}`
}

/** Whether a run might have named a file so: by how the name ends. */
export function isExportedName(name: string): boolean {
  const formats = FILE_FORMATS.map((format) => EXTENSIONS[format]).join('|')
  const packed = Object.values(COMPRESSED).join('|')
  return new RegExp(String.raw`\.(${formats})(\.(${packed}))?$|_manifest\.json$`).test(name)
}

/** Stands under the fixed part of the prefix, where a policy that is limited to the prefix allows it. */
export function trialName(prefix: string): string {
  return `${prefix.replace(/\{.*$/, '').replace(/^\/+/, '')}.longshore-connection-test`
}

export function manifestName(name: string): string {
  return `${name}_manifest.json`
}
