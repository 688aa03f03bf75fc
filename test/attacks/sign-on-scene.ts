// A scene with an identity provider in it, which a domain of the attackers' own organization signs in through: it is theirs
// to set up, and so are its answers. What they want is an account or a session that is not.
import { generateKeyPairSync } from 'node:crypto'
import { expect } from 'vitest'
import { sql } from '../../src/platform/db/sql.ts'
import { makeTls } from '../harness/tls.ts'
import type { Reply } from '../harness/app.ts'
import { until } from '../harness/until.ts'
import {
  startOpenidProvider,
  type Forgery,
  type OpenidProvider,
  type Person,
} from '../stand-ins/openid-provider.ts'
import { openScene, OUTSIDE, type Scene } from './scene.ts'
import { openSocialHosts, SOCIAL_NAMES, type SocialHosts } from './social-hosts.ts'

export type SignOnDomain = { id: string; domain: string; path: string; provider: OpenidProvider }

/** A browser on its way to the provider. */
export type Begun = { url: string; cookie: string }

export type SignOnScene = Scene & {
  /** A domain that all attacks on answers share. */
  shared: SignOnDomain
  /** Google, GitHub and GitLab, for the whole instance. */
  social: SocialHosts
  /** One of its own, for what changes the provider itself. It is kept by the program for some minutes. */
  newDomain(change?: (provider: OpenidProvider) => void): Promise<SignOnDomain>
  begin(domain: SignOnDomain, more?: string): Promise<Begun>
  comeBack(address: URL, cookie: string | null): Promise<Reply>
  /** The whole way. */
  signIn(domain: SignOnDomain, person: Person, forgery?: Forgery): Promise<Reply>
  /** Whoever does it rightly comes in. */
  expectGood(domain: SignOnDomain): Promise<void>
  /** It is refused, nobody is in or made, and the admin's log says why. */
  expectOutside(reply: Reply, email?: string): Promise<void>
}

// One for all: an attacker may as well have the key of another.
const KEY_PAIR = generateKeyPairSync('rsa', { modulusLength: 2048 })

let count = 0
export const personOf = ({ domain }: SignOnDomain): Person => {
  const sub = `person-${++count}`
  return { sub, email: `${sub}@${domain}`, email_verified: true, name: 'Some Body' }
}

export async function openSignOnScene(): Promise<SignOnScene> {
  const tls = makeTls('idp.example', ...SOCIAL_NAMES)
  const social = await openSocialHosts(tls, KEY_PAIR)
  const scene = await openScene({ NODE_EXTRA_CA_CERTS: tls.ca_file, ...social.settings })
  for (const name of ['idp.example', ...SOCIAL_NAMES]) scene.dns.setAddresses(name, [OUTSIDE])
  const providers: OpenidProvider[] = []
  const { call, home, target } = scene
  for (const provider of ['google-oauth2', 'github', 'gitlab'] as const)
    scene.canary.plant('client secret', social[provider].client_secret)

  const newDomain: SignOnScene['newDomain'] = async (change) => {
    const provider = await startOpenidProvider({ host: OUTSIDE, tls, key_pair: KEY_PAIR })
    providers.push(provider)
    scene.canary.plant('client secret', provider.client_secret)
    change?.(provider)
    const domain = `sign-on-${++count}.example`
    const path = `/api/organizations/${home.organization.id}/domains/`
    const { key } = home.owner
    const made = (await call('POST', path, { key, body: { domain } })).body
    scene.dns.setTxt(`_posthog-challenge.${domain}`, [made.verification_challenge])
    await call('POST', `${path}${made.id}/verify/`, { key, body: {} })
    const settings = {
      jit_provisioning_enabled: true,
      oidc_issuer: provider.issuer,
      oidc_client_id: provider.client_id,
      oidc_client_secret: provider.client_secret,
    }
    expect((await call('PATCH', `${path}${made.id}/`, { key, body: settings })).status).toBe(200)
    return { id: made.id, domain, path: `${path}${made.id}/`, provider }
  }
  const begin: SignOnScene['begin'] = async ({ id }, more = '') => {
    const reply = await call('GET', `/login/oidc/?domain=${id}${more}`)
    expect([reply.status, reply.headers.location]).toEqual([303, expect.stringContaining('code_challenge')])
    return { url: String(reply.headers.location), cookie: cookieOf(reply) }
  }
  const comeBack: SignOnScene['comeBack'] = (address, cookie) =>
    call('GET', `${address.pathname}${address.search}`, cookie === null ? {} : { headers: { cookie } })

  const whole: SignOnScene = {
    ...scene,
    shared: await newDomain(),
    social,
    newDomain,
    begin,
    comeBack,
    async signIn(domain, person, forgery) {
      const { url, cookie } = await begin(domain)
      return comeBack(domain.provider.signIn(url, person, forgery), cookie)
    },
    async expectGood(domain) {
      const reply = await whole.signIn(domain, personOf(domain))
      expect([reply.status, reply.headers.location]).toEqual([303, '/'])
      expect(reply.session).toBeDefined()
    },
    async expectOutside(reply, email) {
      const at = new URL(String(reply.headers.location), 'http://longshore.test')
      expect([reply.status, at.pathname]).toEqual([303, '/login'])
      expect(reply.session).toBeUndefined()
      const outcome = at.searchParams.get('error_code')
      expect(outcome).not.toBeNull()
      const id = at.searchParams.get('sign_in')
      const record = await target.db.row(sql`SELECT outcome FROM sign_in_record WHERE id = ${id}`)
      // What belongs to no domain is in the log of the server.
      if (record) expect(record).toEqual({ outcome })
      else await until(() => expect(target.stdout()).toContain(id))
      if (email !== undefined)
        expect(
          await target.db.row(sql`SELECT FROM app_user WHERE lower(email) = lower(${email})`),
        ).toBeUndefined()
    },
    async close() {
      await scene.close()
      await Promise.all([...providers, social].map((provider) => provider.close()))
      tls.remove()
    },
  }
  return whole
}

function cookieOf(reply: Reply): string {
  const set = [reply.headers['set-cookie'] ?? []].flat().map(String)
  return set.map((cookie) => cookie.split(';')[0]).join('; ')
}
