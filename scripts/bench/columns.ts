// What a property costs a question: out of JSON as it is read now and as it was read before, from a column that appeared by
// itself, and from one that every project has. CPU of the same questions on the same events, in one run.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { compileQuery } from '../../src/hogql/compile.ts'
import { parseExpression, parseSelect } from '../../src/hogql/parser.ts'
import { openDuckDb } from '../../src/platform/event-store/duckdb/open.ts'
import { readManifest } from '../../src/platform/event-store/duckdb/segments/manifest.ts'
import type { EventStore, StoreQuery } from '../../src/platform/event-store/event-store.ts'
import type { ExportRows } from '../../src/platform/event-store/export-rows.ts'
import { tablesOf } from '../../src/platform/event-store/layout.ts'
import { measureTrees } from '../process-tree.ts'
import { fill } from './events/fill.ts'

const MILLIONS = Number(process.env.BENCH_MILLIONS ?? 1)
const PROJECT = 1
const ROUNDS = 3
const ROUND_S = 0.5
const NEVER_MS = 1_000_000_000
const { events: EVENTS } = tablesOf(PROJECT)

const COLD = ['$screen_width', '$browser_version', '$timezone'] as const
/** As it was read before: each property for itself. */
const json = (property: string) => `json_extract_string(properties, '$."${property}"')`

type Case = { name: string; cold: string; hot: string; was: string }

const CASES: readonly Case[] = [
  {
    name: 'top values of a property',
    cold: `select properties.${COLD[0]} as value, count() from events group by value order by count() desc limit 10`,
    hot: 'select properties.$browser as value, count() from events group by value order by count() desc limit 10',
    was: `SELECT ${json(COLD[0])}, count(*) FROM ${EVENTS} GROUP BY 1 ORDER BY 2 DESC LIMIT 10`,
  },
  {
    name: 'three properties',
    cold: `select ${COLD.map((name) => `uniq(properties.${name})`).join(', ')} from events`,
    hot: 'select uniq(properties.$browser), uniq(properties.$os), uniq(properties.$device_type) from events',
    was: `SELECT ${COLD.map((name) => `approx_count_distinct(${json(name)})`).join(', ')} FROM ${EVENTS}`,
  },
  {
    name: 'a rare value',
    cold: `select count() from events where properties.plan = 'business'`,
    hot: `select count() from events where properties.$browser = 'Opera'`,
    was: `SELECT count(*) FROM ${EVENTS} WHERE ${json('plan')} = 'business'`,
  },
]

export async function benchColumns(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'longshore-bench-columns-'))
  try {
    await fill(folder, PROJECT, MILLIONS * 1_000_000, 1)
    const before = await withStore(folder, NEVER_MS, async (store) => {
      const figures = []
      for (const { cold, was } of CASES) {
        figures.push({ was: await cpuOf(ask(store, plain(was))), json: await cpuOf(ask(store, hogql(cold))) })
      }
      return { figures, exports_s: await cpuOf(() => exportRare(store)) }
    })
    await withStore(folder, 50, (store) => appear(store, join(folder, 'events')))
    const after = await withStore(folder, NEVER_MS, async (store) => {
      const figures = []
      for (const { cold, hot } of CASES) {
        figures.push({
          column: await cpuOf(ask(store, hogql(cold))),
          hot: await cpuOf(ask(store, hogql(hot))),
        })
      }
      return { figures, exports_s: await cpuOf(() => exportRare(store)) }
    })
    const areMet = CASES.map(({ name }, index) =>
      print(name, { ...before.figures[index]!, ...after.figures[index]! }),
    )
    printExports(before.exports_s, after.exports_s)
    return areMet.every(Boolean)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function withStore<Result>(
  folder: string,
  column_pause_ms: number,
  work: (store: EventStore) => Promise<Result>,
): Promise<Result> {
  const options = { memory_mb: 1024, query_timeout_ms: 600_000, column_pause_ms }
  const store = await openDuckDb({ folder: join(folder, 'events'), ...options })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Asks until the properties have columns in all files. */
async function appear(store: EventStore, folder: string): Promise<void> {
  const properties = [...COLD, 'plan']
  for (let times = 0; times < 5; times++) {
    await store.query(
      hogql(`select ${properties.map((name) => `properties.${name}`).join(', ')} from events limit 1`),
    )
  }
  const isDone = () =>
    readManifest(folder, PROJECT).segments.every(({ columns = [] }) =>
      properties.every((property) => columns.includes(property)),
    )
  while (!isDone()) await sleep(200)
}

const plain = (sql: string): StoreQuery => ({
  project_id: PROJECT,
  sql,
  parameters: [],
  timezone: 'UTC',
  max_rows: 100,
})

function hogql(text: string): StoreQuery {
  const context = { project_id: PROJECT, timezone: 'UTC', now: new Date(), placeholders: new Map() }
  const { sql, parameters, properties } = compileQuery(parseSelect(text), context, 'duckdb')
  return { ...plain(sql), parameters, properties }
}

const ask = (store: EventStore, query: StoreQuery) => () => store.query(query)

/** As a run does it: counts its rows and writes them. */
async function exportRare(store: EventStore): Promise<void> {
  const compiled = compileQuery(
    parseSelect('select seq, uuid, timestamp, event, properties.$timezone from events'),
    {
      project_id: PROJECT,
      timezone: 'UTC',
      now: new Date(),
      placeholders: new Map(),
      exported: { where: parseExpression(`properties.plan = 'business'`) },
    },
    'duckdb',
  )
  const [position, uuid, time, ...others] = compiled.outputs.map(({ column }) => column)
  const rows: ExportRows = {
    project_id: PROJECT,
    source: {
      model: 'events',
      query: { ...compiled, position: position!, uuid: uuid!, time: time! },
      areas: [EVERYWHERE],
    },
    columns: others.map((of) => ({ name: of, kind: 'text', value: { of, form: null } })),
  }
  const { signal } = new AbortController()
  await store.countBlocks(rows, MILLIONS * 1_000_000, signal)
  const range = { from: 0, to: MILLIONS * 1_000_000 }
  const { path } = await store.exportRows(rows, range, { kind: 'json-lines' }, signal)
  await rm(path)
}

const EVERYWHERE = { seq_from: 0, seq_to: Number.MAX_SAFE_INTEGER, time_from: null, time_to: null }

/** The least of some rounds, after one that warms up. A round is long enough for the clock's hundredths. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  await work()
  const figures: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const before = measureTrees([process.pid]).cpu_s
    let [spent_s, asked] = [0, 0]
    while (spent_s < ROUND_S) {
      await work()
      asked++
      spent_s = measureTrees([process.pid]).cpu_s - before
    }
    figures.push(spent_s / asked)
  }
  return Math.min(...figures)
}

/** What the column is to reach: about as quick as one that every project has. */
const GOAL = 1.2

function print(name: string, cost: { was: number; json: number; column: number; hot: number }): boolean {
  const ms = (figure: number) => `${(figure * 1000).toFixed(1)} ms`
  const ratio = cost.column / cost.hot
  const isMet = ratio <= GOAL
  console.log(
    `${name}: JSON before ${ms(cost.was)}, JSON now ${ms(cost.json)}, column ${ms(cost.column)}, hot ${ms(cost.hot)}`,
  )
  console.log(
    `  JSON before / now ${(cost.was / cost.json).toFixed(1)}; JSON now / column ${(cost.json / cost.column).toFixed(1)};` +
      ` column / hot ${ratio.toFixed(2)}; goal: at most ${GOAL}: ${isMet ? 'met' : 'NOT met'}`,
  )
  return isMet
}

function printExports(json_s: number, column_s: number): void {
  const ms = (figure: number) => `${(figure * 1000).toFixed(1)} ms`
  console.log(
    `an export with a filter: JSON ${ms(json_s)}, column ${ms(column_s)}; ${(json_s / column_s).toFixed(1)} times`,
  )
}
