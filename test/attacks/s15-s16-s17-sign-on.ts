// Single sign-on that is enforced or claimed by the wrong people, ways round it, and rights that should have ended.
import { expect } from 'vitest'
import { makeCertificate } from '../../src/features/domains/fixture/certificate.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { createMember } from '../factories.ts'
import { attack, attackEach, type Attack } from './attack.ts'
import type { Scene } from './scene.ts'

const PASSWORD = 'long-enough-to-be-strong-7291'
let claimed = 0

async function claim({ call, home }: Scene, domain = `claimed-${++claimed}.example`) {
  const path = `/api/organizations/${home.organization.id}/domains/`
  const made = await call('POST', path, { key: home.owner.key, body: { domain } })
  expect(made.status).toBe(201)
  return { domain, path: `${path}${made.body.id}/`, challenge: made.body.verification_challenge as string }
}

async function prove(scene: Scene, { domain, path, challenge }: Awaited<ReturnType<typeof claim>>) {
  scene.dns.setTxt(`_posthog-challenge.${domain}`, [challenge])
  const { body } = await scene.call('POST', `${path}verify/`, { key: scene.home.owner.key, body: {} })
  expect(body.is_verified).toBe(true)
}

const { pem, private_key_pem } = makeCertificate()
const CERTIFICATES: [string, string][] = [
  ['no certificate', 'not a certificate'],
  ['a private key', private_key_pem],
  ['a private key behind it', `${pem}\n${private_key_pem}`],
  ['six certificates', `${pem}\n`.repeat(6)],
  ['a private key between two', `${pem}\n${private_key_pem}\n${pem}`],
  ['one that is cut off', pem.slice(0, -60)],
  ['an entity', `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${pem}`],
]

const certificates = attackEach<Scene, (typeof CERTIFICATES)[number]>(
  'S15',
  CERTIFICATES,
  ([name]) => `${name} as the certificate of a provider`,
  async (scene, [, saml_x509_cert]) => {
    const { path } = await claim(scene)
    const send = (body: object) => scene.call('PATCH', path, { key: scene.home.owner.key, body })
    const reply = await send({ saml_x509_cert })
    expect(reply).toMatchObject({ status: 400, body: { attr: 'saml_x509_cert' } })
    expect(JSON.stringify(reply.body)).not.toContain('PRIVATE')
    expect((await send({ saml_x509_cert: pem })).status).toBe(200)
  },
)

const enforced = attack<Scene>('S15', 'enforcing SAML, which nobody can sign in with', async (scene) => {
  const made = await claim(scene)
  await prove(scene, made)
  const body = {
    saml_entity_id: 'idp',
    saml_acs_url: 'https://idp.example/',
    saml_x509_cert: pem,
    sso_enforcement: 'saml',
  }
  const reply = await scene.call('PATCH', made.path, { key: scene.home.owner.key, body })
  expect(reply).toMatchObject({ status: 400, body: { attr: 'sso_enforcement' } })
  const { sso_enforcement: _, ...settings } = body
  expect((await scene.call('PATCH', made.path, { key: scene.home.owner.key, body: settings })).status).toBe(
    200,
  )
})

const NEXT = [
  '//evil.example',
  'https://evil.example',
  '/x\r\nset-cookie: a=b',
  'javascript:alert(1)',
  '"><script>alert(1)</script>',
]

/** Where a browser goes after signing in is the console's matter (web/src/sign-in/next.ts); the server sends nobody anywhere. */
const redirects = attackEach<Scene, string>(
  'S16',
  NEXT,
  (next) => `the page to sign in on, with ${JSON.stringify(next)} to go to`,
  async ({ call }, next) => {
    const reply = await call('GET', `/login?next=${encodeURIComponent(next)}`, {})
    expect(reply.status).toBe(200)
    expect(reply.headers).not.toHaveProperty('location')
    expect(reply.headers).not.toHaveProperty('set-cookie')
    expect(String(reply.body)).not.toMatch(/evil|alert/)
  },
)

/** Once single sign-on is enforced, no door takes a password. */
const DOORS: [
  string,
  (scene: Scene, email: string) => Promise<{ status: number; body: { code?: string } }>,
][] = [
  ['signing in', ({ call }, email) => call('POST', '/api/login/', { body: { email, password: PASSWORD } })],
  ['a reset', ({ call }, email) => call('POST', '/api/reset/', { body: { email } })],
  [
    'signing up',
    ({ call }, email) =>
      call('POST', '/api/signup/', {
        body: { first_name: 'N', email: email.replace(/ann/i, 'new'), password: PASSWORD },
      }),
  ],
]

const ways = attackEach<Scene, (typeof DOORS)[number]>(
  'S17',
  DOORS,
  ([name]) => `${name} with a password where single sign-on is enforced`,
  async (scene, [, knock]) => {
    const made = await claim(scene)
    await prove(scene, made)
    await scene.target.db.run(sql`
      UPDATE domain SET sso_enforcement = 'saml', saml_entity_id = 'idp', saml_acs_url = 'https://idp.example/',
        saml_x509_cert = ${pem} WHERE domain = ${made.domain}`)
    const maker = { db: scene.target.db, canary: scene.canary, services: { now: () => new Date() } }
    const email = `ann@${made.domain}`
    await createMember(maker, scene.home.organization, { email })
    for (const spelled of [email, email.toUpperCase(), ` ${email} `])
      expect(await knock(scene, spelled)).toMatchObject({ status: 400, body: { code: 'sso_enforced' } })
    const { email: other, password } = scene.member
    expect((await scene.call('POST', '/api/login/', { body: { email: other, password } })).status).toBe(200)
  },
)

/** Somebody else's domain, in other words. */
const SPELLINGS: [string, (domain: string) => string][] = [
  ['as it is', (domain) => domain],
  ['in capitals', (domain) => domain.toUpperCase()],
  ['with a dot at the end', (domain) => `${domain}.`],
  ['with blanks', (domain) => ` ${domain} `],
]

const takeover = attackEach<Scene, (typeof SPELLINGS)[number]>(
  'S17',
  SPELLINGS,
  ([name]) => `a domain that another organization has proved, ${name}`,
  async (scene, [, spell]) => {
    const { call, victim, target } = scene
    const made = await claim(scene)
    await prove(scene, made)
    // However long ago that was.
    await target.db.run(sql`
      UPDATE domain SET created_at = now() - interval '1 year', last_verification_retry = NULL WHERE domain = ${made.domain}`)
    const theirs = `/api/organizations/${victim.organization.id}/domains/`
    const { key } = victim.owner
    expect((await call('POST', theirs, { key, body: { domain: spell(made.domain) } })).status).toBe(400)
    const own = (await call('POST', theirs, { key, body: { domain: `renamed-${made.domain}` } })).body
    const renamed = await call('PATCH', `${theirs}${own.id}/`, { key, body: { domain: spell(made.domain) } })
    expect(renamed.status).toBe(400)
    // The record of the rightful owner proves nothing for others.
    scene.dns.setTxt(`_posthog-challenge.renamed-${made.domain}`, [made.challenge])
    expect((await call('POST', `${theirs}${own.id}/verify/`, { key, body: {} })).body.is_verified).toBe(false)
    expect((await call('GET', made.path, { key: scene.home.owner.key })).body.is_verified).toBe(true)
  },
)

const ended = attackEach<Scene, [string, (scene: Scene, uuid: string) => Promise<unknown>]>(
  'S17',
  [
    [
      'removed from the organization',
      ({ call, home }, uuid) =>
        call('DELETE', `/api/organizations/${home.organization.id}/members/${uuid}/`, {
          key: home.owner.key,
        }),
    ],
    [
      'switched off',
      ({ target }, uuid) => target.db.run(sql`UPDATE app_user SET is_active = false WHERE uuid = ${uuid}`),
    ],
  ],
  ([name]) => `the keys and sessions of somebody who was ${name}`,
  async (scene, [, end]) => {
    const { call, home } = scene
    const maker = { db: scene.target.db, canary: scene.canary, services: { now: () => new Date() } }
    const user = await createMember(maker, home.organization)
    const path = `/api/projects/${home.project.id}/`
    expect((await call('GET', path, { key: user.key })).status).toBe(200)
    await end(scene, user.uuid)
    for (const credential of [{ key: user.key }, { session: user.session }])
      expect([401, 403, 404]).toContain((await call('GET', path, credential)).status)
    expect((await call('GET', path, { key: scene.member.key })).status).toBe(200)
  },
)

export const attacks: Attack<Scene>[] = [
  ...certificates,
  enforced,
  ...redirects,
  ...ways,
  ...takeover,
  ...ended,
]
