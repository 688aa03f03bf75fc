// Certificates of providers as people paste them, and the mails before they expire.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMember, createOrganization } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { startSmtpServer, type SmtpStandIn } from '../../../test/stand-ins/smtp.ts'
import { sql } from '../../platform/db/sql.ts'
import { jobsAreDone } from '../../platform/jobs/fixture/queue.ts'
import { watchCertificates } from './certificate-expiry.ts'
import { describeCertificates, readCertificates } from './certificates.ts'
import { makeCertificate } from './fixture/certificate.ts'

const one = makeCertificate({ name: 'one', until: new Date('2030-01-01T00:00:00Z') })
const two = makeCertificate({ name: 'two', until: new Date('2055-06-01T12:00:00Z') })

describe('readCertificates', () => {
  it.each([
    ['one', one.pem, 1],
    ['the base64 text of one', one.base64, 1],
    ['the base64 text of one in lines', one.base64.replace(/.{76}/g, '$&\r\n'), 1],
    ['two', one.pem + two.pem, 2],
    ['two with blanks and lines between', `\n ${one.pem}\n\n\t${two.pem.replaceAll('\n', '\r\n')} `, 2],
    ['five', one.pem.repeat(5), 5],
    ['six', one.pem.repeat(6), null],
    ['a private key', one.private_key_pem, null],
    ['a private key behind', one.pem + one.private_key_pem, null],
    ['a private key between', one.pem + one.private_key_pem + two.pem, null],
    ['words between', `${one.pem}and${two.pem}`, null],
    ['a block and base64', `${one.pem}${two.base64}`, null],
    ['a broken second', one.pem + two.pem.replace('M', 'N'), null],
    ['nothing', '', null],
  ])('%s', (_case, text, count) => {
    expect(readCertificates(text)?.length ?? null).toBe(count)
  })

  it('is shown as names and ends', () => {
    expect(describeCertificates(one.pem + two.pem)).toEqual([
      { subject: 'CN=one', expires_at: '2030-01-01T00:00:00.000Z' },
      { subject: 'CN=two', expires_at: '2055-06-01T12:00:00.000Z' },
    ])
    expect(describeCertificates(null)).toEqual([])
    expect(describeCertificates('stored long ago')).toEqual([])
  })
})

describe('watch-certificates', () => {
  const DAY_MS = 24 * 60 * 60 * 1000
  const END = new Date('2030-01-01T00:00:00Z')
  let smtp: SmtpStandIn
  let app: TestApp
  beforeAll(async () => {
    smtp = await startSmtpServer()
    app = await startTestApp({ SMTP_URL: smtp.url })
  })
  afterAll(async () => {
    await app.close()
    await smtp.close()
  })

  it('mails the admins 30 days before, some times more, and never on other days', async () => {
    const { organization, owner } = await createOrganization(app)
    const admin = await createMember(app, organization, { level: 'admin' })
    await createMember(app, organization)
    const add = (name: string, certificate: string | null, verified_at: Date | null) =>
      app.db.run(sql`
        INSERT INTO domain (id, organization_id, domain, verification_challenge, verified_at, saml_x509_cert, created_at, updated_at)
        VALUES (gen_random_uuid(), ${organization.id}, ${name}, 'c', ${verified_at}, ${certificate}, now(), now())`)
    await add('ends.example', two.pem + one.pem, new Date())
    await add('lasts.example', two.pem, new Date())
    await add('none.example', null, new Date())
    await add('broken.example', 'x', new Date())
    await add('unproved.example', one.pem, null)
    for (let days = 40; days >= -2; days--)
      await watchCertificates.handle(app.services, {}, new Date(END.getTime() - (days + 0.5) * DAY_MS))
    await jobsAreDone(app.services)
    const subjectsTo = (address: string) =>
      smtp.mails.filter(({ recipients }) => recipients.includes(address)).map(({ subject }) => subject)
    const ends = ['in 30 days', 'in 14 days', 'in 7 days', 'in 3 days', 'tomorrow']
    const expected = ends.map((end) => `The sign-on certificate of ends.example expires ${end}`)
    for (const { email } of [admin, owner]) expect(subjectsTo(email).toSorted()).toEqual(expected.toSorted())
    expect(smtp.mails).toHaveLength(10)
    expect(smtp.mails[0]!.text).toContain('Take the new certificate from your identity provider')
  })
})
