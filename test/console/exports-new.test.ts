// Making an export and changing its settings in the browser.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { s3 } from '../../src/features/batch-exports/fixture/bodies.ts'
import {
  neighbourOf,
  openWorkbench,
  type Workbench,
} from '../../src/features/batch-exports/fixture/workbench.ts'
import { openConsole, type Console } from './browser.ts'
import { fits } from './fits.ts'

let bench: Workbench
let browser: Console
beforeAll(async () => {
  bench = await openWorkbench()
  browser = await openConsole(bench.app)
})
afterAll(async () => {
  await browser.close()
  await bench.app.close()
})

const pageOf = ({ workspace }: Workbench, rest: string) => `/project/${workspace.project.id}/exports${rest}`

describe('a new export', () => {
  it('is made step by step, shown before it is made, and can bring everything so far', async () => {
    const of = await neighbourOf(bench)
    await of.capture(['order placed', 'signed up', 'order placed'])
    await of.pass()
    const session = of.workspace.owner.session
    await browser.visit({ session, path: pageOf(of, '/new') }, async ({ page, audit }) => {
      await page.getByRole('button', { name: /^Folder/ }).focus()
      await audit()
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Connection' }).waitFor()
      await page.getByRole('button', { name: 'Test the connection' }).click()
      await page.getByText('All tests passed.').waitFor()
      // Which folder that is, by the project and the name of a file in it.
      await page.getByText(`${of.workspace.project.id}/{export_id}/`, { exact: false }).waitFor()
      await audit()
      await page.getByRole('button', { name: 'Choose what to export' }).click()

      const rows = page.getByRole('region', { name: 'Rows as they would be exported' })
      await rows.getByRole('row').nth(3).waitFor()
      await page.getByLabel('Own columns').fill('SELECT event, nosuch FROM events')
      await page.getByText('nosuch', { exact: false }).nth(1).waitFor()
      await audit()
      const rowsStep = page
        .getByRole('navigation', { name: 'Steps' })
        .getByRole('link', { name: 'What to export' })
      await page.getByRole('button', { name: 'Choose the layout' }).click()
      await expect.poll(() => rowsStep.getAttribute('data-fault')).toBe('true')
      expect(await rowsStep.getAttribute('title')).toContain('nosuch')
      await rowsStep.click()
      // A filter that nobody has typed yet is no reason to complain, nor to hide the rows.
      await page.getByRole('button', { name: 'Add a filter' }).click()
      await page
        .getByLabel('Own columns')
        .fill("SELECT uuid, event, properties.n AS n FROM events WHERE event = 'order placed'")
      await rows
        .getByRole('columnheader', { name: 'n float' })
        .or(rows.getByRole('columnheader', { name: /^n / }))
        .first()
        .waitFor()
      await expect.poll(() => rows.getByRole('row').count()).toBe(3)
      await page.getByRole('button', { name: 'Remove this filter' }).click()
      await page.getByRole('button', { name: 'Choose the layout' }).click()

      await page.getByLabel('Prefix').fill('orders/{year')
      await page
        .getByRole('region', { name: 'Preview of the layout' })
        .getByText('brace', { exact: false })
        .or(page.getByText('{year', { exact: false }))
        .first()
        .waitFor()
      await page.getByLabel('Prefix').fill('orders/{year}')
      await page
        .getByText(/^orders\/\d{4}\//)
        .first()
        .waitFor()
      await audit()
      // Nothing is lost by a reload, nor by going back.
      await page.reload()
      await expect.poll(() => page.getByLabel('Prefix').inputValue()).toBe('orders/{year}')
      await page.getByRole('button', { name: 'Choose when' }).click()
      await page.getByLabel('How often').first().click()
      await page.getByRole('option', { name: 'Every week' }).click()
      await page.getByText('Tu', { exact: true }).click()
      await page
        .getByRole('region', { name: 'The next runs' })
        .getByRole('row')
        .nth(5)
        .getByText(/^Tue /)
        .first()
        .waitFor()
      await audit()
      await page.getByLabel('How often').first().click()
      await page.getByRole('option', { name: 'Every hour' }).click()
      await page.getByRole('button', { name: 'Review the export' }).click()
      await page.getByLabel('Name').fill('Orders for finance')
      await page.getByLabel('Also export everything so far').check()
      await audit()
      await fits(page)
      await page.getByRole('button', { name: 'Create export' }).click()
      await page.getByText('Orders for finance is created.').waitFor()
      await page.waitForURL('**/backfills')
      await of.work()
      await page.getByRole('row').getByText('Delivered').waitFor()
      // The draft is gone with it.
      await page.goto(pageOf(of, '/new'))
      await page.getByRole('heading', { name: 'Where to' }).waitFor()
    })
    const { body } = await of.app.get(`${of.base}/`, { key: of.key })
    expect(body.results).toMatchObject([
      {
        name: 'Orders for finance',
        interval: 'hour',
        destination: { type: 'File', config: { prefix: 'orders/{year}' } },
        latest_runs: [{ status: 'Completed', records_completed: 2 }],
      },
    ])
  })

  it('says at which step a test fails and why, keeps no secret in the browser, and leads to the refused field', async () => {
    const of = await neighbourOf(bench)
    const session = of.workspace.owner.session
    const secret = of.app.canary.plant('secret access key', 'typed-into-a-form-5512')
    await browser.visit({ session, path: pageOf(of, '/new') }, async ({ page, audit, expectProblem }) => {
      await page.getByRole('button', { name: /^S3/ }).click()
      await page.getByLabel('Bucket').fill('no bucket')
      await page.getByLabel('Region').fill('eu-west-1')
      await page.getByLabel('Access key id (optional)', { exact: true }).fill('AKIA-1')
      await page.getByLabel('Secret access key (optional)').fill(secret)
      expectProblem(/400/)
      await page.getByRole('button', { name: 'Test the connection' }).click()
      await page.getByText('A bucket name has 2 to 255 letters', { exact: false }).first().waitFor()
      await page.getByText('This step asks the endpoint for the bucket', { exact: false }).waitFor()
      await audit()
      await page.getByRole('button', { name: 'Choose what to export' }).click()
      const connection = page
        .getByRole('navigation', { name: 'Steps' })
        .getByRole('link', { name: 'Connection' })
      await expect.poll(() => connection.getAttribute('title')).toBe('The test of the connection failed.')
      await page.getByRole('button', { name: 'Choose the layout' }).click()
      await page.getByLabel('Prefix').fill('lake')
      await page.getByRole('link', { name: 'Create export' }).click()
      await page.getByLabel('Name').fill('To S3')
      await page.getByRole('button', { name: 'Create export' }).click()
      await page.getByRole('heading', { name: 'Connection' }).waitFor()
      await page.getByText('A bucket name has 2 to 255 letters', { exact: false }).first().waitFor()
      await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('bucket_name')
      expect(await page.getByLabel('Secret access key (optional)').inputValue()).toBe(secret)
      expect(await page.evaluate('JSON.stringify({ ...sessionStorage, ...localStorage })')).not.toContain(
        secret,
      )
      await audit()
    })
    expect((await of.app.get(`${of.base}/`, { key: of.key })).body.count).toBe(0)
  })

  it('leads to the connection when that is refused as a whole, and says so only there', async () => {
    const of = await neighbourOf(bench)
    const session = of.workspace.owner.session
    await browser.visit({ session, path: pageOf(of, '/new') }, async ({ page, expectProblem }) => {
      await page.getByRole('button', { name: /^PostgreSQL/ }).click()
      await page.getByLabel('Host').fill('127.0.0.1')
      await page.getByLabel('Database').fill('warehouse')
      await page.getByLabel('User').fill('somebody')
      await page.getByLabel('Password', { exact: true }).fill('some-password')
      await page.getByRole('link', { name: 'Create export' }).click()
      await page.getByLabel('Name').fill('To a table')
      expectProblem(/400/)
      await page.getByRole('button', { name: 'Create export' }).click()
      await page.getByRole('heading', { name: 'Connection' }).waitFor()
      const problem = page.getByText('may not be called', { exact: false })
      await problem.waitFor()
      await page.getByRole('button', { name: 'Choose what to export' }).click()
      await page.getByRole('heading', { name: 'What to export' }).waitFor()
      await problem.waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Back' }).click()
      await page.getByRole('heading', { name: 'Connection' }).waitFor()
      expect(await problem.count()).toBe(0)
    })
  })

  it('asks again for the secrets that a reload has lost, and leads to them when they are missing', async () => {
    const of = await neighbourOf(bench)
    const session = of.workspace.owner.session
    const [user, password] = ['reload-role-31', 'reload-pass-31'].map((text) =>
      of.app.canary.plant('typed secret', text),
    )
    await browser.visit({ session, path: pageOf(of, '/new') }, async ({ page, audit, expectProblem }) => {
      await page.getByRole('button', { name: /^PostgreSQL/ }).click()
      await page.getByLabel('Host').fill('8.8.8.8')
      await page.getByLabel('Database').fill('warehouse')
      await page.getByLabel('User').fill(user!)
      await page.getByLabel('Password', { exact: true }).fill(password!)
      await page.getByRole('button', { name: 'Choose what to export' }).click()
      const connection = page
        .getByRole('navigation', { name: 'Steps' })
        .getByRole('link', { name: 'Connection' })
      await expect.poll(() => connection.getAttribute('data-done')).toBe('true')
      await page.getByRole('button', { name: 'Choose the layout' }).click()
      await page.reload()
      await page.getByRole('heading', { name: 'Format and layout' }).waitFor()
      expect(await connection.getAttribute('data-done')).toBeNull()
      await page.getByRole('link', { name: 'Create export' }).click()
      await page.getByLabel('Name').fill('To a table')
      expectProblem(/400/)
      await page.getByRole('button', { name: 'Create export' }).click()
      await page.getByRole('heading', { name: 'Connection' }).waitFor()
      await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('user')
      await page.getByText('Enter the password again: it is not kept.').waitFor()
      await audit()
      await page.getByLabel('User').fill(user!)
      await page.getByLabel('Password', { exact: true }).fill(password!)
      await page.getByText('it is not kept').waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'Create export' }).click()
      await page.getByRole('button', { name: 'Create export' }).click()
      await page.getByText('To a table is created.').waitFor()
    })
  })
})

describe('settings', () => {
  it('never show a secret, and ask for them again when a change would send them elsewhere', async () => {
    const of = await neighbourOf(bench)
    const id = await of.create(s3(of.app), { name: 'To S3' })
    const [one, other] = ['AKIA-NEW-0002', 'another/secret+key'].map((text) =>
      of.app.canary.plant('typed secret', text),
    )
    const session = of.workspace.owner.session
    await browser.visit(
      { session, path: pageOf(of, `/${id}/settings`) },
      async ({ page, audit, expectProblem }) => {
        await expect.poll(() => page.getByText('stored', { exact: true }).count()).toBe(2)
        expect(await page.getByLabel('Secret access key (optional)').count()).toBe(0)
        await audit()
        await page.getByLabel('Name').fill('To another S3')
        await page.getByLabel('Bucket').fill('elsewhere')
        expectProblem(/400/)
        await page.getByRole('button', { name: 'Save settings' }).click()
        await page.getByText('Send this secret again', { exact: false }).waitFor()
        await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('aws_access_key_id')
        await audit()
        await page.getByLabel('Access key id (optional)', { exact: true }).fill(one!)
        await page.getByLabel('Secret access key (optional)').fill(other!)
        // What is stored is there before everything else on the page is.
        await page.route('**/batch_exports/**', async (route) => {
          const request = route.request()
          const isSlow = request.method() === 'GET' && !request.url().endsWith(`/${id}/`)
          if (isSlow) await new Promise((resolve) => setTimeout(resolve, 1_000))
          await route.continue()
        })
        await page.getByRole('button', { name: 'Save settings' }).click()
        await page.getByText('The settings are saved.', { exact: false }).waitFor()
        await page.getByRole('heading', { name: /To another S3$/ }).waitFor()
        await expect.poll(() => page.getByText('stored', { exact: true }).count()).toBe(2)
        // What is typed and not saved survives a reload, and can be let go of.
        await page.getByLabel('Region').fill('eu-north-1')
        await page.reload()
        await expect.poll(() => page.getByLabel('Region').inputValue()).toBe('eu-north-1')
        await page.getByRole('button', { name: 'Discard changes' }).click()
        await expect.poll(() => page.getByLabel('Region').inputValue()).toBe('eu-west-1')
        await page.getByText('Everything is saved.').waitFor()
      },
    )
    const { body } = await of.app.get(`${of.base}/${id}/`, { key: of.key })
    expect(body).toMatchObject({
      name: 'To another S3',
      destination: { config: { bucket_name: 'elsewhere', region: 'eu-west-1' } },
    })
  })

  it('keep stored filters as they are beside a new one, and take a comma within a value and a name', async () => {
    const of = await neighbourOf(bench)
    const stored = [
      { key: 'city', value: ['Berlin, DE'], operator: 'exact', type: 'event' },
      { key: 'amount', value: [1, 2.5], operator: 'between', type: 'event' },
      { key: 'plan', value: ['pro', 5, true], operator: 'not_in', type: 'person' },
      { key: '$app_version', value: '1.2.0', operator: 'semver_gte', type: 'event' },
    ]
    const id = await of.create(
      { type: 'File', config: { prefix: 'lake' } },
      { name: 'Filtered', filters: stored },
    )
    const session = of.workspace.owner.session
    await browser.visit({ session, path: pageOf(of, `/${id}/settings`) }, async ({ page, audit }) => {
      const city = page.getByRole('group', { name: 'Filter by city' })
      await city.getByText('Berlin, DE', { exact: true }).waitFor()
      const operatorOf = (key: string) =>
        page
          .getByRole('group', { name: `Filter by ${key}` })
          .getByLabel('Operator')
          .first()
          .inputValue()
      await expect.poll(() => operatorOf('amount')).toBe('is between')
      expect(await operatorOf('plan')).toBe('is none of')
      expect(await operatorOf('$app_version')).toBe('is at least version')
      await audit()

      await page.getByRole('button', { name: 'Add a filter' }).click()
      const added = page.getByRole('group', { name: 'Filter', exact: true })
      await added.getByLabel('Property').fill('street')
      const street = page.getByRole('group', { name: 'Filter by street' })
      await street.getByLabel('Value').first().fill('Main Street 5, rear')
      await page.keyboard.press('Enter')
      await page
        .getByLabel(/^Events to include/)
        .first()
        .fill('Order paid, in full')
      await page.keyboard.press('Enter')
      await audit()
      await page.getByRole('button', { name: 'Save settings' }).click()
      await page.getByText('The settings are saved.', { exact: false }).waitFor()
      await fits(page)
    })
    const { body } = await of.app.get(`${of.base}/${id}/`, { key: of.key })
    expect(body.filters).toEqual([
      ...stored,
      { type: 'event', key: 'street', operator: 'exact', value: ['Main Street 5, rear'] },
    ])
    expect(body.destination.config.include_events).toEqual(['Order paid, in full'])
  })

  it('of an export that was deleted meanwhile lead to the list, which says so', async () => {
    const of = await neighbourOf(bench)
    const id = await of.create(s3(of.app), { name: 'To S3' })
    await of.create(s3(of.app), { name: 'Another' })
    const session = of.workspace.owner.session
    await browser.visit({ session, path: pageOf(of, `/${id}/settings`) }, async ({ page, expectProblem }) => {
      await page.getByLabel('Name').fill('To another S3')
      await of.app.delete(`${of.base}/${id}/`, { key: of.key })
      expectProblem(/404/)
      await page.getByRole('button', { name: 'Save settings' }).click()
      await page.getByText('To S3 was deleted meanwhile.').waitFor()
      await page.getByRole('row', { name: 'Open Another' }).waitFor()
      expect(await page.getByRole('row', { name: 'Open To S3' }).count()).toBe(0)
    })
  })
})
