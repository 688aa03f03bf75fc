// How rows of a table are hashed, here and in the statements of every warehouse (digest-sql.ts), so that the figures can
// be compared.
import { hash as hashOf } from 'node:crypto'
import type { OutputColumn } from '../../definition.ts'
import type { Digest } from '../destination.ts'

/** After each value; no text that we export holds it. */
export const SEPARATOR_CODE = 31
/** Before a value, and in place of one that is null: so no two different rows are spelled alike. */
export const PRESENT = '='
export const ABSENT = '-'

/**
 * Characters at the end of the uuid that name its bucket: 4,096 buckets. The first ones will not do: in a uuid of version
 * 7 they are a clock's, and the same for two years.
 */
export const BUCKET_LENGTH = 3

/**
 * Begins the names of buckets of rows that say no project, where rows of one project are asked for. Longer than the name of
 * a bucket, so it cannot be one.
 */
export const UNOWNED = 'unowned '

const SEPARATOR = String.fromCharCode(SEPARATOR_CODE)

/** Sums count modulo this: numbers stay exact however many rows there are, also when those of all buckets are added up. */
const SUM_MODULUS = 2 ** 40

/** Null for rows without a uuid, which are one bucket. */
export function bucketOf(uuid: string | null): string {
  return (uuid ?? '').slice(-BUCKET_LENGTH).toLowerCase()
}

/** `=value␟-␟=value␟`: what is hashed of a row. */
export function rowText(values: readonly (string | null)[]): string {
  let text = ''
  for (const value of values) text += value === null ? ABSENT + SEPARATOR : PRESENT + value + SEPARATOR
  return text
}

/** What one row adds to the sums of its bucket. */
export function rowSums(values: readonly (string | null)[]): readonly [number, number] {
  const hash = hashOf('md5', rowText(values), 'hex')
  return [Number.parseInt(hash.slice(0, 8), 16), Number.parseInt(hash.slice(8, 16), 16)]
}

export function addRow(
  digests: Map<string, Digest>,
  bucket: string,
  values: readonly (string | null)[],
): void {
  const { rows, sums } = digests.get(bucket) ?? { rows: 0, sums: [0, 0] as const }
  const [first, second] = rowSums(values)
  digests.set(bucket, {
    rows: rows + 1,
    sums: [(sums[0] + first) % SUM_MODULUS, (sums[1] + second) % SUM_MODULUS],
  })
}

/** A warehouse's figures, which come as decimal texts because they may be larger than numbers can hold. */
export function digestOf(rows: string, first_sum: string, second_sum: string): Digest {
  return { rows: Number(rows), sums: [wrapped(first_sum), wrapped(second_sum)] }
}

function wrapped(sum: string): number {
  return Number(BigInt(sum) % BigInt(SUM_MODULUS))
}

/** The same columns for reading rows out of the store to compare them: JSON lines would round integers beyond 2^53. */
export function exactColumns(columns: readonly OutputColumn[]): OutputColumn[] {
  return columns.map((column) => (column.kind === 'integer' ? { ...column, kind: 'text' } : column))
}
