// One attempt at bringing a run to BigQuery: its files are loaded into a stage of its own, then one script makes them
// visible. Called by bigquery.ts.
import { columnsInBoth } from '../columns-in-both.ts'
import {
  Passing,
  type Delivered,
  type Delivery,
  type DeliveryContext,
  type Removed,
  type SweptRun,
} from '../destination.ts'
import { openApi, type Attempt, type BigQueryApi } from './api.ts'
import { ask } from './jobs.ts'
import type { BigQueryConfig } from './kind.ts'
import { endOfLoad, startLoad, type Load } from './load.ts'
import { cancelMerge, runMerge } from './merge-job.ts'
import { mergeScript, tableName } from './merge-script.ts'
import { LEDGER_TABLE } from '../ledger-name.ts'
import { dropTable, ensureLedger, ensureTable, findLocation, makeStage } from './tables.ts'

type Context = DeliveryContext<BigQueryConfig>

export async function openDelivery(base_url: string, context: Context): Promise<Delivery> {
  const api = openApi(base_url, context)
  const location = await findLocation(api)
  const stage = stageName(context.config, context.run.id, context.run.attempt)
  const attempt: Attempt = { api, context, location, stage, merge_job: null }
  await ensureLedger(api)
  await dropEarlierStages(attempt)
  const delivered = context.run.is_repair ? null : await deliveredRows(attempt)
  if (delivered !== null) return nothingToDo(delivered)
  const merge = await planMerge(attempt)
  await makeStage(api, stage, context.columns)
  const loads: Load[] = []
  return {
    async write(file) {
      loads.push({ job_id: await startLoad(attempt, file), rows: file.rows })
    },
    async finish() {
      for (const load of loads) await endOfLoad(attempt, load)
      await runMerge(
        attempt,
        merge,
        loads.reduce((sum, { rows }) => sum + rows, 0),
      )
      const rows = await deliveredRows(attempt)
      if (rows === null)
        throw new Passing('BigQuery: the table longshore_export_runs lacks the run that was just delivered.')
      await dropQuietly(attempt)
      return { rows, files: [] }
    },
    async abort() {
      // The run's own signal may have been aborted.
      const last = openApi(base_url, { ...context, signal: AbortSignal.timeout(ABORT_LIMIT_MS) })
      await cancelMerge({ ...attempt, api: last }).catch(() => {})
      await dropQuietly({ ...attempt, api: last })
    },
  }
}

const ABORT_LIMIT_MS = 30_000

/** For a retry after an attempt that succeeded without hearing of it. */
function nothingToDo(rows: number): Delivery {
  return {
    write: async () => {},
    finish: async (): Promise<Delivered> => ({ rows, files: [] }),
    abort: async () => {},
  }
}

/** One name for each attempt: whoever still works on an earlier attempt cannot get into this one's rows. */
function stageName({ table_id }: BigQueryConfig, run_id: string, attempt: number): string {
  return `stage_${table_id}_${run_id.replaceAll('-', '')}_${attempt}`
}

/** Stages have the id of their run in their name. */
export async function* dropStages(api: BigQueryApi, run: SweptRun): AsyncGenerator<Removed> {
  for (let attempt = 1; attempt <= run.attempt; attempt += 1) {
    const name = stageName(api.context.config, run.id, attempt)
    if (await dropTable(api, name)) yield { kind: 'staging table', name }
  }
}

const EARLIER_STAGES = 5

/** Drops what earlier attempts could not drop; anything older expires by itself. */
async function dropEarlierStages({ api, context }: Attempt): Promise<void> {
  const { attempt } = context.run
  for (let earlier = Math.max(1, attempt - EARLIER_STAGES); earlier < attempt; earlier += 1) {
    await dropTable(api, stageName(context.config, context.run.id, earlier))
  }
}

async function dropQuietly({ api, context, stage }: Attempt): Promise<void> {
  await dropTable(api, stage).catch(() => {
    context.log('DEBUG', `The table ${stage} could not be dropped; it goes by itself after a week.`)
  })
}

async function deliveredRows({ api, context, location }: Attempt): Promise<number | null> {
  const query = `SELECT \`rows\` FROM ${tableName(context.config, LEDGER_TABLE)} WHERE run_id = @run_id`
  const [row] = await ask(api, location, query, { run_id: context.run.id })
  return row === undefined ? null : Number(row[0])
}

/** The script, made before anything is sent, so that an unsuitable table is reported at once. */
async function planMerge({ api, context, stage }: Attempt): Promise<string> {
  const { config, run, columns } = context
  const types = await ensureTable(api, columns)
  const shared = await columnsInBoth(context, 'The table', (name) => types.has(name.toLowerCase()))
  return mergeScript({ config, run, columns: shared, types, stage })
}
