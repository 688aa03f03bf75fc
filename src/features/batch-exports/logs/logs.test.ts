import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createKey, createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type Reply, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { ExportRow, LogRow } from '../rows.ts'
import { addExport, addLog, addRun } from '../runs/fixture/rows.ts'
import { forgetOldLogs } from './forget.ts'
import { findLastLine, readLines } from './queries.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const NO_ID = '00000000-0000-7000-8000-000000000000'

let app: TestApp
let workspace: Workspace
let key: string
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  key = workspace.owner.key
})
afterAll(() => app.close())

const ago = (ms: number) => new Date(app.services.now().getTime() - ms)
const makeExport = () => addExport(app.db, workspace.project.id, ago(DAY))
const below = ({ project_id, id }: Pick<ExportRow, 'project_id' | 'id'>) =>
  `/api/projects/${project_id}/batch_exports/${id}`
const get = (url: string) => app.get(url, { key })
const messagesOf = ({ body }: Reply) => body.results.map(({ message }: LogRow) => message)
const pathOf = (link: string) => link.replace('http://longshore.test', '')

describe('GET …/logs/', () => {
  it('200 gives exactly the fields of the API, newest first, below either name', async () => {
    const owner = await makeExport()
    const run = await addRun(app.db, owner, ago(MINUTE))
    const [early, late] = [ago(2 * MINUTE), ago(MINUTE)]
    await addLog(app.db, owner, { timestamp: late, message: 'of the run', run_id: run.id, level: 'WARNING' })
    await addLog(app.db, owner, { timestamp: early, message: 'of the export' })
    for (const url of [below(owner), below(owner).replace('projects', 'environments')]) {
      const { status, body } = await get(`${url}/logs/`)
      expect(status).toBe(200)
      const common = { team_id: workspace.project.id, batch_export_id: owner.id }
      expect(body).toEqual({
        count: 2,
        next: null,
        previous: null,
        results: [
          {
            ...common,
            run_id: run.id,
            timestamp: late.toISOString(),
            level: 'WARNING',
            message: 'of the run',
          },
          {
            ...common,
            run_id: null,
            timestamp: early.toISOString(),
            level: 'INFO',
            message: 'of the export',
          },
        ],
      })
    }
  })

  it('200 page by page, with the true count on each, and lines of one instant in the order of writing', async () => {
    const owner = await makeExport()
    const timestamp = ago(MINUTE)
    for (let number = 1; number <= 5; number++)
      await addLog(app.db, owner, { timestamp, message: `${number}` })
    const first = await get(`${below(owner)}/logs/?limit=2`)
    const second = await get(pathOf(first.body.next))
    const third = await get(pathOf(second.body.next))
    expect([first, second, third].map(messagesOf)).toEqual([['5', '4'], ['3', '2'], ['1']])
    expect([first, second, third].map(({ body }) => body.count)).toEqual([5, 5, 5])
    expect(third.body.next).toBeNull()
    const past = await get(`${below(owner)}/logs/?offset=5`)
    expect(past.body).toMatchObject({ count: 5, next: null, results: [] })
  })

  describe('filtered', () => {
    let url: string
    beforeAll(async () => {
      const owner = await makeExport()
      url = `${below(owner)}/logs/`
      const at = (second: number) => new Date(Date.UTC(2024, 5, 1, 10, 0, second))
      await addLog(app.db, owner, { timestamp: at(1), message: 'Start', level: 'INFO' })
      await addLog(app.db, owner, { timestamp: at(2), message: 'chunk 100% of a_b', level: 'DEBUG' })
      await addLog(app.db, owner, { timestamp: at(3), message: 'axb ÄRGER', level: 'ERROR' })
      await addLog(app.db, owner, { timestamp: at(4), message: 'finish', level: 'INFO' })
    })

    it.each([
      ['', ['finish', 'axb ÄRGER', 'chunk 100% of a_b', 'Start']],
      ['after=2024-06-01T10:00:02Z', ['finish', 'axb ÄRGER']],
      ['before=2024-06-01T10:00:02Z', ['Start']],
      ['after=2024-06-01T10:00:01Z&before=2024-06-01T10:00:04Z', ['axb ÄRGER', 'chunk 100% of a_b']],
      ['after=-24h', []],
      ['after=&before=&search=&level=', ['finish', 'axb ÄRGER', 'chunk 100% of a_b', 'Start']],
      ['search=start', ['Start']],
      ['search=%C3%A4rger', ['axb ÄRGER']],
      ['search=a_b', ['chunk 100% of a_b']],
      ['search=%25', ['chunk 100% of a_b']],
      ["search=' OR true --", []],
      ['level=error', ['axb ÄRGER']],
      ['level=INFO&level=ERROR', ['finish', 'axb ÄRGER', 'Start']],
      ['level_filter=info,error', ['finish', 'axb ÄRGER', 'Start']],
      ['level_filter=INFO&level_filter=DEBUG&search=c', ['chunk 100% of a_b']],
      ['level=LOG', []],
    ])('200 for ?%s', async (query, messages) => {
      const reply = await get(`${url}?${query}`)
      expect(messagesOf(reply)).toEqual(messages)
      expect(reply.body.count).toBe(messages.length)
    })

    it.each([
      ['after=soon', 'after', 'invalid_input'],
      ['before=2024-13-01', 'before', 'invalid_input'],
      ['level=LOUD', 'level', 'invalid_choice'],
      ['level_filter=INFO&level_filter=x', 'level_filter', 'invalid_choice'],
      ['search=%00', 'search', 'invalid_input'],
    ])('400 for ?%s', async (query, attr, code) => {
      expect(await get(`${url}?${query}`)).toMatchObject({ status: 400, body: { attr, code } })
    })

    it('keeps the filter in its links', async () => {
      const { body } = await get(`${url}?level=INFO&level=ERROR&limit=1`)
      expect(body.next).toBe(`http://longshore.test${url}?level=INFO&level=ERROR&limit=1&offset=1`)
    })
  })

  it('404 for a deleted export', async () => {
    const owner = await makeExport()
    const run = await addRun(app.db, owner, ago(MINUTE))
    await addLog(app.db, owner, { timestamp: ago(MINUTE), message: 'once', run_id: run.id })
    await app.db.run(sql`UPDATE batch_export SET deleted_at = now() WHERE id = ${owner.id}`)
    expect((await get(`${below(owner)}/logs/`)).status).toBe(404)
    expect((await get(`${below(owner)}/runs/${run.id}/logs/`)).status).toBe(404)
  })

  it('403 without the scope', async () => {
    const owner = await makeExport()
    const wrong = await createKey(app, workspace.owner, { scopes: ['plugin:write', 'query:read'] })
    expect((await app.get(`${below(owner)}/logs/`, { key: wrong })).status).toBe(403)
  })
})

describe('GET …/runs/:run_id/logs/', () => {
  it('200 with the lines of that run alone, filtered like the others', async () => {
    const owner = await makeExport()
    const [run, other] = [
      await addRun(app.db, owner, ago(MINUTE)),
      await addRun(app.db, owner, ago(2 * MINUTE)),
    ]
    await addLog(app.db, owner, { timestamp: ago(MINUTE), message: 'mine', run_id: run.id })
    await addLog(app.db, owner, {
      timestamp: ago(MINUTE),
      message: 'mine too',
      run_id: run.id,
      level: 'ERROR',
    })
    await addLog(app.db, owner, { timestamp: ago(MINUTE), message: 'of another', run_id: other.id })
    await addLog(app.db, owner, { timestamp: ago(MINUTE), message: 'of all' })
    const url = `${below(owner)}/runs/${run.id}/logs/`
    const all = await get(url)
    expect([all.body.count, messagesOf(all).toSorted()]).toEqual([2, ['mine', 'mine too']])
    expect(messagesOf(await get(`${url}?level=ERROR`))).toEqual(['mine too'])
  })

  it('404 for a run of another export, and for none', async () => {
    const [owner, other] = [await makeExport(), await makeExport()]
    const run = await addRun(app.db, other, ago(MINUTE))
    for (const id of [run.id, NO_ID, 'nonsense']) {
      expect((await get(`${below(owner)}/runs/${id}/logs/`)).status).toBe(404)
    }
  })
})

describe('readLines', () => {
  type Plan = { 'Actual Rows': number; 'Rows Removed by Filter'?: number; Plans?: Plan[] }
  const rowsRead = (plan: Plan): number =>
    plan['Actual Rows'] +
    (plan['Rows Removed by Filter'] ?? 0) +
    (plan.Plans ?? []).reduce((sum, each) => sum + rowsRead(each), 0)

  it('looks at the lines it gives, however many there are before, and of others since', async () => {
    const [followed, loud] = [await makeExport(), await makeExport()]
    const write = (of: ExportRow, message: string, count: number) =>
      app.db.run(sql`
        INSERT INTO batch_export_log (project_id, batch_export_id, timestamp, level, message)
        SELECT ${of.project_id}, ${of.id}, ${ago(MINUTE)}, 'INFO', ${message} FROM generate_series(1, ${count}::int)`)
    await write(followed, 'before', 20_000)
    const part = { project_id: followed.project_id, batch_export_id: followed.id }
    const from = await findLastLine(app.db, part)
    await write(loud, 'loud', 20_000)
    await write(followed, 'after', 2)
    await app.db.run(sql`ANALYZE batch_export_log`)
    const spy = vi.spyOn(app.db, 'rows')
    const filter = { after: null, before: null, search: null, levels: null }
    for (const which of ['first', 'last'] as const) {
      const range = { from, to: Number.MAX_SAFE_INTEGER, most: 100, which }
      const lines = await readLines(app.db, part, filter, range)
      expect(lines.map(({ message }) => message)).toEqual(['after', 'after'])
      const { text, values } = spy.mock.lastCall![0]
      const { rows } = await app.db.pool.query(`EXPLAIN (ANALYZE, FORMAT json) ${text}`, values)
      expect(rowsRead(rows[0]['QUERY PLAN'][0].Plan)).toBeLessThan(10)
    }
    spy.mockRestore()
  })
})

describe('forgetOldLogs', () => {
  it('forgets what is older than 30 days, in batches, and nothing else', async () => {
    const owner = await makeExport()
    const now = app.services.now()
    const edge = new Date(now.getTime() - 30 * DAY)
    await app.db.run(sql`DELETE FROM batch_export_log`)
    await app.db.run(sql`
      INSERT INTO batch_export_log (project_id, batch_export_id, timestamp, level, message)
      SELECT ${owner.project_id}, ${owner.id}, ${edge}::timestamptz - n * interval '1 second', 'INFO', 'old'
      FROM generate_series(1, 20000) AS n`)
    await addLog(app.db, owner, { timestamp: edge, message: 'just kept' })
    await addLog(app.db, owner, { timestamp: now, message: 'new' })
    expect(await forgetOldLogs(app.db, now)).toBe(20_000)
    expect(messagesOf(await get(`${below(owner)}/logs/`))).toEqual(['new', 'just kept'])
    expect(await forgetOldLogs(app.db, now)).toBe(0)
  })
})
