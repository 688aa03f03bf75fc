import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type Reply, type TestApp } from '../../../../test/harness/app.ts'
import { listen, openStream } from '../../../../test/harness/stream.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { LogType } from '../../../platform/sandbox/sandbox.ts'
import { addConfig } from '../fixture/rows.ts'
import type { AppIds } from '../running/running-app.ts'
import { forgetOldPluginLogs } from './forget.ts'
import { insertLines } from './write-queries.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const INSTANCE = '00000000-0000-4000-8000-000000000001'

let app: TestApp
let workspace: Workspace
let key: string
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  key = workspace.owner.key
})
afterAll(() => app.close())

const get = (url: string) => app.get(url, { key })
const logsOf = ({ project_id, config_id }: AppIds, set = 'plugin_configs') =>
  `/api/projects/${project_id}/${set}/${config_id}/logs/`
const messagesOf = ({ body }: Reply) => body.results.map(({ message }: { message: string }) => message)
const pathOf = (link: string) => link.replace('http://longshore.test', '')

async function addLine(
  { project_id, plugin_id, config_id }: AppIds,
  message: string,
  timestamp: Date,
  type: LogType = 'INFO',
): Promise<void> {
  const line = { project_id, plugin_id, plugin_config_id: config_id, timestamp, type, message }
  await insertLines(app.db, [{ ...line, source: 'CONSOLE' }], INSTANCE, app.services.now())
}

describe('GET …/:id/logs/', () => {
  it('200 gives exactly the fields of the API, newest first, below every path that shows the config', async () => {
    const ids = await addConfig(app, workspace.project.id, { methods: ['onEvent', 'processEvent'] })
    const [early, late] = [new Date(Date.now() - MINUTE), new Date()]
    await addLine(ids, 'early', early, 'WARN')
    await addLine(ids, 'late', late)
    const urls = [
      ...['plugin_configs', 'pipeline_destination_configs', 'pipeline_transformation_configs'].flatMap(
        (set) => [logsOf(ids, set), logsOf(ids, set).replace('projects', 'environments')],
      ),
      `/api/plugin_config/${ids.config_id}/logs/`,
    ]
    const common = {
      id: expect.any(Number) as number,
      team_id: ids.project_id,
      plugin_id: ids.plugin_id,
      plugin_config_id: ids.config_id,
      source: 'CONSOLE',
      instance_id: INSTANCE,
    }
    for (const url of urls) {
      const { status, body } = await get(url)
      expect([status, url]).toEqual([200, url])
      expect(body).toEqual({
        count: 2,
        next: null,
        previous: null,
        results: [
          { ...common, timestamp: late.toISOString(), type: 'INFO', message: 'late' },
          { ...common, timestamp: early.toISOString(), type: 'WARN', message: 'early' },
        ],
      })
    }
    for (const set of ['pipeline_frontend_apps_configs', 'pipeline_import_apps_configs'])
      expect((await get(logsOf(ids, set))).status).toBe(404)
  })

  it('200 page by page', async () => {
    const ids = await addConfig(app, workspace.project.id)
    const now = new Date()
    for (let number = 1; number <= 3; number++) await addLine(ids, `${number}`, now)
    const first = await get(`${logsOf(ids)}?limit=2`)
    const second = await get(pathOf(first.body.next))
    expect([first, second].map(messagesOf)).toEqual([['3', '2'], ['1']])
    expect(first.body.count).toBe(3)
    expect(second.body.next).toBeNull()
  })

  describe('filtered', () => {
    let url: string
    beforeAll(async () => {
      const ids = await addConfig(app, workspace.project.id)
      url = logsOf(ids)
      const at = (second: number) => new Date(Date.UTC(2024, 5, 1, 10, 0, second))
      await addLine(ids, 'Start', at(1), 'INFO')
      await addLine(ids, '100% of a_b', at(2), 'DEBUG')
      await addLine(ids, 'axb ÄRGER', at(3), 'ERROR')
      await addLine(ids, 'finish', at(4), 'LOG')
    })

    it.each([
      ['', ['finish', 'axb ÄRGER', '100% of a_b', 'Start']],
      ['after=2024-06-01T10:00:02Z', ['finish', 'axb ÄRGER']],
      ['before=2024-06-01T10:00:02Z', ['Start']],
      ['after=-24h', []],
      ['limit=&after=&before=&search=&type_filter=', ['finish', 'axb ÄRGER', '100% of a_b', 'Start']],
      ['limit=1', ['finish']],
      ['limit=0', ['finish', 'axb ÄRGER', '100% of a_b', 'Start']],
      ['limit=99999999999999999999', ['finish', 'axb ÄRGER', '100% of a_b', 'Start']],
      ['search=%C3%A4rger', ['axb ÄRGER']],
      ['search=a_b', ['100% of a_b']],
      ["search=' OR true --", []],
      ['type_filter=ERROR', ['axb ÄRGER']],
      ['type_filter=ERROR&type_filter=DEBUG', ['axb ÄRGER', '100% of a_b']],
      ['type_filter=WARN', []],
    ])('200 for ?%s', async (query, messages) => {
      expect(messagesOf(await get(`${url}?${query}`))).toEqual(messages)
    })

    it.each([
      ['limit=ten', 'limit', 'invalid_input'],
      ['limit=-1', 'limit', 'invalid_input'],
      ['limit=1.5', 'limit', 'invalid_input'],
      ['after=soon', 'after', 'invalid_input'],
      ['before=2024-13-01', 'before', 'invalid_input'],
      ['type_filter=LOUD', 'type_filter', 'invalid_choice'],
      ['type_filter=INFO&type_filter=x', 'type_filter', 'invalid_choice'],
      ['search=%00', 'search', 'invalid_input'],
    ])('400 for ?%s', async (query, attr, code) => {
      expect(await get(`${url}?${query}`)).toMatchObject({ status: 400, body: { attr, code } })
    })
  })

  it('404 for a config of another project, and for none', async () => {
    const ids = await addConfig(app, workspace.project.id)
    const other = await createOrganization(app)
    const elsewhere = { ...ids, project_id: other.project.id }
    expect((await app.get(logsOf(elsewhere), { key: other.owner.key })).status).toBe(404)
    for (const id of ['nonsense', '0', '99999999999', `${ids.config_id}x`])
      expect((await get(`/api/projects/${ids.project_id}/plugin_configs/${id}/logs/`)).status).toBe(404)
  })

  it('403 without the scope, and where plugins are switched off', async () => {
    const own = await createOrganization(app)
    const ids = await addConfig(app, own.project.id)
    const wrong = await createKey(app, own.owner, { scopes: ['batch_export:write'] })
    expect((await app.get(logsOf(ids), { key: wrong })).status).toBe(403)
    await app.db.run(sql`UPDATE organization SET plugins_access_level = 0 WHERE id = ${own.organization.id}`)
    expect((await app.get(logsOf(ids), { key: own.owner.key })).status).toBe(403)
  })
})

describe('GET …/:id/logs/stream/', () => {
  it('lines of that config as they are written, as the API shows them, and where it was left', async () => {
    const origin = await listen(app)
    const [ids, other] = [
      await addConfig(app, workspace.project.id, { methods: ['onEvent'] }),
      await addConfig(app, workspace.project.id, { methods: ['onEvent'] }),
    ]
    await addLine(ids, 'before', new Date())
    const open = (query = '', headers: Record<string, string> = {}) =>
      openStream(`${origin}${logsOf(ids)}stream/${query}`, { key, ...headers })
    const [stream, errors] = [await open(), await open('?type_filter=ERROR')]
    await addLine(other, 'of another', new Date())
    await addLine(ids, 'one', new Date())
    await addLine(ids, 'two', new Date(), 'ERROR')
    const told = await stream.until('log', 2)
    expect(told.map(({ data }) => data)).toEqual(
      (await get(`${logsOf(ids)}?limit=2`)).body.results.toReversed(),
    )
    expect((await errors.until('log')).map(({ data }) => data.message)).toEqual(['two'])
    stream.close()
    errors.close()
    await addLine(ids, 'three', new Date())
    const again = await open('', { 'last-event-id': told[0]!.id })
    expect((await again.until('log', 2)).map(({ data }) => data.message)).toEqual(['two', 'three'])
    again.close()
  })
})

describe('forgetOldPluginLogs', () => {
  it('forgets what is older than a week, in batches, and nothing else', async () => {
    const ids = await addConfig(app, workspace.project.id)
    const now = app.services.now()
    const edge = new Date(now.getTime() - 7 * DAY)
    await app.db.run(sql`DELETE FROM plugin_log`)
    await app.db.run(sql`
      INSERT INTO plugin_log (project_id, plugin_id, plugin_config_id, timestamp, source, type, message, instance_id)
      SELECT ${ids.project_id}, ${ids.plugin_id}, ${ids.config_id}, ${edge}::timestamptz - n * interval '1 second',
        'CONSOLE', 'LOG', 'old', ${INSTANCE}
      FROM generate_series(1, 10001) AS n`)
    await addLine(ids, 'just kept', edge)
    await addLine(ids, 'new', now)
    expect(await forgetOldPluginLogs(app.db, now)).toBe(10_001)
    expect(messagesOf(await get(logsOf(ids)))).toEqual(['new', 'just kept'])
    expect(await forgetOldPluginLogs(app.db, now)).toBe(0)
  })
})
