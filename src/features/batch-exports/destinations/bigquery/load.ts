// A file of a run on its way into BigQuery's stage: sent from memory, loaded by a job. Called by delivery.ts.
import { readFile } from 'node:fs/promises'
import type { OutputFile } from '../../formats/encoding.ts'
import { Passing } from '../destination.ts'
import type { Attempt } from './api.ts'
import { endOfJob, jobFailure, jobId } from './jobs.ts'
import { objectIn } from '../warehouse/call.ts'

export type Load = { job_id: string; rows: number }

/** Returns once BigQuery has the file; loading it goes on. */
export async function startLoad(
  { api, context, location, stage }: Attempt,
  file: OutputFile,
): Promise<string> {
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

export async function endOfLoad({ api, location }: Attempt, load: Load): Promise<void> {
  const job = await endOfJob(api, load.job_id, location)
  const failure = jobFailure(job, api)
  if (failure !== null) throw failure
  const loaded = Number(objectIn(objectIn(job, 'statistics'), 'load').outputRows)
  if (loaded !== load.rows)
    throw new Passing(`BigQuery: ${loaded} of a file's ${load.rows} rows were loaded.`)
}
