// What must hold in the database after every crash, whoever asked for what: nothing is ever half there.
import { findBrokenEntry } from '../../src/features/activity-log/chain.ts'
import type { Database } from '../../src/platform/db/database.ts'
import type { Entry } from './ledger.ts'

/** Each statement finds the offenders. */
const RULES: Readonly<Record<string, string>> = {
  'an organization without an owner': `
    SELECT name FROM organization WHERE NOT EXISTS (
      SELECT FROM membership WHERE organization_id = organization.id AND level = 15)`,
  'an organization without a project': `
    SELECT name FROM organization WHERE NOT EXISTS (SELECT FROM project WHERE organization_id = organization.id)`,
  'an organization that was not recorded exactly once': `
    SELECT name FROM organization WHERE 1 <> (
      SELECT count(*) FROM activity_log
      WHERE scope = 'Organization' AND activity = 'created' AND item_id = organization.id::text)`,
  'an organization that is recorded as deleted': `
    SELECT name FROM organization WHERE EXISTS (
      SELECT FROM activity_log WHERE scope = 'Organization' AND activity = 'deleted' AND item_id = organization.id::text)`,
  'a project recorded more than once, or as deleted': `
    SELECT name FROM project WHERE 1 < (
      SELECT count(*) FROM activity_log
      WHERE scope = 'Project' AND activity IN ('created', 'deleted') AND item_id = project.id::text)`,
  'an invite that was not recorded exactly once': `
    SELECT target_email AS name FROM invite WHERE 1 <> (
      SELECT count(*) FROM activity_log
      WHERE scope = 'OrganizationInvite' AND activity = 'created' AND organization_id = invite.organization_id
        AND detail->>'name' = target_email)`,
  'an invite whose mail was not enqueued exactly once': `
    SELECT target_email AS name FROM invite WHERE 1 <> (
      SELECT count(*) FROM (SELECT name, data FROM pgboss.job UNION ALL SELECT name, data FROM pgboss.archive) AS job
      WHERE name = 'invite-email' AND data->>'invite_id' = invite.id::text)`,
  'mails enqueued for more or fewer invites than were recorded': `
    SELECT 'jobs ' || jobs || ', entries ' || entries AS name FROM
      (SELECT count(*) AS jobs FROM
        (SELECT name FROM pgboss.job UNION ALL SELECT name FROM pgboss.archive) AS job WHERE name = 'invite-email') AS counted,
      (SELECT count(*) AS entries FROM activity_log WHERE scope = 'OrganizationInvite' AND activity = 'created') AS recorded
    WHERE jobs <> entries`,
  'a service key that was not recorded exactly once': `
    SELECT label AS name FROM api_key WHERE organization_id IS NOT NULL AND 1 <> (
      SELECT count(*) FROM activity_log
      WHERE scope = 'ServiceAPIKey' AND activity IN ('created', 'deleted') AND item_id = api_key.id)`,
  'a user in no organization': `
    SELECT email AS name FROM app_user WHERE NOT EXISTS (SELECT FROM membership WHERE user_id = app_user.id)`,
  'an idempotent request that was claimed and not answered': `
    SELECT key AS name FROM idempotency_key WHERE sealed_answer IS NULL`,
}

export async function checkInvariants(db: Database, fault: (text: string) => void): Promise<void> {
  for (const [rule, statement] of Object.entries(RULES)) {
    const { rows } = await db.pool.query<{ name: string }>(statement)
    if (rows.length > 0)
      fault(
        `${rule}: ${rows
          .slice(0, 3)
          .map((row) => row.name)
          .join(', ')} (${rows.length})`,
      )
  }
  const broken = await findBrokenEntry(db)
  if (broken) fault(`the chain of the activity log is broken at entry ${broken.id}`)
}

export async function readEntries(db: Database): Promise<Entry[]> {
  const { rows } = await db.pool.query<Entry>(
    'SELECT position, scope, activity, item_id, detail FROM activity_log ORDER BY position',
  )
  return rows
}

/** Statements of the killed server may still be running in PostgreSQL; what they do must be over before anybody looks. */
export async function waitForOldSessions(db: Database, before: Date): Promise<void> {
  const statement = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND backend_start < $1`
  for (const end = Date.now() + 10_000; ;) {
    if ((await db.pool.query(statement, [before])).rowCount === 0) return
    if (Date.now() > end) throw new Error('sessions of the killed server do not end')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
