// Building blocks of destination configurations. Their types survive being stored: a number comes back as a number.
import { isIP } from 'node:net'
import { z } from 'zod'
import { bool, int } from '../../../platform/http/fields.ts'
import { connection, layout, rows, DATABASE, SCHEMA, TABLE, type Condition } from './described.ts'
import { COMPRESSIONS, FILE_FORMATS, type Compression, type FileFormat } from '../formats/encoding.ts'

const MAX_TEXT = 4096
const MAX_KEY = 16_384
const MAX_EVENT_NAMES = 1000

export const name = () => z.string().trim().min(1).max(MAX_TEXT)
export const optionalName = () =>
  z
    .string()
    .trim()
    .max(MAX_TEXT)
    .nullable()
    .default(null)
    .transform((text) => text || null)
/** Taken as sent: blanks and line breaks may be part of a key. */
export const secret = () => z.string().min(1).max(MAX_KEY)
const WORDS = new Map<unknown, boolean>([
  ['yes', true],
  ['no', false],
])
export const flag = (standard: boolean) =>
  z.preprocess((value) => WORDS.get(value) ?? value, bool()).default(standard)
export const port = (standard: number) => int({ min: 1, max: 65_535 }).default(standard)

/** What one identifier of PostgreSQL may hold: 63 bytes, case kept. */
export const identifier = () =>
  name().refine((text) => Buffer.byteLength(text) <= 63 && !text.includes('\0'), {
    error: 'This name is longer than 63 bytes.',
  })

const eventNames = () => z.array(z.string().max(MAX_TEXT)).max(MAX_EVENT_NAMES).nullable().default(null)

/** Every destination has these. */
export const eventFilter = {
  include_events: eventNames().meta(
    rows('Events to include', 'Names of events, exactly as they are sent. None: all events.'),
  ),
  exclude_events: eventNames().meta(
    rows(
      'Events to leave out',
      'Names of events, exactly as they are sent. They stay out also when they are included.',
    ),
  ),
}

/** Tables whose own columns for events are without persons; the others have them always. */
export const personColumns = {
  include_person_properties: flag(false).meta(
    rows('Person properties', 'Adds person_id and person_properties, as they were when the event came.'),
  ),
}

/** Those that take files. */
export const fileOutput = {
  file_format: z
    .enum(FILE_FORMATS)
    .default('JSONLines')
    .meta(layout('File format', 'Parquet is smallest and quickest to read; JSONLines keeps JSON nested.')),
  csv_header: flag(true).meta(
    layout('CSV header', 'Whether each file begins with the names of its columns.'),
  ),
  compression: z
    .enum(COMPRESSIONS)
    .nullable()
    .default(null)
    .meta(layout('Compression', 'Null: none. Parquet compresses inside the file.')),
  compression_level: int()
    .nullable()
    .default(null)
    .meta(layout('Compression level', 'Null: the usual one. A higher one takes longer and saves space.')),
  max_file_size_mb: int({ min: 1, max: 100_000 })
    .nullable()
    .default(null)
    .meta(
      layout(
        'Largest file, in MB',
        'Larger runs become several numbered files and a manifest. Null: one file per run.',
      ),
    ),
}

type Levels = { min: number; max: number }
/** Node compresses files of lines. */
const LINE_COMPRESSIONS = { gzip: { min: 1, max: 9 }, brotli: { min: 0, max: 11 } }
/** What each format can be compressed by, and at which levels; null where there is only one. */
const COMPRESSIONS_OF: Record<FileFormat, Partial<Record<Compression, Levels | null>>> = {
  JSONLines: LINE_COMPRESSIONS,
  CSV: LINE_COMPRESSIONS,
  // The event store compresses inside the file, and takes a level for zstd alone.
  Parquet: { zstd: { min: 1, max: 22 }, lz4: null, snappy: null, gzip: null, brotli: null },
}

export type FileOutput = { [Key in keyof typeof fileOutput]: z.output<(typeof fileOutput)[Key]> }

/** What each format can be compressed by, for people to choose from. */
export const FORMATS = FILE_FORMATS.map((name) => ({
  name,
  compressions: Object.entries(COMPRESSIONS_OF[name]).map(([compression, levels]) => ({
    name: compression,
    levels,
  })),
}))

/** What `fileOutputFault` refuses, as conditions. */
export const FILE_CONDITIONS: readonly Condition[] = [
  ...FORMATS.flatMap(({ name, compressions }): Condition[] => [
    {
      when: { file_format: [name] },
      holds: {
        compression: { enum: [null, ...compressions.map((each) => each.name)] },
        ...(name === 'CSV' ? {} : { csv_header: { const: true } }),
      },
    },
    ...compressions.map((each) => ({
      when: { file_format: [name], compression: [each.name] },
      holds: {
        compression_level: each.levels
          ? { minimum: each.levels.min, maximum: each.levels.max }
          : { const: null },
      },
    })),
  ]),
  { when: { compression: [null] }, holds: { compression_level: { const: null } } },
]

/** What is wrong with how files are to be written, or null. */
export function fileOutputFault(config: FileOutput): { field: string; message: string } | null {
  const { file_format, csv_header, compression } = config
  if (!csv_header && file_format !== 'CSV') {
    const message = 'Only CSV files have a header: set csv_header to true, or file_format to CSV.'
    return { field: 'csv_header', message }
  }
  const known = COMPRESSIONS_OF[file_format]
  if (compression !== null && !(compression in known)) {
    const names = Object.keys(known).join(', ')
    return { field: 'compression', message: `${file_format} can be compressed by ${names}.` }
  }
  const message = levelFault(config)
  return message === null ? null : { field: 'compression_level', message }
}

function levelFault({ file_format, compression, compression_level }: FileOutput): string | null {
  if (compression_level === null) return null
  if (compression === null) {
    return 'Files that are not compressed have no level: set compression_level to null, or choose a compression.'
  }
  const levels = COMPRESSIONS_OF[file_format][compression]
  const what = `${file_format} by ${compression}`
  if (!levels) return `${what} has only one level: set compression_level to null, or compression to zstd.`
  const { min, max } = levels
  if (compression_level >= min && compression_level <= max) return null
  return `${what} has the levels ${min} to ${max}.`
}

/** Keys of later PostHog clients that mean nothing here: dropped, never stored. */
export const IGNORED_KEYS: ReadonlySet<string> = new Set([
  'batch_export_id',
  'team_id',
  'interval',
  'timezone',
  'data_interval_end',
  'is_backfill',
  'is_earliest_backfill',
  'backfill_details',
  'batch_export_model',
  'batch_export_schema',
  'integration_id',
])

/** A bare host name or address: no scheme, credentials, port or path. */
export const host = () =>
  name().refine((text) => isIP(text) !== 0 || !/[\s/@?#\\]|:\d+$/.test(text), {
    error: 'This must be a bare host name or address.',
  })

export const httpUrl = () =>
  name().refine(isPlainHttpUrl, { error: 'This must be an http or https address without credentials.' })

export function isPlainHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  return ['http:', 'https:'].includes(url.protocol) && url.username === '' && url.password === ''
}

/** Those that speak PostgreSQL's protocol. */
export const sqlTable = {
  host: host().meta(connection('Host', 'A host name or an address, without scheme and port.')),
  database: identifier().meta(DATABASE),
  user: secret().meta(connection('User', 'May create tables in the schema, and write to them.')),
  password: secret().meta(connection('Password', 'Of the user.')),
  schema: identifier().default('public').meta(SCHEMA),
  table_name: identifier().default('events').meta(TABLE),
  has_self_signed_cert: flag(false).meta(
    connection(
      'Self-signed certificate',
      'Accepts any certificate of the server. Connections are encrypted either way.',
    ),
  ),
}
