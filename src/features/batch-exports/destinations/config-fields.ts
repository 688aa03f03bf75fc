// Building blocks of destination configurations. Their types survive being stored: a number comes back as a number.
import { isIP } from 'node:net'
import { z } from 'zod'
import { bool, int } from '../../../platform/http/fields.ts'
import { COMPRESSIONS, FILE_FORMATS, type Compression } from '../formats/encoding.ts'

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
export const eventFilter = { include_events: eventNames(), exclude_events: eventNames() }

/** Those that take files. */
export const fileOutput = {
  file_format: z.enum(FILE_FORMATS).default('JSONLines'),
  compression: z.enum(COMPRESSIONS).nullable().default(null),
  max_file_size_mb: int({ min: 1, max: 100_000 }).nullable().default(null),
}

const COMPRESSIONS_OF: Record<(typeof FILE_FORMATS)[number], readonly Compression[]> = {
  JSONLines: ['gzip', 'brotli'],
  Parquet: ['zstd', 'lz4', 'snappy', 'gzip', 'brotli'],
}

export function compressionFault(config: {
  file_format: (typeof FILE_FORMATS)[number]
  compression: Compression | null
}): { field: string; message: string } | null {
  const { file_format, compression } = config
  if (compression === null || COMPRESSIONS_OF[file_format].includes(compression)) return null
  const known = COMPRESSIONS_OF[file_format].join(', ')
  return { field: 'compression', message: `${file_format} can be compressed by ${known}.` }
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
  user: secret(),
  password: secret(),
  host: host(),
  database: identifier(),
  schema: identifier().default('public'),
  table_name: identifier().default('events'),
  has_self_signed_cert: flag(false),
}
