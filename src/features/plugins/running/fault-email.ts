// The mail about an app that no longer runs, to the admins of the organization: once a day at most, and for code that does
// not load once per version.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import { job } from '../../../platform/jobs/jobs.ts'
import { composeMessage } from '../../../platform/mail/message.ts'
import type { Services } from '../../../platform/services.ts'
import { wantsMailsOfApps } from '../../users/wanted-mails.ts'
import { ruleOf } from '../configs/rules.ts'
import type { OnFailure, PluginConfigRow, PluginRow } from '../rows.ts'
import { CONFIGS } from '../versions/accepted.ts'
import type { AppIds } from './running-app.ts'

const DAY_MS = 86_400_000

/** At rest: still switched on, but its code does not load or set up. */
type Reason = 'at rest' | 'switched off'

export async function enqueueFaultEmails(
  services: Pick<Services, 'jobs' | 'mailer'>,
  tx: Db,
  { project_id, config_id }: AppIds,
  reason: Reason,
  now: Date,
): Promise<void> {
  if (!services.mailer.configured) return
  const since = new Date(now.getTime() - DAY_MS)
  const isFirst = await tx.run(sql`
    UPDATE plugin_config c SET notified_at = ${now} FROM plugin p
    WHERE c.project_id = ${project_id} AND c.id = ${config_id} AND p.id = c.plugin_id
      AND (notified_at IS NULL OR (notified_at <= ${since}
        AND (${reason === 'switched off'} OR notified_at < greatest(c.updated_at, p.updated_at))))`)
  if (isFirst === 0) return
  for (const { email } of await listAdminsOfProject(tx, project_id)) {
    await services.jobs.enqueue(tx, pluginFaultEmail, { email, project_id, config_id, reason })
  }
}

function listAdminsOfProject(tx: Db, project_id: number): Promise<{ email: string }[]> {
  return tx.rows(sql`
    SELECT email FROM project JOIN membership USING (organization_id) JOIN app_user ON app_user.id = user_id
    WHERE project.id = ${project_id} AND level >= 8 AND is_active
      AND ${wantsMailsOfApps} ORDER BY user_id`)
}

type FaultyConfig = Pick<PluginConfigRow, 'on_failure' | 'has_removed'> &
  Pick<PluginRow, 'removes' | 'capabilities'> & { name: string; project_name: string; message: string | null }

/** What becomes of events meanwhile. */
const MEANWHILE: Record<OnFailure, string> = {
  pass: 'Events are stored as they came, without it.',
  hold: 'Events wait for it: they are stored once it runs.',
  drop: 'Events are dropped until it runs.',
}

function meanwhile(config: FaultyConfig): string {
  const { methods } = config.capabilities
  const isForEvents = methods === undefined || methods.includes('processEvent')
  return MEANWHILE[isForEvents ? ruleOf(config, config) : 'pass']
}

export const pluginFaultEmail = job<{
  email: string
  project_id: number
  config_id: number
  reason: Reason
}>({
  name: 'plugin-fault-email',
  async handle(services, { email, project_id, config_id, reason }) {
    const config = await services.db.row<FaultyConfig>(sql`
      SELECT coalesce(nullif(c.name, ''), p.name, 'Unnamed plugin') AS name, project.name AS project_name,
        c.error->>'message' AS message, c.on_failure, c.has_removed, p.removes, p.capabilities
      FROM ${CONFIGS} JOIN project ON project.id = c.project_id
      WHERE c.project_id = ${project_id} AND c.id = ${config_id} AND NOT c.deleted`)
    if (!config) return
    const isOff = reason === 'switched off'
    await services.mailer.send({
      to: { name: '', address: email },
      subject: `App ${config.name} of ${config.project_name} ${isOff ? 'was switched off' : 'does not run'}`,
      ...composeMessage({
        heading: `The app ${config.name} ${isOff ? 'was switched off' : 'does not run'}`,
        paragraphs: [
          `What went wrong: ${config.message ?? 'no reason was given'}`,
          isOff
            ? 'It has hit its limits on time or memory three times within ten minutes. Once the cause is fixed, switch it on again.'
            : `It is tried again as soon as its code or its settings are edited. ${meanwhile(config)}`,
        ],
      }),
    })
  },
})
