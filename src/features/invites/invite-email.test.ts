// The invite mail over real SMTP: what it says, where its link leads, and what becomes of it when the server is away.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  createMember,
  createOrganization,
  secretOf,
  type TestUser,
  type Workspace,
} from '../../../test/factories.ts'
import { startTestApp, type Reply, type TestApp } from '../../../test/harness/app.ts'
import { startSmtpServer, type SmtpStandIn } from '../../../test/stand-ins/smtp.ts'
import { sql } from '../../platform/db/sql.ts'
import { endPauses, jobsAreDone, jobsWaitForRetry } from '../../platform/jobs/fixture/queue.ts'

let smtp: SmtpStandIn
let app: TestApp
let workspace: Workspace
let admin: TestUser

beforeAll(async () => {
  smtp = await startSmtpServer()
  app = await startTestApp({ SMTP_URL: smtp.url })
  workspace = await createOrganization(app, { name: 'Acme' })
  admin = await createMember(app, workspace.organization, { level: 'admin' })
})
afterEach(() => smtp.refuse(() => null))
afterAll(async () => {
  await app.close()
  await smtp.close()
})

let count = 0
const address = (name = 'guest') => `${name}-${++count}@guests.example`
const pathOf = (organization: { id: string }) => `/api/organizations/${organization.id}/invites/`
const path = () => pathOf(workspace.organization)
const invite = (fields: object, user: TestUser = workspace.owner): Promise<Reply> =>
  app.post(path(), fields, { key: user.key })
const mailsTo = (recipient: string) => smtp.mails.filter((mail) => mail.recipients.includes(recipient))

describe('the invite mail', () => {
  it('names inviter, organization and expiry, goes to the address, and its link leads to a membership', async () => {
    const target_email = address('Reader')
    const { body } = await invite({ target_email, first_name: 'Rita', level: 8 }, admin)
    const mail = await smtp.waitForMail(target_email)
    expect(mail.recipients).toEqual([target_email])
    expect(mail.to).toEqual([{ name: 'Rita', address: target_email }])
    expect(mail.replyTo).toEqual([{ name: 'Test', address: admin.email }])
    expect(mail.subject).toBe('Test invited you to join Acme on Longshore')
    const until = body.expires_at.slice(0, 16).replace('T', ' ')
    expect(mail.text).toContain(`${until} UTC`)
    expect(mail.html).toContain(`${until} UTC`)
    expect(mail.links).toEqual([expect.stringMatching(/^http:\/\/longshore\.test\/signup\/m[\w-]{65}$/)])
    expect(mail.links[0]).not.toContain(body.id)

    const link = `/api/signup/${mail.links[0]!.split('/').at(-1)}/`
    expect((await app.get(link)).body).toMatchObject({ target_email, organization_name: 'Acme' })
    const password = app.canary.plant('password', 'x9$Kq2!vZ-invited')
    expect((await app.post(link, { first_name: 'Rita', password })).status).toBe(201)
    const members = await app.get(`/api/organizations/${workspace.organization.id}/members/`, {
      key: admin.key,
    })
    expect(members.body.results).toContainEqual(
      expect.objectContaining({ level: 8, user: expect.objectContaining({ email: target_email }) }),
    )
  })

  it('carries the message, and whatever people call themselves, as plain text', async () => {
    const name = '<img src=x onerror=alert(1)>'
    const { organization, owner } = await createOrganization(app, { name: `Org ${name}` })
    await app.patch(
      '/api/users/@me/',
      { first_name: `Olive ${name}\r\nBcc: x@y.example` },
      { key: owner.key },
    )
    const target_email = address()
    const message = 'Dear <b>friend</b> & "all",\n<a href="https://evil.example/">look</a>'
    await app.post(pathOf(organization), { target_email, message }, { key: owner.key })
    const mail = await smtp.waitForMail(target_email)
    expect(mail.text).toContain(message)
    expect(mail.html).toContain('Dear &lt;b&gt;friend&lt;/b&gt; &amp; &quot;all&quot;,<br>&lt;a href=')
    expect(mail.html).not.toMatch(/<img|<b>|<a href="https:\/\/evil/)
    expect(mail.subject).toBe(`Olive ${name} Bcc: x@y.example invited you to join Org ${name} on Longshore`)
    expect(mail.recipients).toEqual([target_email])
    expect(mail.header_names).not.toContain('bcc')
  })

  it('waits for a mail server that is away, which no request notices; deleted and expired invites send nothing', async () => {
    await smtp.close()
    const [kept, deleted, expired] = [address('kept'), address('deleted'), address('expired')]
    const replies = [
      await invite({ target_email: kept }),
      await invite({ target_email: deleted }),
      await invite({ target_email: expired }),
    ]
    for (const { status, body } of replies) expect([status, body.emailing_attempt_made]).toEqual([201, true])
    await jobsWaitForRetry(app.db, 'invite-email', 3)
    await app.delete(`${path()}${replies[1]!.body.id}/`, { key: workspace.owner.key })
    await app.db.run(
      sql`UPDATE invite SET expires_at = ${app.services.now()} WHERE id = ${replies[2]!.body.id}`,
    )
    await smtp.reopen()
    await endPauses(app.db)
    await invite({ target_email: address() })
    await smtp.waitForMail(kept)
    await jobsAreDone(app.services)
    expect([kept, deleted, expired].map((one) => mailsTo(one).length)).toEqual([1, 0, 0])
    expect(await app.services.jobs.countFailed()).toEqual({})
  })

  it('is given up at once when the server will never take it, and costs the others nothing', async () => {
    const [wrong, right] = [address('wrong'), address('right')]
    let asked = 0
    smtp.refuse((recipient) => (recipient === wrong ? (asked++, 550) : null))
    await invite({ target_email: wrong })
    await invite({ target_email: right })
    await smtp.waitForMail(right)
    await jobsAreDone(app.services)
    expect(asked).toBe(1)
    expect(await app.services.jobs.countFailed()).toEqual({ 'invite-email': 1 })
    expect(mailsTo(wrong)).toEqual([])
  })
})

describe('without mail settings', () => {
  it('201 for the link to be passed on by hand: nothing is tried, nothing waits', async () => {
    const quiet = await startTestApp()
    const { organization, owner } = await createOrganization(quiet)
    const reply = await quiet.post(pathOf(organization), { target_email: address() }, { key: owner.key })
    expect(reply).toMatchObject({ status: 201, body: { emailing_attempt_made: false } })
    const again = await quiet.post(`${pathOf(organization)}${reply.body.id}/resend/`, {}, { key: owner.key })
    expect(again).toMatchObject({ status: 200, body: { emailing_attempt_made: false } })
    expect(await quiet.services.jobs.countWaiting()).toEqual({})
    await quiet.close()
  })
})

it('leaves no link in a log line, in the activity log or with a job, whatever happened to it', async () => {
  const secrets = smtp.mails
    .flatMap(({ links }) => links)
    .filter((link) => link.includes('/signup/'))
    .map((link) => secretOf({ link }))
  expect(secrets.length).toBeGreaterThanOrEqual(5)
  const log = app.logs.join('\n')
  const entries = await app.db.rows(sql`
    SELECT row_to_json(activity_log)::text AS entry FROM activity_log
    UNION ALL SELECT row_to_json(job)::text FROM pgboss.job UNION ALL SELECT row_to_json(invite)::text FROM invite`)
  const written = `${log}\n${JSON.stringify(entries)}`
  expect(log).toContain('a background job was given up')
  expect(secrets.filter((secret) => written.includes(secret))).toEqual([])
})
