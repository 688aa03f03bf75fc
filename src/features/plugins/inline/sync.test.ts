import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { isInFamily } from '../families.ts'
import type { PluginRow } from '../rows.ts'
import { INLINE_APPS } from './index.ts'
import { syncInlinePlugins } from './sync.ts'

let app: TestApp

beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.close())

const FIRST = new Date('2026-01-01T00:00:00Z')
const LATER = new Date('2026-02-01T00:00:00Z')

const rows = () => app.db.rows<PluginRow>(sql`SELECT * FROM plugin p ORDER BY id`)

test('the apps of the server are global plugins that nobody owns', async () => {
  await syncInlinePlugins(app.db, FIRST)
  const found = await rows()
  expect(found.map(({ url }) => url)).toEqual([...INLINE_APPS.keys()])
  for (const row of found) {
    const { name, description, config_schema } = INLINE_APPS.get(row.url!)!
    expect(row).toMatchObject({
      organization_id: null,
      plugin_type: 'inline',
      name,
      description,
      config_schema,
      is_global: true,
      capabilities: { methods: ['processEvent'], jobs: [], scheduled_tasks: [] },
      created_via_family: 'pipeline_transformations',
      tag: null,
      updated_at: FIRST,
    })
  }
  const transformations = await app.db.rows(
    sql`SELECT p.id FROM plugin p WHERE ${isInFamily('pipeline_transformations')}`,
  )
  expect(transformations).toHaveLength(INLINE_APPS.size)
})

test('again, also at once, changes nothing and uses up no id', async () => {
  const before = await rows()
  await Promise.all([syncInlinePlugins(app.db, LATER), syncInlinePlugins(app.db, LATER)])
  expect(await rows()).toEqual(before)
  const { id } = await app.db.only<{ id: number }>(sql`
    INSERT INTO plugin (plugin_type, url, config_schema, is_global, capabilities, created_via_family, created_at, updated_at)
    VALUES ('inline', 'inline:of-another-version', '[]', true, '{}', 'plugins', now(), now()) RETURNING id`)
  expect(id).toBe(before.at(-1)!.id + 1)
})

test('what another version wrote is brought up to date; what this one does not know stays', async () => {
  const [first] = await rows()
  await app.db.run(
    sql`UPDATE plugin SET name = 'Old', config_schema = '[]', is_global = false WHERE id = ${first!.id}`,
  )
  await syncInlinePlugins(app.db, LATER)
  const found = await rows()
  expect(found[0]).toEqual({ ...first, updated_at: LATER })
  expect(found.slice(1, -1).map(({ updated_at }) => updated_at)).not.toContainEqual(LATER)
  expect(found.at(-1)).toMatchObject({ url: 'inline:of-another-version', is_global: true })
})
