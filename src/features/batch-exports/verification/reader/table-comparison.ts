// Compares a table with the events that should be in it: first by digests, a few numbers for each bucket of rows; then,
// where a bucket differs, row by row. Rows of the store come as files of JSON lines.
import { createReadStream } from 'node:fs'
import { parseExactly } from '../../../../lib/exact-json.ts'
import type { OutputColumn } from '../../definition.ts'
import type { Digest, TableInspection, TableScope } from '../../destinations/destination.ts'
import { addRow, bucketOf, UNOWNED } from '../../destinations/warehouse/digest.ts'
import { MAX_KEPT } from '../findings.ts'
import { compareRows, type Entry, type RowProblem } from './compare-rows.ts'
import { forEachLine } from './lines.ts'
import { Partitions } from './partitions.ts'

export type Compared = {
  /** How many problems there are of each kind. */
  counts: Partial<Record<RowProblem['kind'], number>>
  /** The first problems of each kind. */
  shown: RowProblem[]
}

/** Digests of the table and of what should be in it. */
export type Totals = { found: Digest; expected: Digest }

const NOTHING: Digest = { rows: 0, sums: [0, 0] }

export class TableComparison {
  #found: ReadonlyMap<string, Digest> = new Map()
  #expected = new Map<string, Digest>()
  #scope: TableScope | null = null
  #partitions: Partitions | null = null

  /** `columns` are those that are compared. */
  constructor(
    private readonly table: TableInspection,
    readonly columns: readonly OutputColumn[],
    private readonly folder: string,
  ) {}

  /** Starts a new comparison. How many rows of the table say no project, where those of one are asked for. */
  async digest(scope: TableScope): Promise<number> {
    this.#scope = scope
    this.#expected = new Map()
    this.#partitions = null
    this.#found = await this.table.digest(scope)
    return sumOf(new Map([...this.#found].filter(([bucket]) => bucket.startsWith(UNOWNED)))).rows
  }

  /** From now on rows that say no project are not there. */
  passOverUnowned(): void {
    this.#found = new Map([...this.#found].filter(([bucket]) => !bucket.startsWith(UNOWNED)))
  }

  /** Adds rows that should be in the table. */
  async expect(path: string): Promise<void> {
    await this.#forEachRow(path, (bucket, row) => {
      const values = this.columns.map((column) => this.table.spell(column, row[column.name]))
      addRow(this.#expected, bucket, values)
    })
  }

  totals(): Totals {
    return { found: sumOf(this.#found), expected: sumOf(this.#expected) }
  }

  /** Fetches the rows of the buckets that differ, and returns how many buckets do. */
  async fetchDiffering(): Promise<number> {
    const differing = [...new Set([...this.#found.keys(), ...this.#expected.keys()])].filter(
      (bucket) => !isSame(this.#found.get(bucket), this.#expected.get(bucket)),
    )
    // A row that was delivered may have lost its project since: it is compared with what it was.
    const buckets = [...new Set(differing.map(ownedBucket))]
    const foundIn = (bucket: string) => this.#found.get(bucket)?.rows ?? 0
    const rowsIn = (bucket: string) =>
      Math.max(foundIn(bucket) + foundIn(UNOWNED + bucket), this.#expected.get(bucket)?.rows ?? 0)
    this.#partitions = new Partitions(this.folder, new Map(buckets.map((bucket) => [bucket, rowsIn(bucket)])))
    for (const bucket of buckets) {
      for (const each of [bucket, UNOWNED + bucket].filter((name) => this.#found.has(name))) {
        const rows = await this.table.rows(this.#scope!, each)
        for (const values of rows)
          this.#partitions.add(bucket, { from: 'table', position: null, at: null, values })
      }
    }
    return buckets.length
  }

  /** Keeps rows of the store that lie in differing buckets; `position_as` names the field with their position. */
  async setAside(path: string, from: Exclude<Entry['from'], 'table'>, position_as: string): Promise<void> {
    await this.#forEachRow(path, (bucket, row) => {
      // The store writes every column that a delivery has brought, also those that are null.
      const values = this.columns.map(
        (column) => column.name in row && this.table.spell(column, row[column.name]),
      )
      const at = typeof row.timestamp === 'string' ? row.timestamp : null
      this.#partitions!.add(bucket, { from, position: row[position_as] as number, at, values })
    })
  }

  async compare(is_by_time: boolean): Promise<Compared> {
    const counts: Compared['counts'] = {}
    const shown: RowProblem[] = []
    for await (const entries of this.#partitions!.read()) {
      for (const problem of compareRows(entries, this.columns, is_by_time)) {
        const count = (counts[problem.kind] = (counts[problem.kind] ?? 0) + 1)
        if (count <= MAX_KEPT) shown.push(problem)
      }
    }
    return { counts, shown }
  }

  async #forEachRow(
    path: string,
    use: (bucket: string, row: Readonly<Record<string, unknown>>) => void,
  ): Promise<void> {
    const uuid = this.columns.find(({ name }) => name === 'uuid')
    await forEachLine(createReadStream(path, { highWaterMark: 256 * 1024 }), (chunk, start, end) => {
      const row = parseExactly(chunk.toString('utf8', start, end)) as Record<string, unknown>
      use(bucketOf(uuid ? this.table.spell(uuid, row.uuid ?? null) : null), row)
    })
  }
}

function ownedBucket(bucket: string): string {
  return bucket.startsWith(UNOWNED) ? bucket.slice(UNOWNED.length) : bucket
}

function isSame(one: Digest = NOTHING, other: Digest = NOTHING): boolean {
  return one.rows === other.rows && one.sums[0] === other.sums[0] && one.sums[1] === other.sums[1]
}

function sumOf(digests: ReadonlyMap<string, Digest>): Digest {
  return [...digests.values()].reduce(
    (sum, { rows, sums }) => ({
      rows: sum.rows + rows,
      sums: [sum.sums[0] + sums[0], sum.sums[1] + sums[1]],
    }),
    NOTHING,
  )
}
