// The daily look at records of verified domains, with a real name server and a real mail server on loopback.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createMember, createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { until } from '../../../test/harness/until.ts'
import { startDnsServer, type DnsStandIn } from '../../../test/stand-ins/dns.ts'
import { startSmtpServer, type SmtpStandIn } from '../../../test/stand-ins/smtp.ts'
import { sql } from '../../platform/db/sql.ts'
import { recheckDomains } from './recheck.ts'
import type { DomainRow } from './schema.ts'

let dns: DnsStandIn
let smtp: SmtpStandIn
let app: TestApp
beforeAll(async () => {
  dns = await startDnsServer()
  smtp = await startSmtpServer()
  app = await startTestApp({ DNS_SERVERS: dns.address, SMTP_URL: smtp.url })
})
afterAll(async () => {
  await app.close()
  await smtp.close()
  await dns.close()
})
// A domain left over from the last test would be looked at, and mailed about, again.
beforeEach(() => app.db.run(sql`DELETE FROM domain`))

const recheck = (on = app) => recheckDomains.handle(on.services, {}, on.services.now())
const recordName = (domain: string) => `_posthog-challenge.${domain}`
const domainRow = (id: string, on = app) => on.db.only<DomainRow>(sql`SELECT * FROM domain WHERE id = ${id}`)

/** Every address ever told that this domain's record is gone; queued in the transaction that records it. */
async function told(domain: string, on = app): Promise<string[]> {
  const { rows } = await on.db.pool.query<{ email: string }>(
    `SELECT data->>'email' AS email FROM pgboss.job WHERE name = 'domain-record-gone-email' AND data->>'domain' = $1`,
    [domain],
  )
  return rows.map(({ email }) => email).toSorted()
}

async function verifiedDomain(
  { organization, owner }: Workspace,
  on = app,
): Promise<{ id: string; domain: string; path: string }> {
  const base = `/api/organizations/${organization.id}/domains/`
  const as = { key: owner.key }
  const { id, domain, verification_challenge } = (
    await on.post(base, { domain: `d${randomBytes(6).toString('hex')}.example` }, as)
  ).body
  dns.setTxt(recordName(domain), [verification_challenge])
  expect((await on.post(`${base}${id}/verify/`, undefined, as)).body.is_verified).toBe(true)
  return { id, domain, path: `${base}${id}/` }
}

describe('recheck-domains', () => {
  it('leaves a domain alone whose record is there', async () => {
    const { id, domain } = await verifiedDomain(await createOrganization(app))
    const before = await domainRow(id)
    await recheck()
    expect(await domainRow(id)).toEqual(before)
    expect(await told(domain)).toEqual([])
  })

  it.each(['NXDOMAIN', 'NODATA', 'SERVFAIL', 'REFUSED'] as const)(
    'records a missing record (%s) and tells active admins and owners, once, while the domain stays verified',
    async (failure) => {
      const workspace = await createOrganization(app)
      const admin = await createMember(app, workspace.organization, { level: 'admin' })
      await createMember(app, workspace.organization, { level: 'member' })
      const retired = await createMember(app, workspace.organization, { level: 'admin' })
      await app.db.run(sql`UPDATE app_user SET is_active = false WHERE id = ${retired.id}`)
      const { id, domain, path } = await verifiedDomain(workspace)
      dns.setFailure(recordName(domain), failure)

      await recheck()
      const failed = await domainRow(id)
      expect(failed.recheck_failed_at).not.toBeNull()
      expect((await app.get(path, { key: workspace.owner.key })).body.is_verified).toBe(true)
      expect(await told(domain)).toEqual([workspace.owner.email, admin.email].toSorted())
      const mail = await smtp.waitForMail((one) => one.recipients.includes(admin.email))
      expect(mail.subject).toBe(`The DNS record that verified ${domain} is gone`)
      expect(mail.text).toContain(recordName(domain))
      expect(mail.text).toContain('stays verified')

      await recheck()
      expect(await domainRow(id)).toEqual(failed)
      expect(await told(domain)).toHaveLength(2)
    },
  )

  it('counts another value as missing', async () => {
    const { id, domain } = await verifiedDomain(await createOrganization(app))
    dns.setTxt(recordName(domain), ['something else'])
    await recheck()
    expect((await domainRow(id)).recheck_failed_at).not.toBeNull()
  })

  it('forgets the failure once the record is back, and tells of the next one', async () => {
    const workspace = await createOrganization(app)
    const { id, domain } = await verifiedDomain(workspace)
    const { verification_challenge } = await domainRow(id)
    dns.setFailure(recordName(domain), 'NXDOMAIN')
    await recheck()
    dns.setTxt(recordName(domain), [verification_challenge])
    await recheck()
    expect((await domainRow(id)).recheck_failed_at).toBeNull()
    dns.setFailure(recordName(domain), 'NXDOMAIN')
    await recheck()
    expect(await told(domain)).toEqual([workspace.owner.email, workspace.owner.email])
  })

  it('does not look at domains that were never verified', async () => {
    const { organization, owner } = await createOrganization(app)
    const domain = `d${randomBytes(6).toString('hex')}.example`
    await app.post(`/api/organizations/${organization.id}/domains/`, { domain }, { key: owner.key })
    await recheck()
    expect(dns.queries.filter((query) => query.includes(domain))).toEqual([])
  })

  it('draws no conclusion from a name server that does not answer at all', async () => {
    const gone = await startDnsServer()
    await gone.close()
    const cutOff = await startTestApp({ DNS_SERVERS: gone.address, SMTP_URL: smtp.url })
    try {
      const { organization } = await createOrganization(cutOff)
      const id = '01900000-0000-7000-8000-0000000000aa'
      const now = cutOff.services.now()
      await cutOff.db.run(sql`
        INSERT INTO domain (id, organization_id, domain, verification_challenge, verified_at, created_at, updated_at)
        VALUES (${id}, ${organization.id}, 'quiet.example', 'challenge', ${now}, ${now}, ${now})`)
      await recheck(cutOff)
      expect((await domainRow(id, cutOff)).recheck_failed_at).toBeNull()
      expect(await told('quiet.example', cutOff)).toEqual([])
    } finally {
      await cutOff.close()
    }
  })

  it('says nothing about a domain that was renamed while DNS was asked', async () => {
    const workspace = await createOrganization(app)
    const { id, domain, path } = await verifiedDomain(workspace)
    dns.setFailure(recordName(domain), 'SILENT')
    const asked = dns.queries.length
    const running = recheck()
    await until(() => expect(dns.queries.length).toBeGreaterThan(asked))
    expect((await app.patch(path, { domain: `new-${domain}` }, { key: workspace.owner.key })).status).toBe(
      200,
    )
    dns.setFailure(recordName(domain), 'NXDOMAIN')
    await running
    expect((await domainRow(id)).recheck_failed_at).toBeNull()
    expect(await told(domain)).toEqual([])
  })

  it('records without telling where no mail is configured', async () => {
    const mute = await startTestApp({ DNS_SERVERS: dns.address })
    try {
      const { id, domain } = await verifiedDomain(await createOrganization(mute), mute)
      dns.setFailure(recordName(domain), 'NXDOMAIN')
      await recheck(mute)
      expect((await domainRow(id, mute)).recheck_failed_at).not.toBeNull()
      expect(await told(domain, mute)).toEqual([])
    } finally {
      await mute.close()
    }
  })
})
