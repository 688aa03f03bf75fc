// The job that makes a run visible in BigQuery, exactly once. Called by delivery.ts.
import type { JsonObject } from '../../../../lib/json-object.ts'
import type { Attempt, BigQueryApi } from './api.ts'
import { endOfJob, jobFailure, queryParameters } from './jobs.ts'

/**
 * The script runs as a job whose id only this run and its failed predecessors decide on. BigQuery takes each id once:
 * whoever repeats the script after a lost answer, or at the same time, finds the job instead of starting another. That of
 * a repair does the same however often it runs, and must run although the first delivery's has: its id has the attempt.
 */
export async function runMerge(attempt: Attempt, query: string, rows: number): Promise<void> {
  const { api, context, location } = attempt
  const { config, run } = context
  const values = { run_id: run.id, batch_export_id: run.batch_export_id, table_name: config.table_id, rows }
  const configuration = {
    query: { query, useLegacySql: false, parameterMode: 'NAMED', queryParameters: queryParameters(values) },
  }
  for (let failed = 0; ; failed += 1) {
    const job_id = `longshore_${run.id}_${run.is_repair ? `repair${run.attempt}_` : ''}${failed}`
    attempt.merge_job = job_id
    const is_ours = await startJob(api, { jobId: job_id, location }, configuration)
    const failure = jobFailure(await endOfJob(api, job_id, location), api)
    if (failure === null) return
    if (is_ours) throw failure
  }
}

async function startJob(
  api: BigQueryApi,
  reference: JsonObject,
  configuration: JsonObject,
): Promise<boolean> {
  const jobReference = { projectId: api.context.config.project_id, ...reference }
  const { status } = await api.call('/jobs', {
    method: 'POST',
    body: { jobReference, configuration },
    expect: [409],
  })
  return status !== 409
}

/** Asks BigQuery to stop the script; one that has ended stays as it is. */
export async function cancelMerge({ api, location, merge_job }: Attempt): Promise<void> {
  if (merge_job === null) return
  await api.call(`/jobs/${encodeURIComponent(merge_job)}/cancel?location=${encodeURIComponent(location)}`, {
    method: 'POST',
    expect: [404],
  })
  await endOfJob(api, merge_job, location)
}
