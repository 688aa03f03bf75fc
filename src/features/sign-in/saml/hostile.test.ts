// Answers of providers, forged and misdirected ones above all: none of them lets anybody in, and each leaves a record that
// says why in words.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HOSTILE_ANSWERS } from '../../../../test/attacks/saml/answers.ts'
import { fieldOf, saying } from '../../../../test/attacks/saml/hostile-answer.ts'
import { createMember, createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import {
  encode,
  mintAnswer,
  openIdentityProvider,
  type IdentityProvider,
  type Said,
} from '../../../../test/stand-ins/identity-provider.ts'
import { beginSignIn, postAnswer, refusalOf, type Begun } from '../../../../test/stand-ins/saml-browser.ts'
import { sql } from '../../../platform/db/sql.ts'
import { makeCertificate } from '../../domains/fixture/certificate.ts'
import type { DomainRow } from '../../domains/schema.ts'
import type { RecordRow } from '../provider/records.ts'
import { addSamlDomain } from './fixture/domain.ts'
import { forgetOldAssertions } from './queries.ts'

const SITE = 'http://longshore.test'

let app: TestApp
let workspace: Workspace
let idp: IdentityProvider
let domain: DomainRow

beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  idp = openIdentityProvider('idp.example')
  domain = await addSamlDomain(app.db, workspace.organization.id, 'acme.example', idp)
  await createMember(app, workspace.organization, { email: 'victim@acme.example' })
})
afterAll(() => app.close())

const underWay = (request_id: string, provider = idp) => ({
  idp: provider,
  site_url: SITE,
  request_id,
  victim: 'victim@acme.example',
  mallory: 'mallory@acme.example',
})
const say = async (begun: Begun, changes: Partial<Said> = {}, provider = idp) =>
  encode(await mintAnswer(saying(underWay(begun.request_id, provider), changes)))
const begin = (id = domain.id) => beginSignIn(app.call, { domain: id })
const recordOf = (id: string) => app.db.only<RecordRow>(sql`SELECT * FROM sign_in_record WHERE id = ${id}`)

/** Everything that a sign-in could leave behind. */
async function traces() {
  return app.db.only(sql`
    SELECT (SELECT count(*) FROM app_user) AS users, (SELECT count(*) FROM session) AS sessions,
      (SELECT count(*) FROM identity) AS identities, (SELECT count(*) FROM membership) AS memberships`)
}

async function expectRefused(attempt: () => ReturnType<typeof postAnswer>, code: string, says: RegExp) {
  const before = await traces()
  const reply = await attempt()
  expect(reply).toMatchObject({ status: 303, session: undefined })
  const refusal = refusalOf(reply)
  expect(refusal.code).toBe(code)
  const record = await recordOf(refusal.id!)
  const wrong = record.checks.filter(({ is_passed }) => !is_passed).map(({ message }) => message)
  expect(wrong.join('\n')).toMatch(says)
  expect(await traces()).toEqual(before)
  return record
}

describe('hostile answers', () => {
  it('are more than sixty, and an honest one is let in', async () => {
    expect(HOSTILE_ANSWERS.length).toBeGreaterThanOrEqual(60)
    const begun = await begin()
    const attributes = { email: 'honest@acme.example' }
    const reply = await postAnswer(
      app.call,
      begun,
      await say(begun, { attributes, name_id: 'honest@acme.example' }),
    )
    expect(reply).toMatchObject({ status: 303, headers: { location: '/' }, session: expect.any(String) })
  })

  it.each(HOSTILE_ANSWERS.map((answer) => [answer.name, answer] as const))('%s', async (_name, answer) => {
    const begun = await begin()
    const field = await fieldOf(answer, underWay(begun.request_id))
    const record = await expectRefused(
      () => postAnswer(app.call, begun, field),
      answer.code ?? 'answer_not_accepted',
      answer.says,
    )
    expect(record).toMatchObject({
      domain_id: domain.id,
      provider: 'saml',
      purpose: 'sign-in',
      user_id: null,
    })
  })
})

describe('an answer in the wrong place', () => {
  it('of a request that nobody made, or that was answered', async () => {
    const begun = await begin()
    const unknown = await say({ ...begun, request_id: '_unknown' })
    await expectRefused(
      () => postAnswer(app.call, begun, unknown),
      'attempt_unknown',
      /unknown, too old or answered/,
    )
    const field = await say(begun)
    expect((await postAnswer(app.call, begun, field)).session).toEqual(expect.any(String))
    await expectRefused(() => postAnswer(app.call, begun, field), 'attempt_unknown', /answered already/)
  })

  it('of a request that is ten minutes old', async () => {
    const begun = await begin()
    app.advance(10 * 60_000)
    const field = await say(begun)
    await expectRefused(() => postAnswer(app.call, begun, field), 'attempt_unknown', /too old/)
    app.advance(-10 * 60_000)
  })

  it('in another browser than the one that began', async () => {
    const begun = await begin()
    const other = await begin()
    const field = await say(begun)
    for (const cookie of ['', other.cookie]) {
      const reply = await postAnswer(app.call, { ...begun, cookie }, field)
      expect([refusalOf(reply).code, reply.session]).toEqual([
        cookie === '' ? 'other_browser' : 'attempt_unknown',
        undefined,
      ])
    }
  })

  it('of the provider of another tenant', async () => {
    const rival = await createOrganization(app)
    const theirs = openIdentityProvider('idp.rival.example')
    const own = await addSamlDomain(app.db, rival.organization.id, 'rival.example', theirs)
    const saysVictim = { attributes: { email: 'victim@acme.example' }, name_id: 'victim@acme.example' }
    // Its own sign-in, about our people.
    const begun = await begin(own.id)
    const forged = await say(begun, saysVictim, theirs)
    await expectRefused(
      () => postAnswer(app.call, begun, forged),
      'email_not_in_domain',
      /is not in rival\.example/,
    )
    // Our sign-in, answered by it; under our name as well.
    for (const issuer of [theirs.entity_id, idp.entity_id]) {
      const ours = await begin()
      const field = await say(ours, { ...saysVictim, issuer }, theirs)
      await expectRefused(
        () => postAnswer(app.call, ours, field),
        'answer_not_accepted',
        /not made with a certificate/,
      )
    }
    // Its sign-in with our domain in the relay state: the attempt decides.
    const mixed = await begin(own.id)
    const field = await say(mixed, saysVictim, idp)
    await expectRefused(
      () => postAnswer(app.call, { ...mixed, relay_state: domain.id }, field),
      'answer_not_accepted',
      /not made with a certificate/,
    )
  })

  it('by a certificate that has expired', async () => {
    const until = new Date(Date.now() - 60_000)
    const certificate = makeCertificate({ type: 'rsa', until })
    const late = { ...openIdentityProvider('late.example'), certificate }
    const own = await addSamlDomain(app.db, workspace.organization.id, 'late.example', late)
    const begun = await begin(own.id)
    const field = await say(begun, { attributes: { email: 'a@late.example' } }, late)
    await expectRefused(
      () => postAnswer(app.call, begun, field),
      'answer_not_accepted',
      /expired on .*saml_x509_cert/,
    )
  })
})

describe('answers that nobody asked for', () => {
  const unasked = (provider: IdentityProvider, changes: Partial<Said> = {}) =>
    mintAnswer(saying(underWay('', provider), { request_id: null, ...changes })).then(encode)

  it('are refused unless the domain allows them', async () => {
    const field = await unasked(idp)
    const post = (relay_state: string) => postAnswer(app.call, { relay_state, cookie: '' }, field)
    await expectRefused(() => post(domain.id), 'answer_not_accepted', /saml_allow_idp_initiated/)
    // What belongs to no domain is refused too; there is nobody to keep a record for.
    const before = await traces()
    for (const relay_state of ['nonsense', '']) {
      const reply = await post(relay_state)
      expect([refusalOf(reply).code, reply.session]).toEqual(['answer_not_accepted', undefined])
    }
    expect(await traces()).toEqual(before)
  })

  it('let people in once each where the domain allows them', async () => {
    const open = openIdentityProvider('open.example')
    const own = await addSamlDomain(app.db, workspace.organization.id, 'open.example', open, {
      idp_initiated: true,
    })
    const form = { relay_state: own.id, cookie: '' }
    const about = { attributes: { email: 'ann@open.example' }, name_id: 'ann@open.example' }
    const field = await unasked(open, about)
    const reply = await postAnswer(app.call, form, field)
    expect(reply).toMatchObject({ headers: { location: '/' }, session: expect.any(String) })
    await expectRefused(() => postAnswer(app.call, form, field), 'answer_not_accepted', /used before/)
    // Once it has expired by itself, it need not be remembered.
    app.advance(361_000)
    await expectRefused(() => postAnswer(app.call, form, field), 'answer_not_accepted', /too old/)
    // Unless the clock was wrong.
    await forgetOldAssertions(app.db, app.services.now())
    app.advance(-361_000)
    await expectRefused(() => postAnswer(app.call, form, field), 'answer_not_accepted', /used before/)
    // One that belongs to a request is none that the provider began.
    const asked = await unasked(open, {
      ...about,
      edit: (xml) => xml.replace(' Recipient=', ' InResponseTo="_x" Recipient='),
    })
    await expectRefused(() => postAnswer(app.call, form, asked), 'answer_not_accepted', /does not belong/)
  })
})
