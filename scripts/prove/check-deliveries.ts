// Whether the destinations hold what the runs own: whole, once, the same bytes at every attempt, and nothing else.
import { renderName } from '../../src/features/batch-exports/destinations/prefix.ts'
import type { RunRow } from '../../src/features/batch-exports/rows.ts'
import { ROWS_OF_A_FILE } from './destinations.ts'
import { linesOf, type SimulatedEvent } from './event-store.ts'
import { cut, ownedBy, runText, type DeliveryFacts, type Facts } from './facts.ts'
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
  const { world, deliveries } = facts
  for (const { id, type } of world.exports) {
    const own = [...deliveries.values()].filter(({ first }) => first.batch_export_id === id)
    if (type === 'File') checkFiles(facts, own)
    if (type === 'Postgres') checkTable(facts, own, world.places.table(id))
    if (type === 'HTTP') for (const delivery of own) checkBatches(facts, delivery)
  }
  for (const [name, { run_id }] of world.places.files) {
    if (!deliveries.has(run_id)) world.wrong(`${name} is of nobody`)
  }
}

/** Runs of which something may be visible, the last that got through and those after it: the others were replaced. */
function shownRuns({ runs, completed }: DeliveryFacts): RunRow[] {
  const after = completed ? runs.slice(runs.indexOf(completed)) : runs
  return after.filter((run) => run.published !== null)
}

/** By name: what an undisturbed run writes, manifest aside. */
function filesOf(run: RunRow, first: RunRow, owned: readonly SimulatedEvent[]): Map<string, string> {
  const { prefix, max_file_size_mb } = run.definition!.config as {
    prefix: string
    max_file_size_mb: number | null
  }
  const name = renderName(prefix, {
    interval: { start: run.data_interval_start, end: run.data_interval_end },
    model: 'events',
    batch_export_id: run.batch_export_id,
    backfill_id: first.selection === 'timestamp' ? first.backfill_id : null,
  })
  const size = max_file_size_mb === null ? Math.max(1, owned.length) : ROWS_OF_A_FILE
  const texts = cut(owned, size).map((events) => linesOf(events, FILE_COLUMNS))
  return new Map(
    texts.map((text, index) => [`${name}${max_file_size_mb === null ? '' : `-${index}`}.jsonl`, text]),
  )
}

/** Whoever reads the folder finds each event once; files of a delivery are those of one run, unless one was cut off. */
function checkFiles(facts: Facts, deliveries: readonly DeliveryFacts[]): void {
  const { world } = facts
  const seen = new Map<string, string>()
  for (const delivery of deliveries) {
    const { id, first, completed } = delivery
    const shown = shownRuns(delivery).map((run) => filesOf(run, first, ownedBy(facts, run)!))
    const there = [...world.places.files].filter(
      ([name, { run_id }]) => run_id === id && !name.endsWith('_manifest.json'),
    )
    for (const [name, { content }] of there) {
      if (!shown.some((files) => files.get(name) === content))
        world.wrong(`${name} is not what ${runText(completed ?? first)} writes`)
    }
    const isWhole = completed !== undefined && shown.length <= 1
    if (!isWhole) continue
    const expected = completed.published === null ? new Map<string, string>() : shown[0]!
    for (const name of expected.keys()) {
      if (!world.places.files.has(name)) world.wrong(`${name} of ${runText(completed)} is not there`)
    }
    if (there.length !== expected.size)
      world.wrong(`${runText(completed)} has ${there.length} files instead of ${expected.size}`)
    for (const [name, { content }] of there) noteLines(facts, seen, name, content)
  }
}

function noteLines({ world }: Facts, seen: Map<string, string>, name: string, content: string): void {
  for (const line of content.trimEnd().split('\n').filter(Boolean)) {
    const { uuid } = JSON.parse(line) as { uuid: string }
    if (seen.has(uuid)) world.wrong(`event ${uuid} is in ${seen.get(uuid)} and in ${name}`)
    seen.set(uuid, name)
  }
}

/** A delivery is in the ledger with all its rows, or not at all; and each event is in the table once. */
function checkTable(facts: Facts, deliveries: readonly DeliveryFacts[], table: Table): void {
  const { world } = facts
  const due = new Set<string>()
  for (const delivery of deliveries) {
    const { id, completed } = delivery
    const rows = table.ledger.get(id)
    const owned = (completed && ownedBy(facts, completed)) ?? []
    if (rows === undefined && owned.length > 0) world.wrong(`${runText(completed!)} is not in its table`)
    if (rows === undefined) continue
    const shown = shownRuns(delivery).map((run) => ownedBy(facts, run)!)
    const brought = table.rows.filter(({ run_id }) => run_id === id).map(({ uuid }) => uuid)
    const isRight = shown.some((events) =>
      isSame(
        events.map(({ uuid }) => uuid),
        brought,
      ),
    )
    if (!isRight)
      world.wrong(`${runText(delivery.runs.at(-1)!)} brought ${brought.length} rows that it does not own`)
    for (const uuid of brought) {
      if (due.has(uuid)) world.wrong(`event ${uuid} is twice in a table`)
      due.add(uuid)
    }
  }
  if (table.rows.length !== due.size)
    world.wrong(`a table has ${table.rows.length} rows, and ${due.size} events`)
}

const isSame = (one: readonly string[], other: readonly string[]) =>
  one.toSorted().join() === other.toSorted().join()

/** At least once: a repeated batch is the same batch, and of a completed run none is missing. */
function checkBatches(facts: Facts, { id, completed, runs }: DeliveryFacts): void {
  const { world } = facts
  const posted = world.places.batches.filter(({ run_id }) => run_id === id)
  const bodies = new Map<number, string>()
  for (const { sequence, body } of posted) {
    if ((bodies.get(sequence) ?? body) !== body)
      world.wrong(`batch ${sequence} of ${runText(runs[0]!)} came with two contents`)
    bodies.set(sequence, body)
  }
  if (!completed) return
  const batches = cut(ownedBy(facts, completed)!, ROWS_OF_A_FILE)
  if (bodies.size !== batches.length)
    world.wrong(`${runText(completed)} has posted ${bodies.size} of ${batches.length} batches`)
  for (const [sequence, events] of batches.entries()) {
    const { batch } = JSON.parse(bodies.get(sequence) ?? '{"batch":[]}') as { batch: { uuid: string }[] }
    if (
      !isSame(
        batch.map(({ uuid }) => uuid),
        events.map(({ uuid }) => uuid),
      )
    )
      world.wrong(`batch ${sequence} of ${runText(completed)} is another than it should be`)
  }
}
