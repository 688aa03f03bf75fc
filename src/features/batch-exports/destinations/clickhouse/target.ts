// The user's table: found or made, and refused before anything is sent when a run could not be kept exactly once in it.
import { columnsInBoth } from '../columns-in-both.ts'
import { Refused, type DeliveryContext, type OwnColumn } from '../destination.ts'
import { notReplaceable } from '../not-replaceable.ts'
import { rowHash } from '../warehouse/digest-sql.ts'
import { mergeKey } from '../warehouse/merge.ts'
import { dialect } from './dialect.ts'
import type { ClickHouseConfig } from './kind.ts'
import { nameOf } from './names.ts'
import { createTable, RUN_COLUMN, RUN_DEFINITION } from './new-table.ts'
import type { Session } from './session.ts'
import * as statements from './statements.ts'

type Context = DeliveryContext<ClickHouseConfig>

type Found = Pick<statements.Target, 'keys' | 'storage_policy'> & {
  engine: string
  /** Those that a row can be given, by name with their types. */
  columns: ReadonlyMap<string, string>
  /** Those that ClickHouse computes. */
  computed: ReadonlySet<string>
}

export async function prepareTarget(session: Session, context: Context): Promise<statements.Target> {
  const { config, run } = context
  const found = (await findTable(session, config)) ?? (await makeTable(session, context))
  assertEngine(found.engine, context)
  const in_both = await columnsInBoth(context, 'The table', (name) => found.columns.has(name))
  const shared = in_both.map(({ name }) => name)
  const hashed = shared.map((name) => ({ name, kind: dialect.kindOf(found.columns.get(name)!) ?? 'text' }))
  return {
    keys: found.keys,
    storage_policy: found.storage_policy,
    table: nameOf(config, config.table_name),
    key: keyOf(context, shared, found),
    hash: rowHash({ dialect, columns: hashed }),
    has_event_time: run.model === 'events' && !run.has_custom_columns && shared.includes('timestamp'),
  }
}

const RUN_KEY = [RUN_COLUMN] as const

export const isRunKey = ({ key }: statements.Target) => key === RUN_KEY

/** Where the engine replaces rows by an order that has no time in it, one of several times stays. */
export function hasOneRowForUuid({ engine, keys }: Pick<Found, 'engine' | 'keys'>): boolean {
  const order = /ORDER BY (.*)$/s.exec(keys)?.[1] ?? ''
  const columns = order
    .replaceAll('`', '')
    .replace(/^\((.*)\)$/s, '$1')
    .split(', ')
  return isReplacing(engine) && !columns.some((column) => TIMED.test(column))
}

/** The time, or its day or less of it: events of one uuid are more than a day apart. */
const TIMED = /^(?:timestamp|to(?:Date(?:32)?|YYYYMMDD|StartOf(?:Day|Hour|Minute|Second))\(timestamp\))$/

const isReplacing = (engine: string) => /^(Replicated|Shared)?ReplacingMergeTree$/.test(engine)

/** `MergeTree PARTITION BY a PRIMARY KEY b ORDER BY (b, c) TTL d SETTINGS e`, from the first key to the last. */
const KEYS = /(?:PARTITION BY|PRIMARY KEY|ORDER BY) .*?(?= SAMPLE BY | TTL | SETTINGS |$)/s

/** Null where there is none. */
export async function findTable(
  session: Session,
  { database, table_name }: ClickHouseConfig,
): Promise<Found | null> {
  const asked = { database, table: table_name }
  const [facts] = await session.run(statements.FIND_TABLE, asked)
  if (facts === undefined) return null
  const [engine, definition, storage_policy] = facts.map(String)
  const columns = await session.run(statements.LIST_COLUMNS, asked)
  const ofKind = (...kinds: string[]) =>
    columns
      .filter(([, , kind]) => kinds.includes(String(kind)))
      .map(([name, type]) => [String(name), String(type)] as const)
  return {
    engine: engine!,
    keys: KEYS.exec(definition!)?.[0] ?? '',
    storage_policy: storage_policy!,
    columns: new Map(ofKind('', 'DEFAULT')),
    computed: new Set(ofKind('MATERIALIZED').map(([name]) => name)),
  }
}

async function makeTable(session: Session, { config, run, columns }: Context): Promise<Found> {
  await session.run(createTable(config, columns, run))
  const made = await findTable(session, config)
  if (made === null) throw new Refused(`ClickHouse has made no table ${config.table_name}. Make it yourself.`)
  return made
}

/** Other engines of the family lose or add up rows as they merge; to all the rest nothing can be attached. */
function assertEngine(engine: string, { config, run }: Context): void {
  const is_replacing = isReplacing(engine)
  if (run.model !== 'events' && !is_replacing) {
    throw new Refused(
      `The table ${config.table_name} has the engine ${engine}, which keeps every version of ${run.model}. Use a ReplacingMergeTree, or a name that no table has yet.`,
    )
  }
  if (!is_replacing && !/^(Replicated|Shared)?MergeTree$/.test(engine)) {
    throw new Refused(
      `The table ${config.table_name} has the engine ${engine}, which cannot take a whole run at once. Use a MergeTree, or a name that no table has yet.`,
    )
  }
}

function keyOf({ config, run }: Context, shared: readonly string[], found: Found): statements.Target['key'] {
  // An engine that replaces rows leaves one of those that its order does not tell apart.
  const keeps = (name: OwnColumn) =>
    name === 'timestamp' ? !hasOneRowForUuid(found) : !isReplacing(found.engine) || found.keys.includes(name)
  const { columns } = mergeKey(run, shared, keeps)
  if (run.model !== 'events') return null
  if (columns.length > 0) return columns
  if (run.is_repair) throw notReplaceable(config.table_name)
  if (found.computed.has(RUN_COLUMN)) return RUN_KEY
  const table = nameOf(config, config.table_name)
  throw new Refused(
    `The table ${config.table_name} lacks what tells whether a row is there: a column uuid or ${RUN_COLUMN}. Run ALTER TABLE ${table} ADD COLUMN ${RUN_DEFINITION}, or export the uuid as well.`,
  )
}
