// An organization that demands two-factor authentication (organizations.md §3.3): which sessions it keeps out, of what,
// and what it lets through.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMember, createOrganization, createUser } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import { freshCodeOf, login, pendingSession, presentCode, setUpDevice } from './fixture/authenticator.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.close())

const DEMANDS_SETUP = { status: 403, body: { code: 'two_factor_setup_required', attr: null } }
const DEMANDS_PROOF = { status: 403, body: { code: 'two_factor_verification_required', attr: null } }

async function demand(organization: { id: string }): Promise<void> {
  await app.db.run(sql`UPDATE organization SET enforce_2fa = true WHERE id = ${organization.id}`)
}

describe('an organization that demands two-factor authentication', () => {
  it('403 for a session without a device, until it has set one up; turning it on ends no session', async () => {
    const { organization, owner } = await createOrganization(app)
    const path = `/api/organizations/${organization.id}/`
    const turned = await app.patch(path, { enforce_2fa: true }, { session: owner.session })
    expect(turned).toMatchObject({ status: 200, body: { enforce_2fa: true } })
    const call = { session: owner.session }
    for (const blocked of [
      path,
      `${path}members/`,
      '/api/organizations/',
      '/api/projects/',
      '/api/personal_api_keys/',
    ]) {
      expect(await app.get(blocked, call)).toMatchObject(DEMANDS_SETUP)
    }
    expect(await app.patch('/api/users/@me/', { first_name: 'X' }, call)).toMatchObject(DEMANDS_SETUP)
    expect(await app.post('/api/organizations/', { name: 'A way out' }, call)).toMatchObject(DEMANDS_SETUP)
    await setUpDevice(app, owner)
    expect((await app.get(path, call)).status).toBe(200)
  })

  it('403 for a session opened without the device, 200 for one opened with it', async () => {
    const { organization, owner } = await createOrganization(app)
    const { session: older } = await login(app, owner)
    const device = await setUpDevice(app, owner)
    await demand(organization)
    expect(await app.get('/api/organizations/', { session: older! })).toMatchObject(DEMANDS_PROOF)
    const { session } = await presentCode(app, await pendingSession(app, owner), freshCodeOf(app, device))
    expect((await app.get('/api/organizations/', { session: session! })).status).toBe(200)
  })

  it('lets through what leads to a device, into the account and out of it', async () => {
    const { organization, owner } = await createOrganization(app)
    await demand(organization)
    const call = { session: owner.session }
    expect((await app.get('/api/users/@me/', call)).status).toBe(200)
    expect((await app.get('/api/users/@me/two_factor_status/', call)).status).toBe(200)
    const started = await app.get('/api/users/@me/start_2fa_setup/', call)
    app.canary.plant('TOTP secret', started.body.secret)
    expect(started.status).toBe(200)
    expect((await app.post('/api/login/precheck/', { email: owner.email }, call)).status).toBe(200)
    expect((await login(app, owner, call)).status).toBe(200)
    expect((await app.post('/api/signup/', {}, call)).body.code).not.toBe('two_factor_setup_required')
    expect((await app.get('/api/signup/nonsense/', call)).body.code).toBe('invalid_input')
    expect((await app.post('/api/signup/nonsense/', {}, call)).body.code).toBe('invalid_input')
    expect((await app.post('/api/reset/', { email: owner.email }, call)).body.code).toBe(
      'email_not_available',
    )
    expect((await app.post('/api/logout/', {}, call)).status).toBe(204)
  })

  it('lets a session with an older sign-in sign in again, this time with the device', async () => {
    const { organization, owner } = await createOrganization(app)
    const { session: older } = await login(app, owner)
    const device = await setUpDevice(app, owner)
    await demand(organization)
    const again = await login(app, owner, { session: older! })
    expect(again).toMatchObject({ status: 401, body: { code: '2fa_required' } })
    const opened = await presentCode(app, again.session!, freshCodeOf(app, device))
    expect((await app.get('/api/organizations/', { session: opened.session! })).status).toBe(200)
  })

  it('is no matter for keys', async () => {
    const { organization, owner } = await createOrganization(app)
    await demand(organization)
    for (const path of [
      '/api/organizations/',
      `/api/organizations/${organization.id}/members/`,
      '/api/projects/@current/',
    ]) {
      expect((await app.get(path, { key: owner.key })).status).toBe(200)
    }
  })

  it('counts when it is addressed, also while another one is current', async () => {
    const demanding = await createOrganization(app)
    await demand(demanding.organization)
    const easy = await createOrganization(app)
    const user = await createMember(app, demanding.organization, { level: 'admin' })
    await app.db.run(
      sql`INSERT INTO membership VALUES (gen_random_uuid(), ${easy.organization.id}, ${user.id}, 1, now(), now())`,
    )
    await app.db.run(
      sql`UPDATE app_user SET current_organization_id = ${easy.organization.id} WHERE id = ${user.id}`,
    )
    const get = (path: string) => app.get(path, { session: user.session })
    expect((await get('/api/organizations/')).status).toBe(200)
    expect((await get(`/api/organizations/${easy.organization.id}/members/`)).status).toBe(200)
    for (const path of [
      `/api/organizations/${demanding.organization.id}/`,
      `/api/organizations/${demanding.organization.id}/members/`,
      `/api/organizations/${demanding.organization.id}/projects/${demanding.project.id}/`,
      `/api/projects/${demanding.project.id}/`,
      `/api/projects/${demanding.project.id}/activity_log/`,
    ]) {
      expect(await get(path)).toMatchObject(DEMANDS_SETUP)
    }
    // Strangers learn nothing of the rule.
    const stranger = await createUser(app)
    const reply = await app.get(`/api/organizations/${demanding.organization.id}/`, {
      session: stranger.session,
    })
    expect(reply.status).toBe(404)
  })

  it('counts as the current one while none was chosen', async () => {
    const { organization } = await createOrganization(app)
    const user = await createMember(app, organization)
    await demand(organization)
    await app.db.run(
      sql`UPDATE app_user SET current_organization_id = NULL, current_project_id = NULL WHERE id = ${user.id}`,
    )
    expect(await app.get('/api/organizations/', { session: user.session })).toMatchObject(DEMANDS_SETUP)
  })
})
