// Files of settings: apps read them, and the server keeps few of them in memory.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { writeAttachment } from '../configs/attachment-queries.ts'
import { sealAttachment } from '../configs/settings.ts'
import { AttachedFiles } from './attached-files.ts'
import { capture, configState, storedEvents, switchOn } from './fixture/apps.ts'
import type { AppIds } from './running-app.ts'

let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
})
afterAll(() => app.close())

const READS = `export function processEvent(event, { attachments }) {
  event.properties.read = attachments.list.contents.toString()
  return event
}`

async function attach({ config_id, project_id }: AppIds, content: string): Promise<void> {
  const bytes = Buffer.from(content)
  await writeAttachment(app.db, project_id, {
    plugin_config_id: config_id,
    key: 'list',
    content_type: 'text/plain',
    file_name: 'list.txt',
    size: bytes.length,
    contents: sealAttachment(app.services.secrets, config_id, 'list', bytes),
  })
  await app.services.changes.tell(app.db, 'plugin-config', config_id)
  await app.plugins.idle()
}

const lastRead = async () => {
  await capture(app, workspace, { event: 'read' })
  return (await storedEvents(app, workspace)).at(-1)!.properties.read
}

it('an app reads its file as it is now, and no running app has it in memory', async () => {
  const ids = await switchOn(app, workspace, READS)
  await attach(ids, 'one of the files')
  expect(await lastRead()).toBe('one of the files')
  await attach(ids, 'another one')
  expect(await lastRead()).toBe('another one')
  const running = JSON.stringify(app.plugins.list())
  expect(running).toContain('"has_files":true')
  expect(running).not.toContain(Buffer.from('another one').toString('base64'))
})

it('a file that cannot be opened stops its app, and says why', async () => {
  const ids = await switchOn(app, workspace, READS, { order: 2 })
  await attach(ids, 'sealed')
  await app.db.run(
    sql`UPDATE plugin_attachment SET contents = 'broken' WHERE plugin_config_id = ${ids.config_id}`,
  )
  await app.services.changes.tell(app.db, 'plugin-config', ids.config_id)
  await app.plugins.idle()
  expect((await configState(app, ids)).error?.message).toContain('attachments cannot be opened')
})

it('those that were used last are kept, as many as there is room for', async () => {
  const [first, second, third] = await Promise.all(
    [1, 2, 3].map(async () => {
      const ids = await switchOn(app, workspace, READS, { enabled: false })
      await attach(ids, 'x'.repeat(300))
      return { id: ids.config_id, version: '1' }
    }),
  )
  const files = new AttachedFiles(app.services, 1000)
  const count = async (of: typeof first) => Object.keys(await files.of(of!)).length
  await Promise.all([first, second].map(count))
  await count(first)
  await count(third)
  // From here on only what was kept can be told.
  await app.db.run(
    sql`DELETE FROM plugin_attachment WHERE plugin_config_id = ANY(${[first, second, third].map((each) => each!.id)})`,
  )
  expect(await count(first)).toBe(1)
  expect(await count(third)).toBe(1)
  expect(await count(second)).toBe(0)
  expect(await count({ ...first!, version: '2' })).toBe(0)
})

it('whoever waits for the files of an app that is taken away hears so', async () => {
  const files = new AttachedFiles(app.services)
  const waiting = files.of({ id: 1, version: '1' })
  files.forget(1)
  await expect(waiting).rejects.toMatchObject({ kind: 'gone' })
})
