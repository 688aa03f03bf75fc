// The OpenID provider of a domain as admins set it up: where it may be, and that its secret goes in and never out.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type Reply, type TestApp } from '../../../test/harness/app.ts'
import { mapHosts } from '../../../test/stand-ins/mapped-outbound.ts'
import { sql } from '../../platform/db/sql.ts'
import { openSecrets } from '../../platform/secrets/secrets.ts'
import { openClientSecret } from './oidc-client.ts'
import { resealDomains } from './reseal.ts'
import type { DomainRow } from './schema.ts'

let app: TestApp
let workspace: Workspace
let base: string
beforeAll(async () => {
  app = await startTestApp()
  app.services.outbound = mapHosts({
    'idp.example': 'http://127.0.0.1:1',
    'other.example': 'http://127.0.0.1:1',
  })
  workspace = await createOrganization(app)
  base = `/api/organizations/${workspace.organization.id}/domains/`
})
afterAll(() => app.close())

const OIDC = { oidc_issuer: 'https://idp.example/realms/staff', oidc_client_id: 'longshore' }
const newSecret = () => app.canary.plant('client secret', `secret-${randomBytes(12).toString('hex')}`)
const as = () => ({ key: workspace.owner.key })
const rowOf = (id: string) => app.db.only<DomainRow>(sql`SELECT * FROM domain WHERE id = ${id}`)
const problem = ({ status, body }: Reply) => `${status} ${body.code} ${body.attr ?? '-'}`

async function claim(fields: object = {}) {
  const reply = await app.post(
    base,
    { domain: `d${randomBytes(6).toString('hex')}.example`, ...fields },
    as(),
  )
  expect(reply.status).toBe(201)
  return { ...reply.body, path: `${base}${reply.body.id}/` }
}

describe('the settings of an OpenID provider', () => {
  it('are taken when a domain is claimed, and shown without the secret', async () => {
    const secret = newSecret()
    const { id, path, ...shown } = await claim({ ...OIDC, oidc_client_secret: ` ${secret} ` })
    const uris = ['http://longshore.test/complete/oidc/', `http://longshore.test/complete/oidc/${id}/`]
    expect(shown).toMatchObject({ ...OIDC, has_oidc: true, oidc_redirect_uris: uris })
    expect(shown).not.toHaveProperty('oidc_client_secret')
    expect((await app.get(path, as())).body).not.toHaveProperty('oidc_client_secret')
    expect(openClientSecret(app.services, id, (await rowOf(id)).oidc_client_secret!)).toBe(secret)
  })

  it('are changed and taken away one by one, and the log says so without the secret', async () => {
    const { path, id } = await claim()
    expect((await app.patch(path, OIDC, as())).body).toMatchObject({ ...OIDC, has_oidc: false })
    const whole = await app.patch(path, { oidc_client_secret: newSecret() }, as())
    expect(whole.body.has_oidc).toBe(true)
    const log = await app.get(
      `/api/organizations/${workspace.organization.id}/activity_log/?item_id=${id}`,
      as(),
    )
    expect(log.body.results[0].detail.changes).toMatchObject([
      { field: 'oidc_client_secret', before: null, after: null },
    ])
    for (const nothing of ['', null]) {
      await app.patch(path, { oidc_client_secret: newSecret() }, as())
      const reply = await app.patch(path, { oidc_client_secret: nothing }, as())
      expect(reply.body).toMatchObject({ ...OIDC, has_oidc: false })
      expect((await rowOf(id)).oidc_client_secret).toBeNull()
    }
  })

  it('400 for another issuer without the secret: nobody has the stored one sent to a server of theirs', async () => {
    const { path, id } = await claim({ ...OIDC, oidc_client_secret: newSecret() })
    const before = await rowOf(id)
    const moved = { oidc_issuer: 'https://other.example' }
    expect(problem(await app.patch(path, moved, as()))).toBe('400 required oidc_client_secret')
    expect(await rowOf(id)).toEqual(before)
    expect((await app.patch(path, { ...OIDC, oidc_client_id: 'renamed' }, as())).status).toBe(200)
    expect((await app.patch(path, { ...moved, oidc_client_secret: newSecret() }, as())).body).toMatchObject(
      moved,
    )
  })

  it.each([
    ['http://idp.example', 'invalid_input oidc_issuer'],
    ['https://idp.example/?tenant=1', 'invalid_input oidc_issuer'],
    ['https://idp.example/#x', 'invalid_input oidc_issuer'],
    ['https://me:word@idp.example/', 'invalid_input oidc_issuer'],
    ['idp.example', 'invalid_input oidc_issuer'],
    ['javascript:alert(1)', 'invalid_input oidc_issuer'],
    ['https://127.0.0.2/', 'invalid_input oidc_issuer'],
    ['https://169.254.169.254/', 'invalid_input oidc_issuer'],
    ['https://[::1]/', 'invalid_input oidc_issuer'],
    ['https://0x7f.2/', 'invalid_input oidc_issuer'],
    [`https://idp.example/${'x'.repeat(512)}`, 'max_length oidc_issuer'],
    [7, 'invalid_input oidc_issuer'],
  ])('400 for an issuer %j', async (oidc_issuer, expected) => {
    const { path } = await claim()
    for (const reply of [
      await app.patch(path, { oidc_issuer }, as()),
      await app.post(base, { domain: 'never.example', oidc_issuer }, as()),
    ]) {
      expect(problem(reply)).toBe(`400 ${expected}`)
    }
  })

  it('400 to enforce it before it is whole or anybody has used it, and to take it away while it is enforced', async () => {
    const { path, id } = await claim(OIDC)
    await app.db.run(sql`UPDATE domain SET verified_at = now() WHERE id = ${id}`)
    const enforce = { sso_enforcement: 'oidc' }
    expect(problem(await app.patch(path, enforce, as()))).toBe('400 invalid_input sso_enforcement')
    await app.patch(path, { oidc_client_secret: newSecret() }, as())
    expect(problem(await app.patch(path, enforce, as()))).toBe('400 sso_not_tested sso_enforcement')
    await app.db.run(sql`UPDATE domain SET sso_enforcement = 'oidc' WHERE id = ${id}`)
    for (const field of ['oidc_issuer', 'oidc_client_id', 'oidc_client_secret'])
      expect(problem(await app.patch(path, { [field]: '' }, as()))).toBe(`400 invalid_input ${field}`)
    expect((await app.get(path, as())).body).toMatchObject({ ...enforce, has_oidc: true })
    const lifted = await app.patch(path, { sso_enforcement: '', oidc_client_secret: null }, as())
    expect(lifted.body).toMatchObject({ sso_enforcement: '', has_oidc: false })
  })

  it('the secret is sealed anew when the key of the server has changed', async () => {
    const secret = newSecret()
    const { id } = await claim({ ...OIDC, oidc_client_secret: secret })
    const old = randomBytes(32).toString('hex')
    const before = openSecrets(old, null)
    const place = { table: 'domain', row: id, column: 'oidc_client_secret' }
    await app.db.run(
      sql`UPDATE domain SET oidc_client_secret = ${before.seal(secret, place)} WHERE id = ${id}`,
    )
    const secrets = openSecrets(randomBytes(32).toString('hex'), old)
    await app.db.run(sql`UPDATE domain SET oidc_client_secret = NULL WHERE id <> ${id}`)
    await resealDomains.handle({ ...app.services, secrets }, {}, app.services.now())
    const { oidc_client_secret } = await rowOf(id)
    expect(secrets.isOutdated(oidc_client_secret!)).toBe(false)
    expect(openClientSecret({ secrets }, id, oidc_client_secret!)).toBe(secret)
  })
})
