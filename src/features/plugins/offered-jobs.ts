// Jobs that people can start: those that a plugin names, and the export of earlier events for those that can take them.
import { isObject, type JsonObject } from '../../lib/json-object.ts'
import { HISTORICAL_EXPORT } from '../../platform/sandbox/sandbox.ts'
import type { PluginRow } from './rows.ts'

const EXPORT_JOB: JsonObject = {
  payload: {
    dateFrom: { type: 'date', title: 'Export start date', required: true },
    dateTo: { type: 'date', title: 'Export end date', required: true },
  },
}

export function offeredJobs({
  public_jobs,
  capabilities,
}: Pick<PluginRow, 'public_jobs' | 'capabilities'>): unknown {
  const { methods = [], jobs = [] } = capabilities
  if (!methods.includes('exportEvents') || jobs.includes(HISTORICAL_EXPORT)) return public_jobs
  return { [HISTORICAL_EXPORT]: EXPORT_JOB, ...(isObject(public_jobs) ? public_jobs : {}) }
}
