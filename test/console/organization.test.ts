// An organization's domains, projects, keys and log; a project's settings; the server's page.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../../src/platform/db/sql.ts'
import { createMember, createOrganization, createUser, type TestUser, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { startDnsServer, type DnsStandIn } from '../stand-ins/dns.ts'
import { fits, openConsole, type Console } from './browser.ts'

let dns: DnsStandIn
let app: TestApp
let browser: Console
let workspace: Workspace
let member: TestUser
let base: string
beforeAll(async () => {
  dns = await startDnsServer()
  app = await startTestApp({ DNS_SERVERS: dns.address })
  browser = await openConsole(app)
  workspace = await createOrganization(app, { name: 'Harbour & Sons' })
  member = await createMember(app, workspace.organization, { email: 'mia@example.com' })
  base = `/organization/${workspace.organization.id}`
})
afterAll(async () => {
  await browser.close()
  await app.close()
  await dns.close()
})

const asOwner = () => ({ session: workspace.owner.session })
const organization = async () =>
  (await app.get(`/api/organizations/${workspace.organization.id}/`, { key: workspace.owner.key })).body

describe('organization', () => {
  it('settings are saved, a refusal stands at its field, and deleting takes the name', async () => {
    const doomed = await createOrganization(app, { name: 'Doomed' })
    const path = `/organization/${doomed.organization.id}/general`
    await browser.visit({ session: doomed.owner.session, path }, async ({ page, audit, expectProblem }) => {
      await page.getByRole('button', { name: 'Save settings' }).waitFor()
      await audit()
      expectProblem(/400 .*\/api\/organizations\//)
      const name = page.getByLabel('Name', { exact: true })
      await name.fill('x'.repeat(65))
      await page.getByRole('switch', { name: 'Members may invite members' }).click()
      await page.getByRole('button', { name: 'Save settings' }).click()
      await page.getByText('At most 64 characters are allowed.').waitFor()
      await page.locator('input[name=name]:focus').waitFor()
      await name.fill('Doomed Ltd')
      await page.getByRole('button', { name: 'Save settings' }).click()
      await page.getByText('The settings were saved.').waitFor()
      await page.getByRole('heading', { name: 'Doomed Ltd' }).waitFor()
      const { body } = await app.get(`/api/organizations/${doomed.organization.id}/`, {
        key: doomed.owner.key,
      })
      expect(body).toMatchObject({ name: 'Doomed Ltd', members_can_invite: false, enforce_2fa: false })

      await page.getByRole('button', { name: 'Delete organization' }).click()
      const dialog = page.getByRole('dialog')
      await audit()
      await dialog.getByLabel(/Type/).fill('Doomed Ltd')
      await dialog.getByRole('button', { name: 'Delete organization' }).click()
      await page.getByText('Doomed Ltd was deleted.').waitFor()
      await page.waitForURL('**/account/profile')
    })
  })

  it('a domain is proved by its record, and what DNS said is told', async () => {
    await browser.visit({ ...asOwner(), path: `${base}/domains` }, async ({ page, audit }) => {
      await page.getByText('There is no login domain yet.').waitFor()
      await audit()
      await page.getByRole('button', { name: 'Add domain' }).click()
      await page.getByRole('textbox', { name: 'Domain' }).fill('harbour.example')
      await page.getByRole('dialog').getByRole('button', { name: 'Add domain' }).click()
      await page.getByText('_posthog-challenge.harbour.example').waitFor()
      await audit()
      await page.getByRole('button', { name: 'Check now' }).click()
      await page.getByText('There is no such record yet.').waitFor()
      dns.setTxt('_posthog-challenge.harbour.example', ['<b>mistyped</b>'])
      await page.getByRole('button', { name: 'Check now' }).click()
      await page.getByText('<b>mistyped</b>').waitFor()
      await audit()
      const path = `/api/organizations/${workspace.organization.id}/domains/`
      const [domain] = (await app.get(path, { key: workspace.owner.key })).body.results
      dns.setTxt('_posthog-challenge.harbour.example', [domain.verification_challenge])
      await page.getByRole('button', { name: 'Check now' }).click()
      await page.getByText('harbour.example is verified.').waitFor()
      await page.getByRole('switch').click()
      await page.getByText('Everybody of harbour.example may join.').waitFor()
      await page.reload()
      await expect.poll(() => page.getByRole('switch').isChecked()).toBe(true)
      await page.getByRole('button', { name: 'Give domain up' }).click()
      await page
        .getByRole('dialog', { name: /^Give/ })
        .getByRole('button', { name: 'Give domain up' })
        .click()
      await page.getByText('There is no login domain yet.').waitFor()
    })
  })

  it('a service key is made for one thing, works, gets a new value and goes', async () => {
    await browser.visit({ ...asOwner(), path: `${base}/keys` }, async ({ page, audit }) => {
      await page.getByText('There is no service key yet.').waitFor()
      await page.getByRole('button', { name: 'Create service key' }).click()
      await page.getByLabel('Label').fill('Loader')
      await page.getByRole('radiogroup', { name: 'Organization' }).getByText('Read').click()
      await audit()
      await page.getByRole('button', { name: 'Create key' }).click()
      const value = (await page.getByLabel('Shown once').textContent())!
      const path = `/api/organizations/${workspace.organization.id}/`
      expect((await app.get(path, { key: value })).status).toBe(200)
      expect((await app.patch(path, { name: 'x' }, { key: value })).status).toBe(403)
      await page.getByRole('button', { name: 'I have copied it' }).click()
      await page.getByRole('row', { name: 'Open key Loader' }).click()
      await page.getByRole('button', { name: 'Replace value' }).click()
      await page
        .getByRole('dialog', { name: /^Replace/ })
        .getByRole('button', { name: 'Replace value' })
        .click()
      await page.getByLabel('Shown once').waitFor()
      expect((await app.get(path, { key: value })).status).toBe(401)
      await page.getByRole('button', { name: 'I have copied it' }).click()
      await page.getByRole('row', { name: 'Open key Loader' }).click()
      await page.getByRole('button', { name: 'Delete key' }).click()
      await page
        .getByRole('dialog', { name: /^Delete/ })
        .getByRole('button', { name: 'Delete key' })
        .click()
      await page.getByText('There is no service key yet.').waitFor()
    })
  })

  it('the log is asked by who, what and when, shows before and after, and says whether it can be believed', async () => {
    const key = { key: workspace.owner.key }
    await app.patch(`/api/organizations/${workspace.organization.id}/`, { name: 'Harbour' }, key)
    await app.patch(`/api/organizations/${workspace.organization.id}/`, { name: 'Harbour & Sons' }, key)
    await browser.visit({ ...asOwner(), path: `${base}/activity` }, async ({ page, audit }) => {
      await page.getByText(/The chain is intact: \d+ entries/).waitFor()
      await page.getByLabel('What').selectOption({ label: 'organization' })
      await page.waitForURL((url) => url.searchParams.get('what') === 'Organization')
      await page.getByLabel('Who').selectOption({ label: workspace.owner.email })
      const row = page.getByRole('row', { name: 'Open: changed organization Harbour & Sons' })
      await row.click()
      await page.getByText('Before').waitFor()
      await audit()
      await page.reload()
      await page.getByText('After').waitFor()
      await page.keyboard.press('Escape')
      await page.getByLabel('From').fill('2099-01-01')
      await page.getByText('Nothing in the log fits.').waitFor()
      await audit()

      await app.db.run(sql`
        UPDATE activity_log SET actor_name = 'somebody else' WHERE position =
          (SELECT min(position) FROM activity_log WHERE organization_id = ${workspace.organization.id})`)
      await page.goto(`${base}/activity`)
      await page.getByText(/The chain breaks at entry/).waitFor()
    })
  })

  it('every tab fits a phone', async () => {
    await browser.visit({ ...asOwner(), path: `${base}/general`, width: 360 }, async ({ page }) => {
      for (const tab of [
        'general',
        'invites?open=new',
        'roles?open=new',
        'domains?open=new',
        'projects',
        'keys?open=new',
        'activity',
      ]) {
        await page.goto(`${base}/${tab}`)
        await page.getByRole('heading', { name: 'Harbour & Sons' }).waitFor({ state: 'attached' })
        await expect.poll(() => page.getByRole('status', { name: 'Loading' }).count()).toBe(0)
        await fits(page)
      }
    })
  })
})

describe('project', () => {
  it('is made, renamed, given a token and rules, and deleted', async () => {
    await browser.visit(
      { ...asOwner(), path: `${base}/projects?open=new` },
      async ({ page, audit, expectProblem }) => {
        expectProblem(/400 .*\/projects\/$/)
        await page.getByLabel('Name').fill('Web shop')
        await page.getByLabel('Time zone').fill('Mars/Olympus')
        await audit()
        await page.getByRole('dialog').getByRole('button', { name: 'Create project' }).click()
        await page.getByText('This is not a time zone known here.').waitFor()
        await page.getByLabel('Time zone').fill('Asia/Tokyo')
        await page.getByRole('dialog').getByRole('button', { name: 'Create project' }).click()
        await page.getByRole('button', { name: 'Project: Web shop' }).waitFor()
        const project = (await organization()).teams.find(({ name }: { name: string }) => name === 'Web shop')
        expect(project.timezone).toBe('Asia/Tokyo')

        const settings = `/project/${project.id}/settings`
        await page.goto(settings)
        await page.getByText(project.api_token).waitFor()
        await audit()
        await page.getByRole('button', { name: 'Replace token' }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'Replace token' }).click()
        await page.getByText('The project has a new token.').waitFor()
        expect(await page.getByText(project.api_token).count()).toBe(0)
        await page.getByLabel('Name', { exact: true }).fill('Web shop (live)')
        await page.getByRole('button', { name: 'Save settings' }).click()
        const switcher = page.getByRole('button', { name: 'Project: Web shop (live)' })
        await switcher.focus()
        await page.keyboard.press('Enter')
        await page.getByRole('menuitem', { name: 'Web shop (live)' }).waitFor()
        await audit()
        await page.keyboard.press('Escape')
        await page.getByRole('menu').waitFor({ state: 'detached' })
        await expect.poll(() => switcher.evaluate((button) => button.matches(':focus'))).toBe(true)
        await page.getByRole('button', { name: 'Fold the menu' }).hover()
        await page.getByRole('tooltip', { name: 'Fold the menu' }).waitFor()

        const reach = async () => (await app.get(`/api/projects/${project.id}/`, { key: member.key })).status
        await page.getByRole('link', { name: 'Access' }).click()
        await page.getByLabel('Access').first().selectOption({ label: 'No access' })
        await page.getByText('Everybody else: no access.').waitFor()
        expect(await reach()).toBe(404)
        await page.getByLabel('Who').selectOption({ label: member.email })
        await page.getByRole('button', { name: 'Add rule' }).click()
        await page.getByText(`${member.email}: uses it.`).waitFor()
        expect(await reach()).toBe(200)
        await audit()
        await page.getByRole('button', { name: `Remove the rule for ${member.email}` }).click()
        await page.getByText('There is no rule for anybody in particular.').waitFor()
        expect(await reach()).toBe(404)
        await page.getByRole('link', { name: 'Activity' }).click()
        await page.getByRole('row', { name: 'Open: changed project Web shop (live)' }).click()
        await page.getByText('Before').waitFor()
        await audit()

        await page.goto(settings)
        await page.getByRole('button', { name: 'Delete project' }).click()
        await page.getByRole('dialog').getByLabel(/Type/).fill('Web shop (live)')
        await page.getByRole('dialog').getByRole('button', { name: 'Delete project' }).click()
        await page.getByText('Project Web shop (live) was deleted.').waitFor()
        await page.waitForURL('**/projects')
        expect((await organization()).teams).toHaveLength(1)
      },
    )
  })

  it('shows members why token and deletion are not theirs, and fits a phone', async () => {
    const path = `/project/${workspace.project.id}/settings`
    await browser.visit({ session: member.session, path, width: 360 }, async ({ page, audit }) => {
      for (const name of ['Replace token', 'Delete project']) {
        expect(await page.getByRole('button', { name }).getAttribute('aria-disabled')).toBe('true')
      }
      await fits(page)
      await audit()
      await page.goto(`${path}?tab=access`)
      await page.getByText('Only admins of the project may change who can use it.').first().waitFor()
      await fits(page)
      await audit()
    })
  })
})

describe('server', () => {
  it('tells staff how it is doing, without secrets; others read whom it is for', async () => {
    const staff = await createUser(app, { is_staff: true })
    await browser.visit({ session: staff.session, path: '/server' }, async ({ page, audit }) => {
      await page.getByText('everything answers').waitFor()
      await page.getByText('PostgreSQL').first().waitFor()
      await audit()
      await page.getByLabel('Find a setting').fill('secret')
      await page.waitForURL((url) => url.searchParams.get('search') === 'secret')
      const row = page.getByRole('row').filter({ hasText: 'SECRET_KEY' })
      await row.getByText('stored').waitFor()
      const { eventStore } = app.services
      app.services.eventStore = {
        ...eventStore,
        ping: () => Promise.reject(new Error('fell over')),
      }
      await page.reload()
      await page.getByText('not well: events').waitFor()
      await page.getByText('fell over').waitFor()
      app.services.eventStore = eventStore
      await page.setViewportSize({ width: 360, height: 800 })
      await fits(page)
    })
    await browser.visit({ ...asOwner(), path: '/server' }, async ({ page }) => {
      await page.getByText('This page is for those who run the server.').waitFor()
    })
  })
})
