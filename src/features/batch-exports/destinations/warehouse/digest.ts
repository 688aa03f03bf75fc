// How rows of a table are hashed, here and in the statements of every warehouse, so that the figures can be compared.
import { createHash } from 'node:crypto'
import type { Digest } from '../destination.ts'

/** After each value; no text that we export holds it. */
export const SEPARATOR_CODE = 31
/** Before a value, and in place of one that is null: so no two different rows are spelled alike. */
export const PRESENT = '='
export const ABSENT = '-'

/** Characters of the uuid that name a bucket: 4,096 buckets. */
export const BUCKET_LENGTH = 3

const SEPARATOR = String.fromCharCode(SEPARATOR_CODE)

/** `=value␟-␟=value␟`: what is hashed of a row. */
export function rowText(values: readonly (string | null)[]): string {
  return values.map((value) => (value === null ? ABSENT : `${PRESENT}${value}`) + SEPARATOR).join('')
}

/** What one row adds to the sums of its bucket. */
export function rowSums(values: readonly (string | null)[]): readonly [number, number] {
  const hash = createHash('md5').update(rowText(values)).digest()
  return [hash.readUInt32BE(0), hash.readUInt32BE(4)]
}

export function addRow(
  digests: Map<string, Digest>,
  bucket: string,
  values: readonly (string | null)[],
): void {
  const { rows, sums } = digests.get(bucket) ?? { rows: 0, sums: [0, 0] as const }
  const [first, second] = rowSums(values)
  digests.set(bucket, { rows: rows + 1, sums: [sums[0] + first, sums[1] + second] })
}
