// One attempt at bringing a run to BigQuery: its files are loaded into a stage of its own, then one script makes them
// visible. Called by bigquery.ts.
import { Passing, type Delivered, type Delivery, type DeliveryContext } from '../destination.ts'
import { openApi, type Attempt } from './api.ts'
import { ask } from './jobs.ts'
import type { BigQueryConfig } from './kind.ts'
import { endOfLoad, startLoad, type Load } from './load.ts'
import { cancelMerge, runMerge } from './merge-job.ts'
import { mergeScript, tableName } from './merge-script.ts'
import { LEDGER_TABLE } from '../ledger-name.ts'
import { columnsInBoth } from '../warehouse/merge.ts'
import { dropTable, ensureLedger, ensureTable, findLocation, makeStage } from './tables.ts'

type Context = DeliveryContext<BigQueryConfig>

export async function openDelivery(base_url: string, context: Context): Promise<Delivery> {
  const api = openApi(base_url, context)
  const location = await findLocation(api)
  const stage = stageName(context, context.run.attempt)
  const attempt: Attempt = { api, context, location, stage, merge_job: null }
  await ensureLedger(api)
  await dropEarlierStages(attempt)
  const delivered = await deliveredRows(attempt)
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
      if (rows === null) throw new Passing('BigQuery: the run is not in its ledger.')
      await dropQuietly(attempt)
      return { rows, files: [] }
    },
    async abort() {
      // The run's own signal may be what made it stop.
      const last = openApi(base_url, { ...context, signal: AbortSignal.timeout(ABORT_LIMIT_MS) })
      await cancelMerge({ ...attempt, api: last }).catch(() => {})
      await dropQuietly({ ...attempt, api: last })
    },
  }
}

const ABORT_LIMIT_MS = 30_000

/** For an attempt after the one that got through without hearing of it. */
function nothingToDo(rows: number): Delivery {
  return {
    write: async () => {},
    finish: async (): Promise<Delivered> => ({ rows, files: [] }),
    abort: async () => {},
  }
}

/** Of an attempt: whoever still works on an earlier one cannot get into this one's rows. */
function stageName({ config, run }: Context, attempt: number): string {
  return `stage_${config.table_id}_${run.id.replaceAll('-', '')}_${attempt}`
}

const EARLIER_STAGES = 5

/** What attempts before this one could not drop; anything older goes by itself. */
async function dropEarlierStages({ api, context }: Attempt): Promise<void> {
  const { attempt } = context.run
  for (let earlier = Math.max(1, attempt - EARLIER_STAGES); earlier < attempt; earlier += 1) {
    await dropTable(api, stageName(context, earlier))
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

/** The script, fixed before anything is sent: what a table makes impossible is said at once. */
async function planMerge({ api, context, stage }: Attempt): Promise<string> {
  const { config, run, columns, log } = context
  const types = await ensureTable(api, columns)
  const shared = columnsInBoth(
    columns,
    (name) => types.has(name.toLowerCase()),
    (message) => log('WARNING', message),
  )
  return mergeScript({ config, run, columns: shared, types, stage })
}
