// The newest events of a stretch of positions that meet some conditions, and how many others there are.
import type { Expr } from '../../../hogql/ast.ts'
import { parseSelect } from '../../../hogql/parser.ts'
import type { Services } from '../../../platform/services.ts'
import type { EventRow } from '../listing/record.ts'
import { runQuery, type AskedProject } from '../run-query.ts'
import { allOf, compare, constant, eventField } from '../tree.ts'

/** What an event takes besides its name, its properties and who did it. */
const EVENT_BYTES = 300

/** Positions in (from, to]. */
export type Positions = { from: number; to: number }
export type Most = { events: number; bytes: number }
export type PositionedRow = EventRow & { seq: number }

const FIELDS = ['seq', 'uuid', 'event', 'distinct_id', 'timestamp', 'properties', 'elements_chain']
const OWN = FIELDS.map((name) => `events.${name} AS its_${name}`).join(', ')
const ITS = FIELDS.map((name) => `its_${name}`).join(', ')

/** `found` is how many there are before they are cut to their size. One event may be larger than that. */
const NEWEST = parseSelect(`
  SELECT ${ITS}, found FROM (
    SELECT *, count() OVER () AS found, sum(bytes) OVER (ORDER BY its_seq DESC) AS bytes_so_far FROM (
      SELECT *, ${EVENT_BYTES} + length(its_event) + length(its_distinct_id) + length(its_properties) AS bytes FROM (
        SELECT ${OWN} FROM events WHERE {conditions} ORDER BY events.seq DESC LIMIT {most})))
  WHERE bytes_so_far <= {bytes} OR bytes_so_far = bytes ORDER BY its_seq ASC`)
const COUNT = parseSelect('SELECT count() FROM events WHERE {conditions}')

/** In the order of their positions; `others` are older. */
export async function findNewest(
  services: Services,
  project: AskedProject,
  conditions: readonly Expr[],
  { from, to }: Positions,
  most: Most,
): Promise<{ rows: PositionedRow[]; others: number }> {
  const seq = eventField('seq')
  const where = allOf([compare(seq, '>', constant(from)), compare(seq, '<=', constant(to)), ...conditions])!
  const ask = async (query: typeof NEWEST, max_rows: number) => {
    const placeholders = new Map<string, Expr>([
      ['conditions', where],
      ['most', constant(most.events + 1)],
      ['bytes', constant(most.bytes)],
    ])
    const question = { query, placeholders, timezone: 'UTC', max_rows, by_position: true }
    return (await runQuery(services, project, question)).rows
  }
  const found = await ask(NEWEST, most.events + 1)
  const isWhole = found.length <= most.events && found.length === Number(found[0]?.[FIELDS.length] ?? 0)
  const rows = found.slice(-most.events).map(toRow)
  if (isWhole) return { rows, others: 0 }
  const [count] = await ask(COUNT, 1)
  return { rows, others: Number(count?.[0]) - rows.length }
}

function toRow([seq, ...texts]: readonly unknown[]): PositionedRow {
  const [uuid, event, distinct_id, timestamp, properties, elements_chain] = texts as string[]
  return {
    seq: Number(seq),
    uuid: uuid!,
    event: event!,
    distinct_id: distinct_id!,
    timestamp: timestamp!,
    properties: properties!,
    elements_chain: elements_chain!,
  }
}
