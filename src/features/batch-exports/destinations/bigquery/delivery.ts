// One attempt at bringing a run to BigQuery: its files are loaded into a stage of its own, then one script makes them
// visible. Called by bigquery.ts.
import { readFile } from 'node:fs/promises'
import type { JsonObject } from '../../../../lib/json-object.ts'
import type { OutputFile } from '../../formats/encoding.ts'
import { Passing, type Delivered, type Delivery, type DeliveryContext } from '../destination.ts'
import { openApi, type BigQueryApi } from './api.ts'
import { ask, endOfJob, jobFailure, jobId, queryParameters } from './jobs.ts'
import type { BigQueryConfig } from './kind.ts'
import { mergeScript, tableName } from './merge-script.ts'
import { columnsInBoth, LEDGER_TABLE } from './merge.ts'
import { objectIn } from './reach.ts'
import { dropTable, ensureLedger, ensureTable, findLocation, makeStage } from './tables.ts'

type Context = DeliveryContext<BigQueryConfig>
type Load = { job_id: string; rows: number }
type Attempt = { api: BigQueryApi; context: Context; location: string; stage: string }

export async function openDelivery(base_url: string, context: Context): Promise<Delivery> {
  const api = openApi(base_url, context)
  const location = await findLocation(api)
  const attempt = { api, context, location, stage: stageName(context, context.run.attempt) }
  await ensureLedger(api)
  await dropEarlierStages(attempt)
  const delivered = await deliveredRows(attempt)
  if (delivered !== null) return nothingToDo(delivered)
  const merge = await planMerge(attempt)
  await makeStage(api, attempt.stage, context.columns)
  const loads: Load[] = []
  return {
    async write(file) {
      loads.push({ job_id: await startLoad(attempt, file), rows: file.rows })
    },
    async finish() {
      for (const load of loads) await endOfLoad(attempt, load)
      await runMerge(attempt, merge, loads.reduce((sum, { rows }) => sum + rows, 0))
      const rows = await deliveredRows(attempt)
      if (rows === null) throw new Passing('BigQuery: the run is not in its ledger.')
      await dropQuietly(attempt)
      return { rows, files: [] }
    },
    async abort() {
      // The run's own signal may be what made it stop.
      const last = openApi(base_url, { ...context, signal: AbortSignal.timeout(ABORT_LIMIT_MS) })
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

/** Returns once BigQuery has the file; loading it goes on. */
async function startLoad({ api, context, location, stage }: Attempt, file: OutputFile): Promise<string> {
  const { project_id, dataset_id } = context.config
  const job = {
    jobReference: { projectId: project_id, location },
    configuration: {
      load: {
        destinationTable: { projectId: project_id, datasetId: dataset_id, tableId: stage },
        sourceFormat: 'NEWLINE_DELIMITED_JSON',
        createDisposition: 'CREATE_NEVER',
        writeDisposition: 'WRITE_APPEND',
      },
    },
  }
  const boundary = `longshore-${context.run.id}`
  const parts = [
    `--${boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n${JSON.stringify(job)}\r\n`,
    `--${boundary}\r\nContent-Type: application/octet-stream\r\n\r\n`,
  ]
  const body = Buffer.concat([
    Buffer.from(parts.join('')),
    await readFile(file.path),
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ])
  return jobId(await api.upload(body, boundary))
}

async function endOfLoad({ api, location }: Attempt, load: Load): Promise<void> {
  const job = await endOfJob(api, load.job_id, location)
  const failure = jobFailure(job, api)
  if (failure !== null) throw failure
  const loaded = Number(objectIn(objectIn(job, 'statistics'), 'load').outputRows)
  if (loaded !== load.rows) throw new Passing(`BigQuery: ${loaded} of a file's ${load.rows} rows were loaded.`)
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

/**
 * The script runs as a job whose id only this run and its failed predecessors decide on. BigQuery takes each id once:
 * whoever repeats the script after a lost answer, or at the same time, finds the job instead of starting another.
 */
async function runMerge({ api, context, location }: Attempt, query: string, rows: number): Promise<void> {
  const { config, run } = context
  const values = { run_id: run.id, batch_export_id: run.batch_export_id, table_name: config.table_id, rows }
  const configuration = {
    query: { query, useLegacySql: false, parameterMode: 'NAMED', queryParameters: queryParameters(values) },
  }
  for (let failed = 0; ; failed += 1) {
    const job_id = `longshore_${run.id}_${failed}`
    const is_ours = await startJob(api, { jobId: job_id, location }, configuration)
    const failure = jobFailure(await endOfJob(api, job_id, location), api)
    if (failure === null) return
    if (is_ours) throw failure
  }
}

async function startJob(api: BigQueryApi, reference: JsonObject, configuration: JsonObject): Promise<boolean> {
  const jobReference = { projectId: api.context.config.project_id, ...reference }
  const { status } = await api.call('/jobs', {
    method: 'POST',
    body: { jobReference, configuration },
    expect: [409],
  })
  return status !== 409
}
