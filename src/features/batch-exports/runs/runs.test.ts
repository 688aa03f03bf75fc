import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type Reply, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { insertProject } from '../../projects/queries.ts'
import type { ExportRow, RunRow } from '../rows.ts'
import { addExport, addRun } from './fixture/rows.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const NO_ID = '00000000-0000-7000-8000-000000000000'

let app: TestApp
let workspace: Workspace
let foreign: Workspace
let key: string
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  foreign = await createOrganization(app)
  key = workspace.owner.key
})
afterAll(() => app.close())

const ago = (ms: number) => new Date(app.services.now().getTime() - ms)
const makeExport = (project_id = workspace.project.id) => addExport(app.db, project_id, ago(HOUR))
const runsOf = ({ project_id, id }: Pick<ExportRow, 'project_id' | 'id'>) =>
  `/api/projects/${project_id}/batch_exports/${id}/runs/`
const get = (url: string) => app.get(url, { key })
const idsOf = ({ body }: Reply) => body.results.map(({ id }: RunRow) => id)
const pathOf = (link: string) => link.replace('http://longshore.test', '')

/** Follows `next` (or `previous`) to null. */
async function walk(url: string, direction: 'next' | 'previous' = 'next'): Promise<Reply[]> {
  const replies: Reply[] = []
  for (let link: string | null = url; link !== null; link = replies.at(-1)!.body[direction]) {
    replies.push(await get(pathOf(link)))
  }
  return replies
}

/** Oldest first, all with the same `created_at`: only the id tells them apart. */
async function addManyRuns(owner: ExportRow, count: number, created_at: Date): Promise<string[]> {
  const rows = await app.db.rows<{ id: string }>(sql`
    INSERT INTO batch_export_run (id, project_id, batch_export_id, status, data_interval_start, data_interval_end,
      selection, run_after, created_at, finished_at, last_updated_at)
    SELECT gen_random_uuid(), ${owner.project_id}, ${owner.id}, 'Completed', ${created_at},
      ${created_at}::timestamptz + n * interval '1 second', 'arrival', ${created_at}, ${created_at}, ${created_at},
      ${created_at}
    FROM generate_series(1, ${count}) AS n RETURNING id`)
  return rows.map(({ id }) => id).toSorted()
}

describe('GET …/runs/:id/', () => {
  it('200 gives exactly the fields of the API', async () => {
    const owner = await makeExport()
    const now = ago(MINUTE)
    const files = [{ name: 'a.jsonl', rows: 3, bytes: 9_000_000_000, sha256: 'ab'.repeat(32) }]
    const run = await addRun(app.db, owner, now, {
      seq_from: 5,
      seq_to: 9,
      records_total_count: 3,
      records_completed: 3,
      records_failed: 0,
      bytes_exported: 9_000_000_000,
      files,
      attempt: 2,
      started_at: now,
      lease_owner: null,
      progress: JSON.stringify({ secret: 'inner' }),
    })
    const { status, body } = await get(`${runsOf(owner)}${run.id}/`)
    expect(status).toBe(200)
    expect(body).toEqual({
      id: run.id,
      status: 'Completed',
      records_completed: 3,
      records_total_count: 3,
      records_failed: 0,
      bytes_exported: 9_000_000_000,
      latest_error: null,
      data_interval_start: new Date(now.getTime() - HOUR).toISOString(),
      data_interval_end: now.toISOString(),
      cursor: null,
      attempts: 2,
      created_at: now.toISOString(),
      started_at: now.toISOString(),
      finished_at: now.toISOString(),
      last_updated_at: now.toISOString(),
      batch_export: owner.id,
      backfill: null,
      files,
      table: null,
      waiting_for: null,
      waiting_since: null,
    })
  })

  it.each([
    ['Postgres', { database: 'shop', schema: 'public', table_name: 'orders' }, 'public.orders'],
    ['Redshift', { database: 'shop', schema: 'raw', table_name: 'orders' }, 'raw.orders'],
    ['BigQuery', { project_id: 'acme', dataset_id: 'raw', table_id: 'orders' }, 'acme.raw.orders'],
    ['Snowflake', { database: 'SHOP', schema: 'RAW', table_name: 'ORDERS' }, 'SHOP.RAW.ORDERS'],
    ['Databricks', { catalog: 'main', schema: 'raw', table_name: 'orders' }, 'main.raw.orders'],
    ['ClickHouse', { database: 'shop', table_name: 'orders' }, 'shop.orders'],
    ['File', { prefix: 'orders' }, null],
    ['HTTP', { url: 'https://example.com/' }, null],
  ])('200 with the table that a run began with: %s', async (destination_type, config, table) => {
    const owner = await makeExport()
    const definition = {
      model: 'events' as const,
      destination_type,
      config,
      hogql_query: null,
      filters: null,
      timezone: 'UTC',
    }
    const run = await addRun(app.db, owner, ago(MINUTE), { definition })
    expect((await get(`${runsOf(owner)}${run.id}/`)).body.table).toBe(table)
  })

  it('200 for a live run of long ago, with nulls for what is not known yet, below either name', async () => {
    const owner = await makeExport()
    const run = await addRun(app.db, owner, ago(40 * DAY), { status: 'Starting', data_interval_start: null })
    for (const url of [runsOf(owner), runsOf(owner).replace('projects', 'environments')]) {
      expect(await get(`${url}${run.id}/`)).toMatchObject({
        status: 200,
        body: {
          status: 'Starting',
          records_completed: null,
          records_total_count: null,
          data_interval_start: null,
          attempts: 0,
          started_at: null,
          finished_at: null,
          files: null,
        },
      })
    }
  })

  it('404 for a run of another export, of another project, or none', async () => {
    const [owner, other, theirs] = [
      await makeExport(),
      await makeExport(),
      await makeExport(foreign.project.id),
    ]
    const [ofOther, ofTheirs] = [
      await addRun(app.db, other, ago(HOUR)),
      await addRun(app.db, theirs, ago(HOUR)),
    ]
    for (const id of [ofOther.id, ofTheirs.id, NO_ID, 'nonsense']) {
      expect(await get(`${runsOf(owner)}${id}/`)).toMatchObject({ status: 404, body: { code: 'not_found' } })
    }
  })
})

describe('an export that is not there', () => {
  it('404 for all that lies below it: deleted, of another project of one’s own, unknown; 403 for strangers', async () => {
    const deleted = await makeExport()
    await app.db.run(sql`UPDATE batch_export SET deleted_at = now() WHERE id = ${deleted.id}`)
    const { id } = await insertProject(app.db, workspace.organization.id, {}, app.services.now())
    const elsewhere = await makeExport(id)
    const here = { project_id: workspace.project.id }
    for (const owner of [
      deleted,
      { ...here, id: elsewhere.id },
      { ...here, id: NO_ID },
      { ...here, id: 'x' },
    ]) {
      const run =
        owner === deleted || owner.id === elsewhere.id
          ? await addRun(app.db, owner === deleted ? deleted : elsewhere, ago(HOUR), { status: 'Running' })
          : { id: NO_ID }
      const url = runsOf(owner)
      for (const path of [url, `${url}?ordering=x&after=nonsense`, `${url}${run.id}/`]) {
        expect((await get(path)).status).toBe(404)
      }
      expect((await app.post(`${url}${run.id}/cancel/`, {}, { key })).status).toBe(404)
      const left = await app.db.rows(
        sql`SELECT 1 FROM batch_export_run WHERE id = ${run.id} AND status <> 'Running'`,
      )
      expect(left).toEqual([])
    }
    const theirs = await makeExport(foreign.project.id)
    expect((await get(runsOf(theirs))).status).toBe(403)
    // The right export below the wrong project.
    expect((await get(runsOf({ ...here, id: theirs.id }))).status).toBe(404)
  })
})

describe('GET …/runs/', () => {
  it('200 with next, previous and results: the runs of this export alone, newest first', async () => {
    const [owner, other] = [await makeExport(), await makeExport()]
    await addRun(app.db, other, ago(HOUR))
    const first = await addRun(app.db, owner, ago(3 * HOUR), {
      status: 'Failed',
      latest_error: 'no such bucket',
    })
    const second = await addRun(app.db, owner, ago(2 * HOUR), { status: 'Running' })
    const { status, body } = await get(runsOf(owner))
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['next', 'previous', 'results'])
    expect(body).toMatchObject({
      next: null,
      previous: null,
      results: [
        { id: second.id, status: 'Running' },
        { id: first.id, status: 'Failed', latest_error: 'no such bucket' },
      ],
    })
  })

  it('200 in hundreds to the end and back, missing and repeating nothing, whatever `limit` says', async () => {
    const owner = await makeExport()
    const ids = await addManyRuns(owner, 250, ago(HOUR))
    const forth = await walk(`${runsOf(owner)}?limit=7`)
    expect(forth.map(({ body }) => body.results.length)).toEqual([100, 100, 50])
    expect(forth.flatMap(idsOf)).toEqual(ids.toReversed())
    expect(forth[0]!.body.previous).toBeNull()
    expect(forth[0]!.body.next).toMatch(/^http:\/\/longshore\.test\/api\/projects\/.*\?limit=7&cursor=/)
    const back = await walk(forth[2]!.body.previous, 'previous')
    expect(back.map(idsOf)).toEqual([idsOf(forth[1]!), idsOf(forth[0]!)])
    expect(back[1]!.body.previous).toBeNull()
    const oldestFirst = await walk(`${runsOf(owner)}?ordering=created_at`)
    expect(oldestFirst.flatMap(idsOf)).toEqual(ids)
  })

  it('200: runs that come in while somebody reads neither repeat nor hide one', async () => {
    const owner = await makeExport()
    const ids = await addManyRuns(owner, 150, ago(HOUR))
    const first = await get(runsOf(owner))
    for (let count = 0; count < 30; count++) {
      const end = new Date(ago(0).getTime() + count)
      await addRun(app.db, owner, ago(MINUTE), { data_interval_end: end })
    }
    const second = await get(pathOf(first.body.next))
    expect([...idsOf(first), ...idsOf(second)]).toEqual(ids.toReversed())
    const back = await get(pathOf(second.body.previous))
    expect(idsOf(back)).toEqual(idsOf(first))
    expect((await get(pathOf(back.body.previous))).body.results).toHaveLength(30)
  })

  it.each(['created_at', '-created_at', 'data_interval_start', '-data_interval_start'])(
    '200 ordered by %s',
    async (ordering) => {
      const owner = await makeExport()
      // The older the interval, the later the run: as retries have it.
      const runs = []
      for (const hours of [2, 3, 4]) {
        const start = ago(hours * HOUR)
        runs.push(
          await addRun(app.db, owner, ago((10 - hours) * MINUTE), {
            data_interval_start: start,
            data_interval_end: new Date(start.getTime() + HOUR),
          }),
        )
      }
      const ids = runs.map(({ id }) => id)
      const isRising = ordering === 'created_at' || ordering === '-data_interval_start'
      expect(idsOf(await get(`${runsOf(owner)}?ordering=${ordering}`))).toEqual(
        isRising ? ids : ids.toReversed(),
      )
    },
  )

  it('200 ordered by default for an ordering that is none', async () => {
    const owner = await makeExport()
    const ids = await addManyRuns(owner, 3, ago(HOUR))
    for (const ordering of ['status', '-id', '', 'created_at;drop', 'CREATED_AT']) {
      expect(idsOf(await get(`${runsOf(owner)}?ordering=${ordering}`))).toEqual(ids.toReversed())
    }
  })

  it('200 without what is older than seven days, unless asked for', async () => {
    const owner = await makeExport()
    const recent = await addRun(app.db, owner, ago(7 * DAY - 2 * HOUR))
    const old = await addRun(app.db, owner, ago(7 * DAY + HOUR))
    const url = runsOf(owner)
    expect(idsOf(await get(url))).toEqual([recent.id])
    expect(idsOf(await get(`${url}?after=-8d`))).toEqual([recent.id, old.id])
    expect(idsOf(await get(`${url}?after=`))).toEqual([recent.id])
    expect(idsOf(await get(`${url}?after=-24h`))).toEqual([])
    expect(idsOf(await get(`${url}?after=-2w&before=-7d`))).toEqual([old.id])
    expect(idsOf(await get(`${url}?ordering=data_interval_start`))).toEqual([recent.id])
    expect(idsOf(await get(`${url}?ordering=data_interval_start&start=-8d`))).toEqual([old.id, recent.id])
    // Each ordering has its own names.
    expect(idsOf(await get(`${url}?ordering=data_interval_start&after=-8d`))).toEqual([recent.id])
    expect(idsOf(await get(`${url}?start=-8d`))).toEqual([recent.id])
  })

  it('200 with bounds that count themselves, to the microsecond', async () => {
    const owner = await makeExport()
    const run = await addRun(app.db, owner, ago(HOUR))
    await app.db.run(sql`
      UPDATE batch_export_run SET created_at = '2024-06-01T10:00:00.000500Z', data_interval_start = '2024-06-01T09:00:00Z',
        data_interval_end = '2024-06-01T10:00:00Z' WHERE id = ${run.id}`)
    const asked = async (query: string) => idsOf(await get(`${runsOf(owner)}?${query}`)).length
    expect(await asked('after=2024-06-01T10:00:00.0005Z')).toBe(1)
    expect(await asked('after=2024-06-01T10:00:00.000501Z')).toBe(0)
    expect(await asked('after=2024-01-01&before=2024-06-01T10:00:00.0005Z')).toBe(1)
    expect(await asked('after=2024-01-01&before=2024-06-01T10:00:00.000499Z')).toBe(0)
    expect(await asked('after=0001-01-01&before=9999-12-31T23:59:59Z')).toBe(1)
    const interval = 'ordering=-data_interval_start'
    expect(await asked(`${interval}&start=2024-06-01T09:00:00Z&end=2024-06-01T10:00:00Z`)).toBe(1)
    expect(await asked(`${interval}&start=2024-06-01T09:00:01Z&end=2024-06-01T10:00:00Z`)).toBe(0)
    expect(await asked(`${interval}&start=2024-06-01T09:00:00Z&end=2024-06-01T09:59:59Z`)).toBe(0)
  })

  it('200 by status, one or several, also those that no run has', async () => {
    const owner = await makeExport()
    const failed = await addRun(app.db, owner, ago(3 * HOUR), { status: 'Failed' })
    const completed = await addRun(app.db, owner, ago(2 * HOUR))
    await addRun(app.db, owner, ago(HOUR), { status: 'Running' })
    const url = runsOf(owner)
    expect(idsOf(await get(`${url}?status=Failed`))).toEqual([failed.id])
    expect(idsOf(await get(`${url}?status=Failed&status=Completed`))).toEqual([completed.id, failed.id])
    expect(idsOf(await get(`${url}?status=failed,completed`))).toEqual([completed.id, failed.id])
    expect(idsOf(await get(`${url}?status=ContinuedAsNew`))).toEqual([])
    expect(idsOf(await get(`${url}?status=`))).toHaveLength(3)
  })

  it('400 for moments and statuses that are none', async () => {
    const owner = await makeExport()
    for (const [query, attr, code] of [
      ['after=yesterday', 'after', 'invalid_input'],
      ['before=-7x', 'before', 'invalid_input'],
      ['ordering=data_interval_start&start=1', 'start', 'invalid_input'],
      ['ordering=-data_interval_start&end=2024-02-30', 'end', 'invalid_input'],
      ['after=%00', 'after', 'invalid_input'],
      ['after=0001-01-01T00:00:00%2B14:00', 'after', 'invalid_input'],
      ['before=9999-12-31T23:00:00-14:00', 'before', 'invalid_input'],
      ['status=Done', 'status', 'invalid_choice'],
      ['status=Failed&status=Done', 'status', 'invalid_choice'],
    ]) {
      expect(await get(`${runsOf(owner)}?${query}`), query).toMatchObject({
        status: 400,
        body: { attr, code },
      })
    }
  })

  it('404 for a cursor that is none, or is of another export', async () => {
    const [owner, other] = [await makeExport(), await makeExport()]
    await addManyRuns(owner, 3, ago(HOUR))
    const stranger = await addRun(app.db, other, ago(HOUR))
    for (const cursor of ['x', 'n', `n${NO_ID}`, NO_ID, `n${stranger.id}`, `q${stranger.id}`, 'bz0xMDA%3D']) {
      expect(await get(`${runsOf(owner)}?cursor=${cursor}`), cursor).toMatchObject({
        status: 404,
        body: { type: 'invalid_request', code: 'not_found', detail: 'Invalid cursor', attr: null },
      })
    }
  })
})

describe('POST …/runs/:id/cancel/', () => {
  it.each(['Starting', 'Running'] as const)(
    '200 stops a run that is %s at once, and says so',
    async (status) => {
      const owner = await makeExport()
      const run = await addRun(app.db, owner, ago(HOUR), { status })
      const untouched = await addRun(app.db, owner, ago(2 * HOUR), { status })
      const writer = await createKey(app, workspace.owner, { scopes: ['batch_export:write'] })
      const reply = await app.post(`${runsOf(owner)}${run.id}/cancel/`, {}, { key: writer })
      expect(reply).toMatchObject({ status: 200, body: { cancelled: true } })
      const { body } = await get(`${runsOf(owner)}${run.id}/`)
      expect(body).toMatchObject({ status: 'Cancelled', finished_at: expect.any(String) })
      expect((await get(`${runsOf(owner)}${untouched.id}/`)).body.status).toBe(status)
      const logs = await get(`${runsOf(owner)}${run.id}/logs/`)
      expect(logs.body.results).toMatchObject([
        { run_id: run.id, level: 'INFO', message: 'Cancelled on request.' },
      ])
      const activity = await get(`/api/projects/${workspace.project.id}/activity_log/?item_id=${owner.id}`)
      const change = {
        field: 'run',
        before: { id: run.id, status },
        after: { id: run.id, status: 'Cancelled' },
      }
      expect(activity.body.results).toMatchObject([
        { scope: 'BatchExport', activity: 'updated', detail: { changes: [change] } },
      ])
    },
  )

  it.each(['Completed', 'Failed', 'FailedRetryable', 'Cancelled', 'TimedOut', 'Terminated'] as const)(
    '400 for a run that is %s, which stays so',
    async (status) => {
      const owner = await makeExport()
      const run = await addRun(app.db, owner, ago(HOUR), { status })
      const before = await get(`${runsOf(owner)}${run.id}/`)
      const reply = await app.post(`${runsOf(owner)}${run.id}/cancel/`, {}, { key })
      expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: null } })
      expect((await get(`${runsOf(owner)}${run.id}/`)).body).toEqual(before.body)
      expect((await get(`${runsOf(owner)}${run.id}/logs/`)).body.count).toBe(0)
    },
  )

  it('400 for a run that is being completed, unless its worker has died', async () => {
    const owner = await makeExport()
    const completing = async (ended_at: Date, lease_until: Date) => {
      const { id } = await addRun(app.db, owner, ended_at, { status: 'Running' })
      await app.db.run(sql`
        UPDATE batch_export_run SET is_committing = true, lease_owner = gen_random_uuid(), lease_until = ${lease_until}
        WHERE id = ${id}`)
      const reply = await app.post(`${runsOf(owner)}${id}/cancel/`, {}, { key })
      return [reply.status, (await get(`${runsOf(owner)}${id}/`)).body.status]
    }
    expect(await completing(ago(HOUR), ago(-MINUTE))).toEqual([400, 'Running'])
    expect(await completing(ago(2 * HOUR), ago(MINUTE))).toEqual([200, 'Cancelled'])
  })

  it('403 with a key that may only read', async () => {
    const owner = await makeExport()
    const run = await addRun(app.db, owner, ago(HOUR), { status: 'Running' })
    const reader = await createKey(app, workspace.owner, { scopes: ['batch_export:read'] })
    expect((await app.post(`${runsOf(owner)}${run.id}/cancel/`, {}, { key: reader })).status).toBe(403)
    expect((await get(`${runsOf(owner)}${run.id}/`)).body.status).toBe('Running')
  })
})

describe('POST …/runs/:id/retry/', () => {
  const retry = (owner: ExportRow, id: string) => app.post(`${runsOf(owner)}${id}/retry/`, {}, { key })

  it.each(['Failed', 'Completed', 'Cancelled', 'Running'] as const)(
    '200 repeats a run that is %s, with its interval and its positions',
    async (status) => {
      const owner = await makeExport()
      const run = await addRun(app.db, owner, ago(HOUR), { status, seq_from: 10, seq_to: 20 })
      const { status: answered, body } = await retry(owner, run.id)
      expect([answered, Object.keys(body)]).toEqual([200, ['backfill_id']])
      const { results } = (await get(runsOf(owner))).body
      expect(results).toMatchObject([
        {
          status: 'Starting',
          backfill: body.backfill_id,
          data_interval_start: run.data_interval_start!.toISOString(),
          data_interval_end: run.data_interval_end.toISOString(),
        },
        { id: run.id, status, backfill: null },
      ])
      const [row] = await app.db.rows(sql`
        SELECT selection, seq_from::int, seq_to::int FROM batch_export_run WHERE backfill_id = ${body.backfill_id}`)
      expect(row).toEqual({ selection: 'arrival', seq_from: 10, seq_to: 20 })
      const activity = await get(`/api/projects/${workspace.project.id}/activity_log/?item_id=${owner.id}`)
      const after = { id: body.backfill_id, retry_of: run.id }
      expect(activity.body.results).toMatchObject([
        { scope: 'BatchExport', detail: { changes: [{ field: 'backfill', before: null, after }] } },
      ])
    },
  )

  it('200 with the same answer when it is asked for twice', async () => {
    const owner = await makeExport()
    const run = await addRun(app.db, owner, ago(HOUR), { status: 'Failed' })
    const [first, second] = [await retry(owner, run.id), await retry(owner, run.id)]
    expect(second.body).toEqual(first.body)
    expect(idsOf(await get(runsOf(owner)))).toHaveLength(2)
  })

  it('404 for a run of another export, which is not repeated', async () => {
    const [owner, other] = [await makeExport(), await makeExport()]
    const run = await addRun(app.db, other, ago(HOUR), { status: 'Failed' })
    for (const id of [run.id, NO_ID, 'nonsense']) expect((await retry(owner, id)).status).toBe(404)
    expect(idsOf(await get(runsOf(other)))).toEqual([run.id])
  })

  it('403 with a key that may only read', async () => {
    const owner = await makeExport()
    const run = await addRun(app.db, owner, ago(HOUR), { status: 'Failed' })
    const reader = await createKey(app, workspace.owner, { scopes: ['batch_export:read'] })
    expect((await app.post(`${runsOf(owner)}${run.id}/retry/`, {}, { key: reader })).status).toBe(403)
    expect(idsOf(await get(runsOf(owner)))).toEqual([run.id])
  })
})
