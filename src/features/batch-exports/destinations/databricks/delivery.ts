// One attempt at bringing a run to Databricks: its files go to a folder of a volume, and one statement that can be
// repeated takes their rows over; the ledger is written after it. Called by databricks.ts.
import { columnsInBoth } from '../columns-in-both.ts'
import { Passing, type Delivery, type DeliveryContext } from '../destination.ts'
import { openApi, type DatabricksApi, type WorkspaceUrl } from './api.ts'
import type { DatabricksConfig } from './kind.ts'
import { openSession, type Session } from './session.ts'
import * as statements from './statements.ts'
import { dropFolder, dropIfEmpty, makeFolder, runFolder, uploadFile } from './volume.ts'

type Context = DeliveryContext<DatabricksConfig>
type Attempt = { session: Session; context: Context; folder: string }

const ABORT_LIMIT_MS = 30_000
/** What one COPY INTO takes. */
const FILES_AT_A_TIME = 1000

export async function openDelivery(workspaceUrl: WorkspaceUrl, context: Context): Promise<Delivery> {
  const { config, run } = context
  const api = openApi(workspaceUrl, context)
  const session = openSession(api)
  await session.run(statements.createLedger(config))
  const delivered = run.is_repair ? null : await deliveredRows(session, context)
  if (delivered !== null) {
    await dropQuietly(api, context, runFolder(config, run.id))
    return nothingToDo(delivered)
  }
  await session.run(statements.createVolume(config))
  const taken = await planTake(session, context)
  const has_key = statements.mergeFolder(taken, '') !== null
  // Where rows have no key, files are told apart by their names, which have to be the same at every attempt.
  const folder = `${runFolder(config, run.id)}/${has_key ? run.attempt : 'all'}`
  await makeFolder(api, folder)
  return load(workspaceUrl, { session, context, folder }, taken)
}

function load(
  workspaceUrl: WorkspaceUrl,
  { session, context, folder }: Attempt,
  taken: statements.Taken,
): Delivery {
  const files: string[] = []
  let sent = 0
  return {
    async write(file) {
      files.push(await uploadFile(session.api, folder, file))
      sent += file.rows
    },
    async finish() {
      await takeOver({ session, context, folder }, taken, files)
      const rows = await enterInLedger(session, context, sent)
      // Files of other attempts go only now: a worker that is late must find all of its files or the run delivered.
      await dropQuietly(session.api, context, runFolder(context.config, context.run.id))
      return { rows, files: [] }
    },
    async abort() {
      // The run's own signal may be what made it stop.
      const last = openApi(workspaceUrl, { ...context, signal: AbortSignal.timeout(ABORT_LIMIT_MS) })
      await session.cancel(last).catch(() => {})
      await dropQuietly(last, context, folder)
      await dropIfEmpty(last, runFolder(context.config, context.run.id)).catch(() => {})
    },
  }
}

/** For an attempt after the one that got through without hearing of it. */
function nothingToDo(rows: number): Delivery {
  return { write: async () => {}, finish: async () => ({ rows, files: [] }), abort: async () => {} }
}

async function dropQuietly(api: DatabricksApi, { log }: Context, folder: string): Promise<void> {
  await dropFolder(api, folder).catch(() => {
    log('WARNING', `The folder ${folder} could not be dropped: it is of no further use.`)
  })
}

async function deliveredRows(session: Session, { config, run }: Context): Promise<number | null> {
  const [row] = await session.run(statements.findInLedger(config), { run_id: run.id })
  return row === undefined ? null : Number(row[0])
}

async function enterInLedger(session: Session, context: Context, rows: number): Promise<number> {
  const { config, run } = context
  const entry = { run_id: run.id, batch_export_id: run.batch_export_id, table_name: config.table_name, rows }
  await session.run(statements.enterInLedger(config, run), entry)
  const delivered = await deliveredRows(session, context)
  if (delivered === null)
    throw new Passing('Databricks: the table longshore_export_runs lacks the run that was just delivered.')
  return delivered
}

async function planTake(session: Session, context: Context): Promise<statements.Taken> {
  const { config, run, columns } = context
  let types = await columnTypes(session, config)
  const lacking = columns.filter(({ name }) => !types.has(name.toLowerCase()))
  if (types.size === 0) await session.run(statements.createTable(config, config.table_name, columns))
  else if (lacking.length > 0 && config.use_automatic_schema_evolution) {
    await session.run(statements.addColumns(config, lacking))
  }
  if (lacking.length > 0) types = await columnTypes(session, config)
  const shared = await columnsInBoth(context, 'The table', (name) => types.has(name.toLowerCase()))
  return { config, run, columns: shared, types }
}

/** Empty where there is no table. */
export async function columnTypes(
  session: Session,
  config: DatabricksConfig,
): Promise<ReadonlyMap<string, string>> {
  const rows = await session.run(statements.listColumns(config), {
    schema: config.schema,
    table: config.table_name,
  })
  return new Map(rows.map(([name, type]) => [String(name).toLowerCase(), String(type).toUpperCase()]))
}

async function takeOver(
  { session, folder }: Attempt,
  taken: statements.Taken,
  files: readonly string[],
): Promise<void> {
  const merge = statements.mergeFolder(taken, folder)
  if (merge !== null) {
    await session.run(merge)
    return
  }
  for (let at = 0; at < files.length; at += FILES_AT_A_TIME) {
    await session.run(statements.copyFiles(taken, folder, files.slice(at, at + FILES_AT_A_TIME)))
  }
}
