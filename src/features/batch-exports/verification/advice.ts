// What to do about a problem: the request that heals it. Where an interval is known, it can be sent as it stands.
import type { ExportRow, RunRow } from '../rows.ts'

type Owner = Pick<ExportRow, 'id' | 'project_id'>
type Interval = Pick<RunRow, 'data_interval_start' | 'data_interval_end'>

const pathOf = ({ id, project_id }: Owner) => `/api/projects/${project_id}/batch_exports/${id}`

/** Delivers the interval again, to the same names or keys. */
export function repairAdvice(owner: Owner, interval: Interval | null): string {
  if (!interval)
    return `Repair what the export has delivered: POST ${pathOf(owner)}/repair/ with its start_at and end_at.`
  const { data_interval_start: start_at, data_interval_end: end_at } = interval
  return `Repair the interval: POST ${pathOf(owner)}/repair/ with ${JSON.stringify({ start_at, end_at })}.`
}

export function retryAdvice(owner: Owner, run: string): string {
  return `Retry the run, which removes what it has left: POST ${pathOf(owner)}/runs/${run}/retry/.`
}

export function testAdvice(owner: Owner): string {
  const path = pathOf(owner)
  return `Test the destination: POST ${path}/run_test_step/. Then verify again: POST ${path}/verify/.`
}
