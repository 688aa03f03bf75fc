// Stages: tables that hold the rows of one attempt at a run until they are attached to the user's.
import { Passing, type Removed, type RunFacts, type SweptRun } from '../destination.ts'
import type { ClickHouseConfig } from './kind.ts'
import { nameOf } from './names.ts'
import { isRunKey } from './target.ts'
import type { Parameters, Session } from './session.ts'
import * as statements from './statements.ts'

const STAGES = 'longshore_stage_'
const prefixOf = (run_id: string) => `${STAGES}${run_id.replaceAll('-', '')}_`

/** Each attempt has its own: whoever still works on an earlier one cannot get into this one's rows. */
export function stageName({ id, attempt }: Pick<RunFacts, 'id' | 'attempt'>): string {
  return `${prefixOf(id)}${attempt}`
}

export async function makeStage(
  session: Session,
  config: ClickHouseConfig,
  run: RunFacts,
  target: statements.Target,
): Promise<void> {
  const stage = nameOf(config, stageName(run))
  await session.run(statements.createStage(stage, target))
  if (isRunKey(target)) await session.run(statements.markStage(stage, run.id))
}

/** All stages of the run, but for the one of the attempt that is to be kept. */
export async function dropStages(
  session: Session,
  config: ClickHouseConfig,
  run: Pick<RunFacts, 'id'>,
  kept: string | null,
): Promise<void> {
  for (const name of await listTables(session, config, prefixOf(run.id))) {
    if (name !== kept) await session.run(statements.dropTable(config, name))
  }
}

/** Stages of attempts that the given runs have made. */
export async function* sweepStages(
  session: Session,
  config: ClickHouseConfig,
  runs: readonly SweptRun[],
): AsyncGenerator<Removed> {
  const made = new Set(
    runs.flatMap(({ id, attempt }) =>
      Array.from({ length: attempt }, (_, index) => stageName({ id, attempt: index + 1 })),
    ),
  )
  for (const name of await listTables(session, config, STAGES)) {
    if (!made.has(name)) continue
    await session.run(statements.dropTable(config, name))
    yield { kind: 'staging table', name }
  }
}

async function listTables(
  session: Session,
  { database }: ClickHouseConfig,
  prefix: string,
): Promise<string[]> {
  return (await session.run(statements.LIST_TABLES, { database, prefix })).map(([name]) => String(name))
}

/** From here on no other attempt at the run changes the table, unless it makes a new stage and finds this one. */
export async function shutOutOthers(
  session: Session,
  config: ClickHouseConfig,
  run: RunFacts,
): Promise<void> {
  await dropStages(session, config, run, stageName(run))
  const asked = { database: config.database, prefix: prefixOf(run.id) }
  const isUnderWay = async (statement: string, parameters: Parameters) => {
    const [row] = await session.run(statement, parameters)
    return Number(row?.[0]) > 0
  }
  // Somebody else may have dropped a stage that is just being attached; and a deletion goes on when nobody waits for it.
  const is_under_way =
    (await isUnderWay(statements.COUNT_DROPPED, asked)) ||
    (run.is_repair && (await isUnderWay(statements.COUNT_DELETIONS, { ...asked, table: config.table_name })))
  if (is_under_way) throw new Passing('ClickHouse: an earlier attempt at this run is still being ended.')
}
