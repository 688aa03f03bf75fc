// One attempt at bringing a run to Snowflake: its files go to a stage of its own, from there into a table beside the
// user's, and one transaction takes the rows over. Called by snowflake.ts.
import { columnsInBoth } from '../columns-in-both.ts'
import {
  Passing,
  Refused,
  type Delivery,
  type DeliveryContext,
  type Removed,
  type SweptRun,
} from '../destination.ts'
import type { SnowflakeConfig } from './kind.ts'
import { connect, type AccessUrl, type Session } from './session.ts'
import * as statements from './statements.ts'

type Context = DeliveryContext<SnowflakeConfig>
type Attempt = { session: Session; context: Context; stage: string }

const ABORT_LIMIT_MS = 30_000
const EARLIER_STAGES = 5

export async function openDelivery(accessUrl: AccessUrl, context: Context): Promise<Delivery> {
  const session = await connect(accessUrl, context)
  const { config, run } = context
  const attempt = { session, context, stage: stageName(config, run.id, run.attempt) }
  try {
    await assertWarehouse(session)
    await session.run(statements.createLedger(config))
    await dropEarlierStages(attempt)
    const delivered = context.run.is_repair ? null : await deliveredRows(attempt)
    return delivered === null ? await load(attempt) : nothingToDo(session, delivered)
  } catch (error) {
    await session.close()
    throw error
  }
}

async function load(attempt: Attempt): Promise<Delivery> {
  const { session, context, stage } = attempt
  const { config } = context
  const takeOver = await planTakeOver(attempt)
  await session.run(statements.createStage(config, stage))
  let sent = 0
  return {
    async write({ path, index, rows }) {
      await session.run(statements.putFile(config, stage, path, index))
      sent += rows
    },
    async finish() {
      await copyFiles(attempt, sent)
      const rows = await commit(attempt, takeOver, sent)
      await dropStage(attempt)
      await session.close()
      return { rows, files: [] }
    },
    async abort() {
      await dropStage(attempt)
      await session.close()
    },
  }
}

/** For a retry after an attempt that succeeded without hearing of it. */
function nothingToDo(session: Session, rows: number): Delivery {
  return {
    write: async () => {},
    async finish() {
      await session.close()
      return { rows, files: [] }
    },
    abort: () => session.close(),
  }
}

export async function assertWarehouse(session: Session): Promise<void> {
  const [row] = await session.run('SELECT CURRENT_WAREHOUSE() AS "warehouse"')
  // A login that names a missing warehouse succeeds, without a warehouse.
  if (typeof row?.warehouse !== 'string')
    throw new Refused(
      'Snowflake: the warehouse does not exist, or the user may not use it. Correct `warehouse`, or grant USAGE on it.',
    )
}

/** One name for each attempt: whoever still works on an earlier attempt cannot get into this one's rows. */
function stageName({ table_name }: SnowflakeConfig, run_id: string, attempt: number): string {
  return `stage_${table_name}_${run_id.replaceAll('-', '')}_${attempt}`
}

const NAMES_AT_A_TIME = 1000

/** Stages have the id of their run in their name. */
export async function* dropStages(
  session: Session,
  config: SnowflakeConfig,
  runs: readonly SweptRun[],
): AsyncGenerator<Removed> {
  const names = runs.flatMap(({ id, attempt }) =>
    Array.from({ length: attempt }, (_, index) => stageName(config, id, index + 1)),
  )
  for (let at = 0; at < names.length; at += NAMES_AT_A_TIME) {
    const some = names.slice(at, at + NAMES_AT_A_TIME)
    for (const row of await session.run(statements.listTables(config, some.length), [
      config.schema,
      ...some,
    ])) {
      const name = String(row.name)
      await session.run(statements.dropTable(config, name))
      yield { kind: 'staging table', name }
    }
  }
}

/** Drops what earlier attempts could not drop. */
async function dropEarlierStages({ session, context }: Attempt): Promise<void> {
  const { config, run } = context
  for (let earlier = Math.max(1, run.attempt - EARLIER_STAGES); earlier < run.attempt; earlier += 1) {
    await session.run(statements.dropTable(config, stageName(config, run.id, earlier)))
  }
}

/** The stage's files go with it. Statements that create or drop something commit, hence the rollback first. */
async function dropStage({ session, context, stage }: Attempt): Promise<void> {
  const signal = AbortSignal.timeout(ABORT_LIMIT_MS)
  try {
    await session.run('ROLLBACK', [], signal)
    await session.run(statements.dropTable(context.config, stage), [], signal)
  } catch {
    context.log('WARNING', `The table ${stage} could not be dropped: it is of no further use.`)
  }
}

async function deliveredRows({ session, context }: Attempt): Promise<number | null> {
  const [row] = await session.run(statements.findInLedger(context.config), [context.run.id])
  return row === undefined ? null : Number(row.rows)
}

/** The statement, made before anything is sent, so that an unsuitable table is reported at once. */
async function planTakeOver({ session, context, stage }: Attempt): Promise<string> {
  const { config, run, columns } = context
  let types = await columnTypes(session, config)
  if (types.size === 0) {
    await session.run(statements.createTable(config, config.table_name, columns))
    types = await columnTypes(session, config)
  }
  const shared = await columnsInBoth(context, 'The table', (name) => types.has(name))
  return statements.takeOver(config, run, shared, types, stage)
}

/** Empty where there is no table. Times come with their digits, as in `TIMESTAMP_NTZ(9)`. */
export async function columnTypes(
  session: Session,
  config: SnowflakeConfig,
): Promise<ReadonlyMap<string, string>> {
  const rows = await session.run(statements.listColumns(config), [config.schema, config.table_name])
  const types = new Map(rows.map(({ name, type }) => [String(name), String(type)]))
  if (types.size === 0) return types
  for (const { name, type } of await session.run(statements.describeTable(config, config.table_name))) {
    if (String(type).startsWith('TIMESTAMP')) types.set(String(name), String(type))
  }
  return types
}

async function copyFiles({ session, context, stage }: Attempt, sent: number): Promise<void> {
  const files = await session.run(statements.copyFiles(context.config, stage))
  const loaded = files.reduce((sum, file) => sum + Number(file.rows_loaded), 0)
  if (loaded !== sent) throw new Passing(`Snowflake: ${loaded} of ${sent} rows were loaded.`)
}

/** The run's entry in the ledger comes first: an attempt that finds one there adds nothing, unless it is a repair. */
async function commit(attempt: Attempt, takeOver: string, rows: number): Promise<number> {
  const { session, context } = attempt
  const { config, run } = context
  await session.run('BEGIN TRANSACTION')
  const entry = [run.id, run.batch_export_id, config.table_name, rows]
  const [claimed] = await session.run(statements.claimInLedger(config, run), entry)
  const is_ours = Number(claimed?.['number of rows inserted']) === 1
  if (is_ours || run.is_repair) await session.run(takeOver)
  await session.run('COMMIT')
  const delivered = await deliveredRows(attempt)
  if (delivered === null)
    throw new Passing('Snowflake: the table longshore_export_runs lacks the run that was just delivered.')
  return delivered
}
