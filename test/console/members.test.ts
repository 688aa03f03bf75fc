// Who belongs to an organization: from the invite to the goodbye, as owner and as plain member.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../../src/platform/db/sql.ts'
import { createMember, createOrganization, type TestUser, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { fits, openConsole, type Console } from './browser.ts'

let app: TestApp
let browser: Console
let workspace: Workspace
let member: TestUser
let base: string
beforeAll(async () => {
  app = await startTestApp()
  browser = await openConsole(app)
  workspace = await createOrganization(app, { name: 'Harbour & Sons' })
  member = await createMember(app, workspace.organization, { first_name: 'Mia', email: 'mia@example.com' })
  base = `/organization/${workspace.organization.id}`
})
afterAll(async () => {
  await browser.close()
  await app.close()
})

const PASSWORD = 'a quite long and odd passphrase 7'
const asOwner = () => ({ session: workspace.owner.session })

async function memberOf(email: string) {
  const { body } = await app.get(`/api/organizations/${workspace.organization.id}/members/?email=${email}`, {
    key: workspace.owner.key,
  })
  return body.results[0] as { level: number } | undefined
}

describe('from invite to goodbye', () => {
  it('invites, joins in another browser, becomes admin and is removed', async () => {
    await browser.visit({ ...asOwner(), path: `${base}/invites` }, async ({ page, audit, expectProblem }) => {
      await page.getByText('No invite is waiting.').waitFor()
      await audit()
      await page.getByRole('button', { name: 'Invite people' }).click()
      const addresses = page.getByLabel('E-mail addresses')
      await addresses.fill('ann@example.com\nnot an address')
      await page.getByText('This server has no mail set up').waitFor()
      expect(await page.getByLabel('Send the invites by mail').count()).toBe(0)
      expect(await page.getByLabel('Message').count()).toBe(0)
      await audit()

      // One bad address: nobody is invited, it is named, and what was typed is still there after a reload.
      expectProblem(/400 .*\/invites\/bulk\/$/)
      await page.getByRole('button', { name: 'Invite 2 people' }).click()
      await page.getByText('not an address: ').waitFor()
      await page.locator('textarea:focus').waitFor()
      await page.reload()
      expect(await addresses.inputValue()).toBe('ann@example.com\nnot an address')
      await addresses.fill('Ann Lee <ann@example.com>, bob@example.com')
      await page.getByRole('button', { name: 'Invite 2 people' }).click()
      await page.getByText('The link of ann@example.com is shown once.').waitFor()
      await audit()
      const link = (await page.getByLabel('Shown once').first().textContent())!
      await page.getByRole('button', { name: 'I have copied them' }).click()
      await page.getByRole('row', { name: 'Open the invite of bob@example.com' }).waitFor()

      // In another browser.
      const asAnn = { path: new URL(link).pathname }
      await browser.visit(asAnn, async ({ page: joining, expectProblem: expectOfAnn }) => {
        // Her open page may ask once more after she was removed.
        expectOfAnn(/403 .*\/(events\/stream|batch_exports\/status)\//)
        await joining.getByRole('heading', { name: 'Join Harbour & Sons' }).waitFor()
        expect(await joining.getByLabel('First name').inputValue()).toBe('Ann')
        await joining.getByLabel('Choose a password').fill(PASSWORD)
        await joining.getByRole('button', { name: 'Join' }).click()
        await joining.waitForURL('**/project/**')

        await page.getByRole('link', { name: 'Members' }).click()
        const row = page.getByRole('row', { name: 'Open ann@example.com' })
        await row.focus()
        await page.keyboard.press('Enter')
        await page.getByRole('radio', { name: 'Admin' }).check()
        await audit()
        await page.getByRole('button', { name: 'Change level' }).click()
        await page.getByText('Ann is now admin.').waitFor()
        expect(await memberOf('ann@example.com')).toMatchObject({ level: 8 })

        await page.getByRole('button', { name: 'Remove from organization' }).click()
        await page.getByText('Ann loses access to Harbour & Sons at once').waitFor()
        await audit()
        await page.getByRole('button', { name: 'Remove member' }).click()
        await page.getByText('Ann no longer belongs to Harbour & Sons.').waitFor()
        await row.waitFor({ state: 'detached' })
        expect(await memberOf('ann@example.com')).toBeUndefined()

        await joining.goto('/')
        await joining.waitForURL('**/account/profile')
        await joining.getByRole('link', { name: 'Organizations' }).click()
        await joining.getByText('You belong to no organization.').waitFor()
      })
    })
  })

  it('resends an invite with a new link, and takes it back', async () => {
    const path = `/api/organizations/${workspace.organization.id}/invites/`
    const { body } = await app.post(path, { target_email: 'late@example.com' }, { key: workspace.owner.key })
    await browser.visit(
      { ...asOwner(), path: `${base}/invites?open=${body.id}` },
      async ({ page, audit }) => {
        await page.getByRole('button', { name: 'Resend with a new link' }).waitFor()
        await audit()
        await page.getByRole('button', { name: 'Resend with a new link' }).click()
        const link = page.getByLabel('Shown once')
        await link.waitFor()
        expect(await link.textContent()).not.toBe(body.link)
        await page.getByRole('button', { name: 'I have copied it' }).click()
        await page.waitForURL((url) => url.search === '')
        await page.getByRole('row', { name: 'Open the invite of late@example.com' }).click()
        await page.getByRole('button', { name: 'Take back' }).click()
        await page.getByRole('button', { name: 'Take back invite' }).click()
        await page.getByText('The invite of late@example.com was taken back.').waitFor()
      },
    )
    const left = await app.get(path, { key: workspace.owner.key })
    expect(left.body.results.map((invite: { id: string }) => invite.id)).not.toContain(body.id)
  })
})

describe('projects that are closed to most', () => {
  it('are opened to a role, and to somebody by the invite', async () => {
    const { key } = workspace.owner
    const { body: project } = await app.post(
      `/api/organizations/${workspace.organization.id}/projects/`,
      { name: 'Payroll' },
      { key },
    )
    await app.call('PUT', `/api/projects/${project.id}/access_controls/`, {
      key,
      body: { access_level: 'none' },
    })
    await browser.visit({ ...asOwner(), path: `${base}/roles` }, async ({ page, audit, expectProblem }) => {
      await page.getByText('There is no role yet.').waitFor()
      await page.getByRole('button', { name: 'Create role' }).click()
      await page.getByLabel('Name').fill('Analysts')
      await page.getByRole('dialog').getByRole('button', { name: 'Create role' }).click()
      await page.getByText('The role Analysts was made.').waitFor()
      await page.getByText('Nobody yet.').waitFor()
      await page.getByLabel('Give it to').selectOption(member.email)
      await page.getByRole('button', { name: 'Give role' }).click()
      await page.getByText(`${member.email} has the role.`).waitFor()
      await audit()

      await page.getByLabel('Name').fill('Auditors')
      await page.getByRole('button', { name: 'Rename role' }).click()
      await page.getByText('The role was renamed.').waitFor()
      await page.getByRole('button', { name: `Remove ${member.email} from the role` }).click()
      await page.getByText('Nobody yet.').waitFor()
      await page.getByRole('button', { name: 'Delete role' }).click()
      await page.getByText('0 members lose').waitFor()
      await page
        .getByRole('dialog', { name: /^Delete the role/ })
        .getByRole('button', { name: 'Delete role' })
        .click()
      await page.getByText('There is no role yet.').waitFor()

      await page.getByRole('button', { name: 'Create role' }).click()
      await page.getByLabel('Name').fill(' ')
      expectProblem(/400 .*\/roles\/$/)
      await page.getByRole('dialog').getByRole('button', { name: 'Create role' }).click()
      await page.getByText('This field cannot be blank.').waitFor()
      await page.keyboard.press('Escape')

      await page.getByRole('link', { name: 'Invites' }).click()
      await page.getByRole('button', { name: 'Invite people' }).first().click()
      await page.getByLabel('E-mail addresses').fill('eve@example.com')
      await page.getByRole('combobox', { name: 'Projects that are not open' }).click()
      await page.getByRole('option', { name: 'Payroll' }).click()
      await page.getByLabel('Access to these projects').selectOption('Manages them')
      await audit()
      await page.getByRole('button', { name: 'Create invite' }).click()
      await page.getByText('The link of eve@example.com is shown once.').waitFor()
      await page.getByRole('button', { name: 'I have copied it' }).click()
      await page.getByRole('row', { name: 'Open the invite of eve@example.com' }).click()
      await page.getByText('Payroll (manages it)').waitFor()
    })
    const roles = await app.get(`/api/organizations/${workspace.organization.id}/roles/`, { key })
    expect(roles.body.results).toEqual([])
    const { body } = await app.get(`/api/organizations/${workspace.organization.id}/invites/`, { key })
    expect(
      body.results.find(({ target_email }: { target_email: string }) => target_email === 'eve@example.com'),
    ).toMatchObject({ level: 1, private_project_access: [{ id: project.id, level: 'admin' }] })
  })
})

describe('what a plain member sees', () => {
  it('why things are closed to them, before any click is refused', async () => {
    await browser.visit({ session: member.session, path: `${base}/members` }, async ({ page, audit }) => {
      await page.getByRole('row', { name: `Open ${workspace.owner.email}` }).click()
      const remove = page.getByRole('button', { name: 'Remove from organization' })
      expect(await remove.getAttribute('aria-disabled')).toBe('true')
      await remove.hover()
      await page.getByText('Only admins and owners may remove others.').waitFor()
      await page.mouse.move(0, 0)
      await page.getByText('Only admins and owners may remove others.').waitFor({ state: 'detached' })
      expect(await page.getByRole('radio', { name: 'Owner' }).isDisabled()).toBe(true)
      await audit()
      await page.goto(`${base}/keys`)
      await page.getByText('Service keys are managed by admins.').waitFor()
      await page.goto(`${base}/activity`)
      await page.getByText('The activity log is for admins.').waitFor()
      await audit()
      await page.goto(`${base}/domains`)
      expect(await page.getByRole('button', { name: 'Add domain' }).getAttribute('aria-disabled')).toBe(
        'true',
      )
      await page.goto(`${base}/projects`)
      expect(await page.getByRole('button', { name: 'Create project' }).getAttribute('aria-disabled')).toBe(
        'true',
      )
      await page.goto(`${base}/general`)
      expect(await page.getByLabel('Name', { exact: true }).isDisabled()).toBe(true)
      await audit()
    })
  })

  it('the last owner sees why leaving is closed, until there is another', async () => {
    const own = await createOrganization(app, { name: 'Sole' })
    const path = `/organization/${own.organization.id}`
    const heir = await createMember(app, own.organization)
    await browser.visit({ session: own.owner.session, path: `${path}/general` }, async ({ page, audit }) => {
      const leave = page.getByRole('button', { name: 'Leave organization' })
      expect(await leave.getAttribute('aria-disabled')).toBe('true')
      await leave.hover()
      const reason = page.getByText('You are the last owner: make somebody else owner first')
      await reason.waitFor()
      await page.mouse.move(0, 0)
      await reason.waitFor({ state: 'detached' })
      await audit()
      await page.goto(`${path}/members?open=${own.owner.uuid}`)
      expect(await leave.getAttribute('aria-disabled')).toBe('true')
      await page.goto(`${path}/members?open=${heir.uuid}`)
      await page.getByRole('radio', { name: 'Owner' }).check()
      await page.getByRole('button', { name: 'Change level' }).click()
      await page.getByText('is now owner.').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('link', { name: 'General' }).click()
      await expect.poll(() => leave.getAttribute('aria-disabled')).toBe(null)
    })
  })

  it('leaves, and lands where there is something left', async () => {
    const leaving = await createMember(app, workspace.organization)
    await browser.visit(
      { session: leaving.session, path: `${base}/members?open=${leaving.uuid}` },
      async ({ page }) => {
        await page.getByRole('button', { name: 'Leave organization' }).click()
        await page
          .getByRole('dialog', { name: /^Leave/ })
          .getByRole('button', { name: 'Leave organization' })
          .click()
        await page.getByText('You left Harbour & Sons.').waitFor()
        await page.waitForURL('**/account/profile')
      },
    )
    expect(await memberOf(leaving.email)).toBeUndefined()
  })
})

describe('lists', () => {
  it('scroll through many, are searched in the address, and fit a phone', async () => {
    const crowd = await createOrganization(app)
    await app.db.run(sql`
      WITH made AS (
        INSERT INTO app_user (uuid, distinct_id, email, first_name, last_name, is_active, date_joined)
        SELECT gen_random_uuid(), 'crowd-' || n, 'crowd-' || n || '@example.com', 'Crowd', n::text, true, now()
        FROM generate_series(1, 250) n RETURNING id)
      INSERT INTO membership (id, organization_id, user_id, level, joined_at, updated_at)
      SELECT gen_random_uuid(), ${crowd.organization.id}, id, 1, now() - id * interval '1 minute', now() FROM made`)
    const path = `/organization/${crowd.organization.id}/members`
    await browser.visit({ session: crowd.owner.session, path, width: 360 }, async ({ page, audit }) => {
      await page.getByText('100 of 251').waitFor({ state: 'attached' })
      expect(await page.getByRole('row').count()).toBeLessThan(80)
      await fits(page)
      const table = page.getByRole('region', { name: 'Members' })
      for (const loaded of [200, 251]) {
        await table.evaluate((element) => element.scrollTo(0, element.scrollHeight))
        await expect
          .poll(() => page.getByRole('table').getAttribute('aria-rowcount'))
          .toBe(String(loaded + 1))
      }
      await page.getByLabel('Find by name or address').fill('crowd-17@')
      await page.waitForURL((url) => url.searchParams.get('search') === 'crowd-17@')
      await expect.poll(() => page.getByRole('table').getAttribute('aria-rowcount')).toBe('2')
      await page.reload()
      await page.getByRole('row', { name: 'Open crowd-17@example.com' }).click()
      await page.getByRole('radio', { name: 'Member' }).waitFor()
      await fits(page)
      await audit()
      await page.goBack()
      await page.getByLabel('Find by name or address').fill('nobody at all')
      await page.getByText('Nobody by that name or address').waitFor()
      await audit()
    })
  })

  it('say what failed, and go on when it is mended', async () => {
    await browser.visit({ ...asOwner(), path: `${base}/members` }, async ({ page, audit, expectProblem }) => {
      await page.getByRole('row', { name: `Open ${member.email}` }).waitFor()
      expectProblem(/500 .*\/invites\//)
      await app.db.run(sql`ALTER TABLE invite RENAME TO invite_away`)
      await page.getByRole('link', { name: 'Invites' }).click()
      await page.getByText('The invites could not be shown.').waitFor()
      await page.getByText('Request').waitFor()
      await audit()
      await app.db.run(sql`ALTER TABLE invite_away RENAME TO invite`)
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByRole('button', { name: 'Invite people' }).waitFor()
    })
  })
})
