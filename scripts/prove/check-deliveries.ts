// Whether the destinations hold what the runs own: whole, once, the same bytes at every attempt, and nothing else.
import { renderName } from '../../src/features/batch-exports/destinations/prefix.ts'
import type { RunRow } from '../../src/features/batch-exports/rows.ts'
import { ROWS_OF_A_FILE } from './destinations.ts'
import { linesOf, type SimulatedEvent } from './event-store.ts'
import { cut, ownedBy, runText, type Facts } from './facts.ts'
import type { Table } from './places.ts'

/** batch-exports.md, section 13.1. */
const FILE_COLUMNS = [
  'uuid',
  'timestamp',
  '_inserted_at',
  'created_at',
  'event',
  'properties',
  'distinct_id',
  'elements_chain',
  'person_properties',
  'person_id',
].map((name) => ({ name }))

export function checkDeliveries(facts: Facts): void {
  const { world, runs } = facts
  checkFiles(facts)
  for (const { id, type } of world.exports) {
    const theirs = runs.filter((run) => run.batch_export_id === id)
    if (type === 'Postgres') checkTable(facts, theirs, world.places.table(id))
    if (type === 'HTTP') checkBatches(facts, theirs)
  }
}

/** By name: what an undisturbed run writes, manifest aside. */
function filesOf(run: RunRow, owned: readonly SimulatedEvent[]): Map<string, string> {
  const { prefix, max_file_size_mb } = run.definition!.config as {
    prefix: string
    max_file_size_mb: number | null
  }
  const interval = { start: run.data_interval_start, end: run.data_interval_end }
  const name = renderName(prefix, { interval, model: 'events' })
  const size = max_file_size_mb === null ? Math.max(1, owned.length) : ROWS_OF_A_FILE
  const texts = cut(owned, size).map((events) => linesOf(events, FILE_COLUMNS))
  return new Map(
    texts.map((text, index) => [`${name}${max_file_size_mb === null ? '' : `-${index}`}.jsonl`, text]),
  )
}

function checkFiles({ world, runs }: Facts): void {
  const { files } = world.places
  const expected = new Map<string, Map<string, string>>()
  for (const run of runs.filter((each) => each.definition?.destination_type === 'File')) {
    const owned = ownedBy(run, world.store.events)
    if (owned) expected.set(run.id, filesOf(run, owned))
  }
  for (const [name, { content, run_id }] of files) {
    if (name.endsWith('_manifest.json')) continue
    if (expected.get(run_id)?.get(name) !== content) world.wrong(`${name} is not what run ${run_id} writes`)
  }
  for (const run of runs.filter((each) => each.status === 'Completed')) {
    for (const name of expected.get(run.id)?.keys() ?? []) {
      if (!files.has(name)) world.wrong(`${name} of ${runText(run)} is not there`)
    }
  }
}

/** A run is in the ledger with all its rows, or not at all. */
function checkTable({ world }: Facts, runs: readonly RunRow[], table: Table): void {
  const { events } = world.store
  const due = new Map<string, number>()
  for (const run of runs) {
    const rows = table.ledger.get(run.id)
    const owned = ownedBy(run, events) ?? []
    if (rows === undefined && run.status === 'Completed' && owned.length > 0) {
      world.wrong(`${runText(run)} is not in its table`)
    }
    if (rows === undefined) continue
    if (rows !== owned.length) world.wrong(`${runText(run)} brought ${rows} rows and owns ${owned.length}`)
    const has_key = run.definition!.config.table_name === 'keyed'
    for (const { uuid } of owned) due.set(uuid, has_key ? 1 : (due.get(uuid) ?? 0) + 1)
  }
  const there = new Map<string, number>()
  for (const { uuid } of table.rows) there.set(uuid, (there.get(uuid) ?? 0) + 1)
  for (const uuid of new Set([...due.keys(), ...there.keys()])) {
    const [is, should_be] = [there.get(uuid) ?? 0, due.get(uuid) ?? 0]
    if (is !== should_be) world.wrong(`event ${uuid} is ${is} times in a table instead of ${should_be}`)
  }
}

/** At least once: a repeated batch is the same batch, and of a completed run none is missing. */
function checkBatches({ world }: Facts, runs: readonly RunRow[]): void {
  for (const run of runs) {
    const batches = cut(ownedBy(run, world.store.events) ?? [], ROWS_OF_A_FILE)
    const posted = world.places.batches.filter(({ run_id }) => run_id === run.id)
    const bodies = new Map<number, string>()
    for (const { sequence, body } of posted) {
      const { batch } = JSON.parse(body) as { batch: { uuid: string }[] }
      const uuids = batch.map(({ uuid }) => uuid).join()
      const isRight = uuids === batches[sequence]?.map(({ uuid }) => uuid).join()
      if (!isRight || (bodies.get(sequence) ?? body) !== body) {
        world.wrong(`batch ${sequence} of ${runText(run)} is another than it should be`)
      }
      bodies.set(sequence, body)
    }
    if (run.status === 'Completed' && bodies.size !== batches.length) {
      world.wrong(`${runText(run)} has posted ${bodies.size} of ${batches.length} batches`)
    }
  }
}
