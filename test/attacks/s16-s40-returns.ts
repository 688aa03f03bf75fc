// Answers of OpenID providers that are stolen, mixed up, or brought to the wrong place; and where people are led afterwards.
import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { sql } from '../../src/platform/db/sql.ts'
import { createMember } from '../factories.ts'
import type { Person } from '../stand-ins/openid-provider.ts'
import { attack, attackEach, type Attack } from './attack.ts'
import { personOf, type SignOnScene } from './sign-on-scene.ts'

type Turn = (scene: SignOnScene, good: { back: URL; cookie: string; person: Person }) => Promise<unknown>

const withParameter = (back: URL, name: string, value: string | null) => {
  const url = new URL(back)
  if (value === null) url.searchParams.delete(name)
  else url.searchParams.set(name, value)
  return url
}
const sent =
  (name: string, value: string | null): Turn =>
  async (scene, { back, cookie }) =>
    scene.expectOutside(await scene.comeBack(withParameter(back, name, value), cookie))

/** What browsers bring back, or have brought to them. */
const RETURNS: [string, Turn][] = [
  [
    'in a browser that began nothing',
    async (scene, { back }) => scene.expectOutside(await scene.comeBack(back, null)),
  ],
  [
    'in the browser of somebody who began another',
    async (scene, { back }) => {
      const { cookie } = await scene.begin(scene.shared)
      await scene.expectOutside(await scene.comeBack(back, cookie))
    },
  ],
  [
    'with the cookie of another sign-in under its name',
    async (scene, { back, cookie }) => {
      const theirs = (await scene.begin(scene.shared)).cookie.split('=')[1]
      await scene.expectOutside(await scene.comeBack(back, `${cookie.split('=')[0]}=${theirs}`))
    },
  ],
  ['with a state that nobody has', sent('state', 's'.repeat(43))],
  ['without a state', sent('state', null)],
  [
    'with two states',
    async (scene, { back, cookie }) =>
      scene.expectOutside(await scene.comeBack(new URL(`${back.href}&state=two`), cookie)),
  ],
  ['without a code', sent('code', null)],
  ['with a code that nobody has', sent('code', 'guessed')],
  [
    'with two codes',
    async (scene, { back, cookie }) =>
      scene.expectOutside(await scene.comeBack(new URL(`${back.href}&code=two`), cookie)),
  ],
  ['with a code of 7,000 letters', sent('code', 'c'.repeat(7_000))],
  ['of another issuer', sent('iss', 'https://evil.example')],
  ['of nobody, where the provider names itself', sent('iss', null)],
  ['with an error beside the code', sent('error', 'access_denied')],
  [
    'with markup in its error',
    async (scene, { back, cookie }) => {
      const markup = withParameter(
        withParameter(back, 'error', '<script>alert(1)</script>'),
        'error_description',
        '"><img src=x>',
      )
      const reply = await scene.comeBack(markup, cookie)
      await scene.expectOutside(reply)
      expect(String(reply.headers.location)).not.toMatch(/script|img|%3C/i)
    },
  ],
  [
    'with tokens in the address in place of a code',
    async (scene, { back, cookie }) => {
      const url = withParameter(withParameter(back, 'code', null), 'id_token', 'a.b.c')
      await scene.expectOutside(await scene.comeBack(withParameter(url, 'access_token', 'x'), cookie))
    },
  ],
  [
    'to the address of another provider',
    async (scene, { back, cookie }) => {
      for (const path of ['/complete/google-oauth2/', '/complete/github/', '/complete/gitlab/'])
        await scene.expectOutside(await scene.comeBack(new URL(`${path}${back.search}`, back), cookie))
    },
  ],
  [
    'to the address of a domain, where the shared one was asked for',
    async (scene, { back, cookie }) => {
      const url = new URL(`/complete/oidc/${scene.shared.id}/${back.search}`, back)
      await scene.expectOutside(await scene.comeBack(url, cookie))
    },
  ],
  [
    'eleven minutes later',
    async (scene, { back, cookie }) => {
      await scene.target.db.run(sql`UPDATE sign_in_attempt SET expires_at = now() - interval '1 minute'`)
      await scene.expectOutside(await scene.comeBack(back, cookie))
    },
  ],
  [
    'with the code of another sign-in, which its provider gave',
    async (scene, { back, cookie }) => {
      const { url } = await scene.begin(scene.shared)
      const stolen = scene.shared.provider.signIn(url, personOf(scene.shared))
      await scene.expectOutside(
        await scene.comeBack(withParameter(back, 'code', stolen.searchParams.get('code')), cookie),
      )
    },
  ],
]

const returned = attackEach<SignOnScene, (typeof RETURNS)[number]>(
  'S40',
  RETURNS,
  ([name]) => `an answer that comes back ${name}`,
  async (scene, [, turn]) => {
    const { shared } = scene
    const person = personOf(shared)
    const { url, cookie } = await scene.begin(shared)
    const back = shared.provider.signIn(url, person)
    await turn(scene, { back, cookie, person })
    const account = await scene.target.db.row(sql`SELECT FROM app_user WHERE email = ${person.email}`)
    expect(account).toBeUndefined()
    await scene.expectGood(shared)
  },
)

const replayed = attack<SignOnScene>('S40', 'an answer that was used before', async (scene) => {
  const { shared } = scene
  const person = personOf(shared)
  const { url, cookie } = await scene.begin(shared)
  const back = shared.provider.signIn(url, person)
  expect((await scene.comeBack(back, cookie)).session).toBeDefined()
  await scene.expectOutside(await scene.comeBack(back, cookie))
  const next = await scene.begin(shared)
  const state = new URL(next.url).searchParams.get('state')
  await scene.expectOutside(await scene.comeBack(withParameter(back, 'state', state), next.cookie))
})

const crossed = attack<SignOnScene>(
  'S40',
  "another tenant's provider with addresses of this one",
  async (scene) => {
    const theirs = await scene.newDomain()
    for (const email of [
      scene.member.email,
      scene.victim.owner.email,
      personOf(scene.shared).email as string,
    ]) {
      const reply = await scene.signIn(theirs, { sub: 'anybody', email, email_verified: true })
      await scene.expectOutside(reply)
    }
    await scene.expectGood(theirs)
  },
)

const mixed = attack<SignOnScene>(
  'S40',
  'a code of one provider that another would be sent',
  async (scene) => {
    const evil = await scene.newDomain()
    const { shared } = scene
    const lured = await scene.begin(evil)
    const aimed = new URL((await scene.begin(shared)).url)
    aimed.searchParams.set('state', new URL(lured.url).searchParams.get('state')!)
    const stolen = shared.provider.signIn(aimed.href, personOf(shared))
    await scene.expectOutside(await scene.comeBack(stolen, lured.cookie))
    expect(evil.provider.requests.filter(({ path }) => path === '/token')).toEqual([])
    await scene.expectGood(shared)
  },
)

const NEXT = [
  '//evil.example',
  'https://evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  'javascript:alert(1)',
  '/%0d%0aset-cookie:a=b',
]

const led = attackEach<SignOnScene, string>(
  'S16',
  NEXT,
  (next) => `signing in through a provider, with ${JSON.stringify(next)} to go to`,
  async (scene, next) => {
    const { shared } = scene
    const { url, cookie } = await scene.begin(shared, `&next=${encodeURIComponent(next)}`)
    const reply = await scene.comeBack(shared.provider.signIn(url, personOf(shared)), cookie)
    expect(reply.session).toBeDefined()
    const at = new URL(String(reply.headers.location), 'http://longshore.test')
    expect(at.origin).toBe('http://longshore.test')
    expect(String(reply.headers.location)).toMatch(/^\/(?![/\\])/)
  },
)

/** Admins set providers up, and their provider may say what they like. */
const raised = attackEach<SignOnScene, boolean>(
  'S15',
  [false, true],
  (isEnforced) => `becoming owner by a provider of one's own${isEnforced ? ', which is enforced' : ''}`,
  async (scene, isEnforced) => {
    const { shared, home, target } = scene
    const maker = { db: target.db, canary: scene.canary, services: { now: () => new Date() } }
    const email = `owner-${randomBytes(4).toString('hex')}@${shared.domain}`
    const owner = await createMember(maker, home.organization, { email, level: 'owner' })
    await target.db.run(sql`
      UPDATE domain SET sso_enforcement = ${isEnforced ? 'oidc' : ''} WHERE id = ${shared.id}`)
    const reply = await scene.signIn(shared, { sub: owner.uuid, email, email_verified: true })
    await target.db.run(sql`UPDATE domain SET sso_enforcement = '' WHERE id = ${shared.id}`)
    expect([reply.status, reply.session]).toEqual([303, undefined])
    expect(String(reply.headers.location)).toMatch(/^\/login\?link=/)
    scene.canary.plant('link', new URL(String(reply.headers.location), 'http://x').searchParams.get('link')!)
    expect(await target.db.row(sql`SELECT FROM identity WHERE user_id = ${owner.id}`)).toBeUndefined()
    await scene.expectGood(shared)
  },
)

export const attacks: Attack<SignOnScene>[] = [...returned, replayed, crossed, mixed, ...led, ...raised]
