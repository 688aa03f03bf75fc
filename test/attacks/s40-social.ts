// What Google, GitHub and GitLab may say that lets nobody in: of addresses that are not confirmed and of people whose ids are
// none; and answers of theirs in the wrong place.
import { expect } from 'vitest'
import { sql } from '../../src/platform/db/sql.ts'
import { attack, attackEach, type Attack } from './attack.ts'
import type { SignOnScene } from './sign-on-scene.ts'
import type { SocialProvider } from './social-hosts.ts'
import {
  agree,
  begin,
  expectGood,
  HONEST,
  newEmail,
  PROVIDERS,
  through,
  type Json,
  type Said,
} from './social-sign-in.ts'

const github = (email: string, ...others: Json[]): Said => ({
  user: HONEST.github(email).user,
  emails: others,
})
const withUser = (provider: SocialProvider, fields: Json) => (email: string) => {
  const { user, ...rest } = HONEST[provider](email)
  return { ...rest, user: { ...user, ...fields } }
}
const entry = (email: unknown, primary: unknown, verified: unknown) => ({ email, primary, verified })
const OTHER = 'someone-else@social.example'

/** Who it says is there, by the address that must not come in. */
const PEOPLE: [SocialProvider, string, (email: string) => Said][] = [
  ['github', 'an unverified primary address', (email) => github(email, entry(email, true, false))],
  [
    'github',
    'a verified address that is not the primary one',
    (email) => github(email, entry(email, false, true)),
  ],
  [
    'github',
    'an unverified primary address beside a verified one',
    (email) => github(email, entry(OTHER, true, false), entry(email, false, true)),
  ],
  [
    'github',
    'two primary addresses, the first unverified',
    (email) => github(email, entry(email, true, false), entry(email, true, true)),
  ],
  ['github', 'verified as a text', (email) => github(email, entry(email, true, 'true'))],
  ['github', 'verified as a number', (email) => github(email, entry(email, true, 1))],
  ['github', 'primary as a text', (email) => github(email, entry(email, 'true', true))],
  ['github', 'an address in the public profile alone', (email) => github(email)],
  ['github', 'no list of addresses', (email) => ({ user: HONEST.github(email).user, emails: { email } })],
  ['github', 'nothing in place of addresses', (email) => ({ user: HONEST.github(email).user, emails: null })],
  ['github', 'an address as a list', (email) => github(email, entry([email], true, true))],
  ['github', 'an address in a name', (email) => github(email, entry(`Mona <${email}>`, true, true))],
  ['github', 'an address with NUL', (email) => github(email, entry(`${email}\0`, true, true))],
  ['github', 'two addresses in one', (email) => github(email, entry(`${OTHER},${email}`, true, true))],
  [
    'github',
    'an address of 60,000 letters',
    (email) => github(email, entry(`${'a'.repeat(60_000)}${email}`, true, true)),
  ],
  [
    'github',
    'fifty thousand addresses',
    (email) => github(email, ...Array.from({ length: 50_000 }, () => entry(email, true, true))),
  ],
  ...(['github', 'gitlab'] as const).flatMap((provider) =>
    [undefined, null, '583231', 0, -1, 1.5, 2 ** 53, true, [1], {}].map(
      (id): [SocialProvider, string, (email: string) => Said] => [
        provider,
        `${JSON.stringify(id) ?? 'nothing'} as its id`,
        withUser(provider, { id }),
      ],
    ),
  ),
  ['gitlab', 'an address that waits for its confirmation', withUser('gitlab', { confirmed_at: null })],
  ['gitlab', 'no word of a confirmation', withUser('gitlab', { confirmed_at: undefined })],
  ['gitlab', 'an empty confirmation', withUser('gitlab', { confirmed_at: '' })],
  ['gitlab', 'true in place of a confirmation', withUser('gitlab', { confirmed_at: true })],
  [
    'gitlab',
    'its address among the public ones alone',
    (email) => withUser('gitlab', { email: null, public_email: email, commit_email: email })(email),
  ],
  ...['blocked', 'deactivated', 'banned', 'Active', '', null].map(
    (state): [SocialProvider, string, (email: string) => Said] => [
      'gitlab',
      `${JSON.stringify(state)} as its state`,
      withUser('gitlab', { state }),
    ],
  ),
  ...[false, 'false', 'TRUE', 1, null, undefined, ['true']].map(
    (email_verified): [SocialProvider, string, (email: string) => Said] => [
      'google-oauth2',
      `${JSON.stringify(email_verified) ?? 'nothing'} as email_verified`,
      withUser('google-oauth2', { email_verified }),
    ],
  ),
  ['google-oauth2', 'no address', withUser('google-oauth2', { email: undefined })],
  ['google-oauth2', 'an id of 300 letters', withUser('google-oauth2', { sub: 's'.repeat(300) })],
  ['google-oauth2', 'its old name as issuer', withUser('google-oauth2', { iss: 'accounts.google.com' })],
]

const people = attackEach<SignOnScene, (typeof PEOPLE)[number]>(
  'S40',
  PEOPLE,
  ([provider, name]) => `${provider} says: ${name}`,
  async (scene, [provider, , saidOf]) => {
    const email = newEmail()
    await scene.expectOutside(await through(scene, provider, saidOf(email)), email)
  },
)

const returned = attackEach<SignOnScene, SocialProvider>(
  'S40',
  PROVIDERS,
  (provider) => `answers of ${provider} in the wrong browser, at the wrong address, too late, and twice`,
  async (scene, provider) => {
    const email = newEmail()
    const said = HONEST[provider](email)
    const { url, cookie } = await begin(scene, provider)
    const back = agree(scene, provider, url, said)
    const outside = async (address: URL, theirs: string | null) =>
      scene.expectOutside(await scene.comeBack(address, theirs), email)
    await outside(back, null)
    await outside(back, (await begin(scene, provider)).cookie)
    for (const other of [...PROVIDERS, 'oidc'].filter((each) => each !== provider))
      await outside(new URL(`/complete/${other}/${back.search}`, back), cookie)
    // None of that used it up.
    const mine = await scene.comeBack(back, cookie)
    expect(mine.session).toBeDefined()
    scene.canary.plant('session token', mine.session!)
    await scene.expectOutside(await scene.comeBack(back, cookie))
    // Its code once more, with a state that is good.
    const next = await begin(scene, provider)
    const reused = new URL(back)
    reused.searchParams.set('state', new URL(next.url).searchParams.get('state')!)
    await scene.expectOutside(await scene.comeBack(reused, next.cookie))
    // And one that is too old.
    const late = await begin(scene, provider)
    await scene.target.db.run(sql`UPDATE sign_in_attempt SET expires_at = now() - interval '1 minute'`)
    await scene.expectOutside(await scene.comeBack(agree(scene, provider, late.url, said), late.cookie))
    await expectGood(scene, provider)
  },
)

/** Where an id of ours is told from one of theirs: the account at the provider, not the address, is who somebody is. */
const recycled = attackEach<SignOnScene, SocialProvider>(
  'S40',
  PROVIDERS,
  (provider) => `an address that changed hands at ${provider}`,
  async (scene, provider) => {
    const email = newEmail()
    const first = HONEST[provider](email)
    const known = await through(scene, provider, first)
    expect(known.session).toBeDefined()
    scene.canary.plant('session token', known.session!)
    const thief = await through(scene, provider, HONEST[provider](email))
    expect([thief.status, thief.session]).toEqual([303, undefined])
    const at = new URL(String(thief.headers.location), 'http://longshore.test')
    expect([at.pathname, at.searchParams.get('email')]).toEqual(['/login', email])
    scene.canary.plant('link', at.searchParams.get('link')!)
    const owned = await scene.target.db.rows(sql`
      SELECT identity.id FROM identity JOIN app_user ON app_user.id = user_id WHERE app_user.email = ${email}`)
    expect(owned).toHaveLength(1)
    // Whoever had it first comes in whatever the address is by now.
    const moved = HONEST[provider](newEmail())
    const id = provider === 'google-oauth2' ? { sub: first.user.sub } : { id: first.user.id }
    const again = await through(scene, provider, { ...moved, user: { ...moved.user, ...id } })
    const me = await scene.call('GET', '/api/users/@me/', {
      session: scene.canary.plant('session token', again.session!),
    })
    expect(me.body.email).toBe(email)
  },
)

const taken = attack<SignOnScene>(
  'S40',
  "the victim's address, confirmed at each of the three",
  async (scene) => {
    const { id, email } = scene.victim.owner
    const linked = () => scene.target.db.rows(sql`SELECT id FROM identity WHERE user_id = ${id}`)
    const before = await linked()
    for (const provider of PROVIDERS) {
      const reply = await through(scene, provider, HONEST[provider](email))
      expect([reply.status, reply.session]).toEqual([303, undefined])
      const at = new URL(String(reply.headers.location), 'http://longshore.test')
      scene.canary.plant('link', at.searchParams.get('link')!)
    }
    expect(await linked()).toEqual(before)
  },
)

const led = attackEach<SignOnScene, SocialProvider>(
  'S16',
  PROVIDERS,
  (provider) => `signing in through ${provider}, with addresses of others to go to`,
  async (scene, provider) => {
    for (const next of ['//evil.example', 'https://evil.example', '/\\evil.example']) {
      const { url, cookie } = await begin(scene, provider, `?next=${encodeURIComponent(next)}`)
      const reply = await scene.comeBack(agree(scene, provider, url, HONEST[provider](newEmail())), cookie)
      scene.canary.plant('session token', reply.session!)
      expect(reply.headers.location).toBe('/')
    }
  },
)

export const attacks: Attack<SignOnScene>[] = [...people, ...returned, ...recycled, taken, ...led]
