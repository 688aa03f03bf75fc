// A job of an app, started by hand: it waits in the table until the clockwork takes it.
import { invalid } from '../../../platform/http/errors.ts'
import { recordConfigActivity } from '../activity.ts'
import { offeredJobs } from '../offered-jobs.ts'
import { addJob } from '../running/job-queries.ts'
import { namedConfig, type Change } from './create.ts'
import type { Addressed } from './place.ts'
import { readJob } from './public-jobs.ts'
import { lockConfig } from './queries.ts'

const MAX_WAITING = 1000

export async function startJob(change: Change, addressed: Addressed, sent: unknown): Promise<void> {
  const { db, caller, now } = change
  const { project, plugin, row } = addressed
  const { name, payload } = readJob(offeredJobs(plugin), sent, caller?.user?.is_staff ?? false)
  await db.transaction(async (tx) => {
    // Two at once must not both be the thousandth.
    await lockConfig(tx, project.id, row.id)
    const job = { name, payload: JSON.stringify(payload), run_at: now }
    const ids = { project_id: project.id, config_id: row.id }
    if (!(await addJob(tx, ids, job, MAX_WAITING, now))) {
      throw invalid('job', 'invalid_input', `${MAX_WAITING} jobs of this config are waiting already.`)
    }
    const started = {
      type: 'PluginConfig',
      action: 'created',
      field: 'job',
      before: null,
      after: name,
    } as const
    await recordConfigActivity(tx, change, project.organization_id, namedConfig(row, plugin), {
      activity: 'job_triggered',
      changes: [started],
    })
  })
}
