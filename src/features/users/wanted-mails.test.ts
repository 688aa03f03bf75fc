// What people switched off in `notification_settings` does not reach them; what they said nothing about does.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createMember, createOrganization, type TestUser, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { sql, type Statement } from '../../platform/db/sql.ts'
import { announceJoin } from '../members/joined-email.ts'
import { wantsMailsOfApps, wantsMailsOfExports, wantsMailsOfJoining } from './wanted-mails.ts'

let app: TestApp
let workspace: Workspace
let user: TestUser
beforeAll(async () => {
  app = await startTestApp({ SMTP_URL: 'smtp://127.0.0.1:9' })
  workspace = await createOrganization(app)
  user = await createMember(app, workspace.organization)
})
afterAll(() => app.close())

const set = (notification_settings: object) =>
  app.patch('/api/users/@me/', { notification_settings }, { key: user.key })
const wants = async (condition: Statement) =>
  (await app.db.row(sql`SELECT id FROM app_user WHERE id = ${user.id} AND ${condition}`)) !== undefined

it('mails about exports of one project, and about apps', async () => {
  const { id } = workspace.project
  expect([await wants(wantsMailsOfExports(id)), await wants(wantsMailsOfApps)]).toEqual([true, true])
  await set({ pipeline_notifications_disabled: { [id]: true }, plugin_disabled: false })
  expect([await wants(wantsMailsOfExports(id)), await wants(wantsMailsOfApps)]).toEqual([false, false])
  expect(await wants(wantsMailsOfExports(id + 1))).toBe(true)
  await set({ pipeline_notifications_disabled: { [id]: false }, plugin_disabled: true })
  expect([await wants(wantsMailsOfExports(id)), await wants(wantsMailsOfApps)]).toEqual([true, true])
})

it('mails about who joined one organization', async () => {
  const { organization, owner } = workspace
  const other = (await createOrganization(app)).organization
  await set({ organization_member_join_email_disabled: { [organization.id]: true } })
  expect(await wants(wantsMailsOfJoining(other.id))).toBe(true)
  const joined = await createMember(app, organization)
  await app.db.transaction((tx) =>
    announceJoin(app.services, tx, { id: organization.id, is_member_join_email_enabled: true }, joined.id),
  )
  const jobs = await app.db.rows<{ recipient: number }>(sql`
    SELECT (data->>'recipient_id')::int AS recipient FROM pgboss.job WHERE name = 'joined-email'`)
  expect(jobs.map(({ recipient }) => recipient)).toEqual([owner.id])
})
