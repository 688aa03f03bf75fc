// The questions that people ask most, beside the same by hand on a bare connection that reads the same files. CPU of both in
// one run; a ratio counts only if the answers are the same.
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { compileQuery } from '../../../src/hogql/compile.ts'
import { parseSelect } from '../../../src/hogql/parser.ts'
import { openDuckDb } from '../../../src/platform/event-store/duckdb/open.ts'
import type { EventStore, StoreQuery } from '../../../src/platform/event-store/event-store.ts'
import { tablesOf } from '../../../src/platform/event-store/layout.ts'
import { onProjectFiles } from '../../../test/harness/project-files.ts'
import { measureTrees } from '../../process-tree.ts'
import { fill } from '../events/fill.ts'
import { personOf } from '../events/person.ts'
import { PROJECT, QUESTIONS, type Question } from './cases.ts'

const MILLIONS = Number(process.env.BENCH_MILLIONS ?? 5)
const ROUNDS = 2
const ROUND_S = 0.3
const MEMORY_MB = 2048
const GOAL = 1.5
const NEVER_MS = 1_000_000_000
const MAX_ROWS = 1_000_000
const PERSONS_AT_ONCE = 20_000

type Asked = { rows: readonly (readonly unknown[])[]; cpu_s: number }

export async function benchQuestions(names: readonly string[]): Promise<boolean> {
  const folder = process.env.BENCH_FOLDER ?? (await mkdtemp(join(tmpdir(), 'longshore-bench-questions-')))
  try {
    if (process.env.BENCH_FOLDER === undefined) {
      await fill(folder, PROJECT, MILLIONS * 1_000_000, 1)
      await withStore(folder, fillPersons)
    }
    const chosen = QUESTIONS.filter(
      ({ name }) => names.length === 0 || names.some((part) => name.includes(part)),
    )
    const ours = await withStore(folder, async (store) => {
      const asked: Asked[] = []
      for (const question of chosen) asked.push(await measured(() => askStore(store, question)))
      return asked
    })
    const threads = String(availableParallelism())
    const options = { memory_limit: `${MEMORY_MB}MB`, threads }
    const bare = await onProjectFiles(folder, PROJECT, options, async (connection) => {
      // As the server has it.
      await connection.run('SET late_materialization_max_rows = 5000')
      await connection.run('SET parquet_metadata_cache = true')
      const asked: Asked[] = []
      for (const question of chosen) asked.push(await measured(() => askBare(connection, question)))
      return asked
    })
    return chosen.map((question, index) => print(question, ours[index]!, bare[index]!)).every(Boolean)
  } finally {
    if (process.env.BENCH_FOLDER === undefined) await rm(folder, { recursive: true, force: true })
  }
}

async function withStore<Result>(
  folder: string,
  work: (store: EventStore) => Promise<Result>,
): Promise<Result> {
  const options = { memory_mb: MEMORY_MB, query_timeout_ms: 600_000, column_pause_ms: NEVER_MS }
  const store = await openDuckDb({ folder: join(folder, 'events'), ...options })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Whoever did the sample events. */
async function fillPersons(store: EventStore): Promise<void> {
  const { rows } = await store.query(plain(`SELECT DISTINCT distinct_id FROM ${tablesOf(PROJECT).events}`))
  const ids = rows.map(([id]) => String(id))
  for (let from = 0; from < ids.length; from += PERSONS_AT_ONCE) {
    const some = ids.slice(from, from + PERSONS_AT_ONCE).map((distinct_id) => {
      const { id, properties } = personOf(PROJECT, distinct_id)
      return { distinct_id, id, properties }
    })
    const persons = some.map(({ id, properties }) => ({
      id,
      created_at: 0n,
      is_identified: true,
      properties,
      version: 1,
    }))
    const distinct_ids = some.map(({ distinct_id, id }) => ({ distinct_id, person_id: id, version: 1 }))
    const write = { project_id: PROJECT, events: [], persons, distinct_ids, deleted_persons: [], groups: [] }
    await store.write([write], new Date())
  }
}

const plain = (sql: string): StoreQuery => ({
  project_id: PROJECT,
  sql,
  parameters: [],
  timezone: 'UTC',
  max_rows: MAX_ROWS,
})

async function askStore(store: EventStore, { hogql }: Question): Promise<Asked['rows']> {
  const context = { project_id: PROJECT, timezone: 'UTC', now: new Date(), placeholders: new Map() }
  const { sql, parameters, properties } = compileQuery(parseSelect(hogql), context, 'duckdb')
  return (await store.query({ ...plain(sql), parameters, properties })).rows
}

async function askBare(connection: DuckDBConnection, { sql }: Question): Promise<Asked['rows']> {
  return (await connection.run(sql)).getRowsJson()
}

/** The least of some rounds, after one that warms up. A round is long enough for the clock's hundredths. */
async function measured(ask: () => Promise<Asked['rows']>): Promise<Asked> {
  const rows = await ask()
  const figures: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const before = measureTrees([process.pid]).cpu_s
    let [spent_s, asked] = [0, 0]
    while (spent_s < ROUND_S) {
      await ask()
      asked++
      spent_s = measureTrees([process.pid]).cpu_s - before
    }
    figures.push(spent_s / asked)
  }
  return { rows, cpu_s: Math.min(...figures) }
}

function print({ name }: Question, ours: Asked, bare: Asked): boolean {
  assertSame(name, ours.rows, bare.rows)
  const ratio = ours.cpu_s / bare.cpu_s
  const ms = (cpu_s: number) => `${(cpu_s * 1000).toFixed(0)} ms`
  const goal = ratio <= GOAL ? 'met' : 'NOT met'
  console.log(
    `${name}: ${ms(ours.cpu_s)} CPU, by hand ${ms(bare.cpu_s)}; ratio ${ratio.toFixed(2)}; goal: at most ${GOAL}: ${goal}`,
  )
  return ratio <= GOAL
}

/** As many rows with the same numbers, however dates are written and floats are summed up. */
function assertSame(name: string, ours: Asked['rows'], bare: Asked['rows']): void {
  const numbersOf = (rows: Asked['rows']) =>
    rows.map((row) => row.map(numberOf).filter((value) => value !== null))
  const [one, other] = [numbersOf(ours), numbersOf(bare)]
  const isSame =
    one.length === other.length &&
    one.every(
      (row, at) =>
        row.length === other[at]!.length &&
        row.every((value, place) => Math.abs(value - other[at]![place]!) <= 1e-9 * Math.abs(value)),
    )
  if (!isSame) {
    const shown = (rows: unknown) => JSON.stringify(rows).slice(0, 300)
    throw new Error(`${name}: the answers differ: ${shown(one)} and ${shown(other)}`)
  }
}

function numberOf(value: unknown): number | null {
  const number = typeof value === 'number' || typeof value === 'string' ? Number(value) : NaN
  return value === '' || Number.isNaN(number) ? null : number
}
