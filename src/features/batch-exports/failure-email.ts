// The mail about a failed run, to the admins of the organization: at the first failure, then once a day at most.
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import { job } from '../../platform/jobs/jobs.ts'
import { composeMessage } from '../../platform/mail/message.ts'
import type { Services } from '../../platform/services.ts'
import { wantsMailsOfExports } from '../users/wanted-mails.ts'
import type { ExportRow } from './rows.ts'

const DAY_MS = 86_400_000

type Failure = { run_id: string; row: ExportRow; is_paused: boolean }

export async function enqueueFailureEmails(
  services: Pick<Services, 'jobs' | 'mailer'>,
  tx: Db,
  { run_id, row, is_paused }: Failure,
  now: Date,
): Promise<void> {
  if (!services.mailer.configured) return
  const since = new Date(now.getTime() - DAY_MS)
  const isFirst = await tx.run(sql`
    UPDATE batch_export SET notified_at = ${now}
    WHERE project_id = ${row.project_id} AND id = ${row.id}
      AND (notified_at IS NULL OR notified_at <= ${since} OR ${is_paused})`)
  if (isFirst === 0) return
  for (const { email } of await listAdminsOfProject(tx, row.project_id)) {
    await services.jobs.enqueue(tx, exportFailedEmail, {
      email,
      project_id: row.project_id,
      run_id,
      is_paused,
    })
  }
}

function listAdminsOfProject(tx: Db, project_id: number): Promise<{ email: string }[]> {
  return tx.rows(sql`
    SELECT email FROM project JOIN membership USING (organization_id) JOIN app_user ON app_user.id = user_id
    WHERE project.id = ${project_id} AND level >= 8 AND is_active
      AND ${wantsMailsOfExports(project_id)} ORDER BY user_id`)
}

type FailedRun = {
  batch_export_id: string
  name: string
  project_name: string
  data_interval_end: Date
  latest_error: string | null
}

export const exportFailedEmail = job<{
  email: string
  project_id: number
  run_id: string
  is_paused: boolean
}>({
  name: 'export-failed-email',
  async handle(services, { email, project_id, run_id, is_paused }) {
    const run = await services.db.row<FailedRun>(sql`
      SELECT batch_export_id, batch_export.name, project.name AS project_name, data_interval_end, latest_error
      FROM batch_export_run AS run JOIN batch_export ON batch_export.id = run.batch_export_id
      JOIN project ON project.id = run.project_id
      WHERE run.project_id = ${project_id} AND run.id = ${run_id} AND deleted_at IS NULL`)
    if (!run) return
    const interval = run.data_interval_end.toISOString().slice(0, 16).replace('T', ' ')
    await services.mailer.send({
      to: { name: '', address: email },
      subject: `Export ${run.name} of ${run.project_name} ${is_paused ? 'was paused' : 'failed'}`,
      ...composeMessage({
        heading: `The export ${run.name} has failed`,
        paragraphs: [
          `The run for the interval that ended ${interval} UTC failed: ${run.latest_error ?? 'no reason was given'}`,
          is_paused
            ? 'Too many runs have failed, so the export is paused. Once the cause is fixed, unpause it and backfill what was missed.'
            : 'Later intervals are still tried. Nothing is lost: once the cause is fixed, the run can be retried.',
        ],
        button: {
          label: 'See the run',
          url: `${services.settings.site_url}/project/${project_id}/exports/${run.batch_export_id}/runs?run=${run_id}`,
        },
      }),
    })
  },
})
