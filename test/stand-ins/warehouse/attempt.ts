// One attempt at delivering rows of a test's own to a warehouse: for what the conformance suite does not ask.
import { createHash, randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { OutputColumn } from '../../../src/features/batch-exports/definition.ts'
import type {
  Delivered,
  DeliveryContext,
  Digest,
  RunFacts,
} from '../../../src/features/batch-exports/destinations/destination.ts'
import { stillOurs } from '../../../src/features/batch-exports/destinations/fixture/still-ours.ts'
import type { World } from '../../../src/features/batch-exports/destinations/fixture/world.ts'
import { addRow, bucketOf } from '../../../src/features/batch-exports/destinations/warehouse/digest.ts'
import type { OutputFile } from '../../../src/features/batch-exports/formats/encoding.ts'

export type Attempt = {
  columns: readonly OutputColumn[]
  /** Each list is a file. */
  files: readonly (readonly object[])[]
  run?: Partial<RunFacts>
  signal?: AbortSignal
  logged?: string[]
  /** How rows become a file; gzipped JSON lines unless said otherwise. */
  asFile?: typeof withFile
}

export async function attempt(
  world: World,
  { files, asFile = withFile, ...rest }: Attempt,
): Promise<Delivered> {
  const delivery = await (await world.kind.load()).open(contextOf(world, rest))
  try {
    for (const [index, rows] of files.entries()) {
      await asFile(rows, (file) => delivery.write({ ...file, index }))
    }
    return await delivery.finish(stillOurs)
  } catch (error) {
    await delivery.abort()
    throw error
  }
}

/** What the table says of its rows, and what we say of the same rows. */
export async function digestsOf(
  world: World,
  columns: readonly OutputColumn[],
  rows: readonly Record<string, unknown>[],
): Promise<{ there: ReadonlyMap<string, Digest>; here: ReadonlyMap<string, Digest> }> {
  const { inspect } = await world.kind.load()
  const { table, close } = await inspect!(contextOf(world, { columns }))
  const here = new Map<string, Digest>()
  for (const row of rows) {
    const values = table!.columns.map((column) => table!.spell(column, row[column.name]))
    addRow(here, bucketOf(String(row.uuid)), values)
  }
  const there = await table!.digest({ project_id: 7, times: null })
  await close()
  return { there, here }
}

export function contextOf(
  world: World,
  { columns, run, signal, logged }: Omit<Attempt, 'files'>,
): DeliveryContext {
  return {
    config: world.kind.config.parse(world.config),
    run: {
      id: '0192c0de-0000-7000-8000-000000000001',
      other_ids: [],
      attempt: 1,
      batch_export_id: '0192c0de-0000-7000-8000-00000000000e',
      project_id: 1,
      model: 'events',
      interval: { start: new Date('2024-03-01T10:00:00Z'), end: new Date('2024-03-01T11:00:00Z') },
      backfill_id: null,
      is_repair: false,
      // The time of a user's own columns may be anything.
      told_apart_by: run?.has_custom_columns === true ? [] : ['timestamp', 'team_id'],
      has_custom_columns: false,
      ...run,
    },
    columns,
    outbound: world.outbound,
    settings: world.settings,
    signal: signal ?? new AbortController().signal,
    log: (level, message) => void logged?.push(`${level} ${message}`),
    left_files: [],
    left_uploads: [],
    progress: { last: null, save: async () => {}, began: async () => {}, leftOut: async () => {} },
  }
}

/** As the destinations here want files: JSON lines, gzipped. It is gone afterwards. */
export async function withFile(
  rows: readonly object[],
  work: (file: OutputFile) => Promise<void>,
): Promise<void> {
  const bytes = gzipSync(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const path = join(tmpdir(), `longshore-rows-${randomUUID()}.jsonl.gz`)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  await writeFile(path, bytes)
  try {
    await work({ index: 0, path, rows: rows.length, bytes: bytes.length, sha256 })
  } finally {
    await rm(path)
  }
}
