// Previews against what the same export does once it is made.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, createOrganization } from '../../../../test/factories.ts'
import { sql } from '../../../platform/db/sql.ts'
import { everyConfig, TYPES } from '../fixture/every-kind.ts'
import { openWorkbench, type Workbench } from '../fixture/workbench.ts'
import { DESTINATIONS } from '../destinations/index.ts'

let bench: Workbench
beforeAll(async () => {
  bench = await openWorkbench()
})
afterAll(() => bench.app.close())

const FILE = { type: 'File', config: { prefix: 'out/{export_id}/{year}' } }

async function preview(body: object, base = bench.base) {
  const reply = await bench.app.post(`${base}/preview/`, body, { key: bench.key })
  expect(reply.status).toBe(200)
  return reply.body
}
const names = (columns: { name: string }[]) => columns.map(({ name }) => name)

/** All files that the project's exports have written. */
async function delivered(): Promise<Map<string, string>> {
  const root = join(bench.app.services.settings.export_folder, String(bench.workspace.project.id))
  const found = await readdir(root, { recursive: true, withFileTypes: true })
  const files = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return new Map(
    await Promise.all(
      files.map(async (path) => [path.slice(root.length + 1), await readFile(path, 'utf8')] as const),
    ),
  )
}

describe('a preview', () => {
  it('shows the columns, the rows, the files and the times of the run that comes', async () => {
    await bench.capture(['one', 'two', 'three'])
    const body = { name: 'Nightly', interval: 'hour', destination: FILE }
    const shown = await preview(body)
    expect(shown.errors).toEqual({})
    expect(shown.ddl).toBeNull()
    expect(await preview(body, bench.base.replace('projects', 'environments'))).toEqual(shown)
    expect(await delivered().catch(() => new Map())).toEqual(new Map())

    const id = await bench.create(FILE)
    const told = await bench.app.get(`${bench.base}/${id}/next_runs/`, { key: bench.key })
    const times = ({ start, end }: { start: string; end: string }) => [start, end]
    expect(shown.next_runs.map(times)).toEqual(told.body.results.map(times))
    expect(shown.next_runs).toHaveLength(5)
    await bench.pass()
    const [[name, content] = []] = [...(await delivered())]
    expect(shown.files[0].replace('{export_id}', id)).toBe(name)
    expect(shown.files).toHaveLength(5)
    const rows = content!
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(shown.rows).toEqual(rows.toReversed())
    expect(names(shown.columns)).toEqual(Object.keys(rows[0]))
    expect(shown.columns).toContainEqual({ name: 'properties', type: 'json' })
    await bench.deleteExports()
  })

  it('shows ten rows at most, newest first, by the names, filters and columns that were asked for', async () => {
    const many = Array.from({ length: 12 }, (_, index) => `many ${index}`)
    await bench.capture(many)
    await bench.capture(['kept', 'left out'])
    const all = await preview({ interval: 'hour', destination: FILE })
    expect(all.rows).toHaveLength(10)
    expect(all.rows[0].event).toBe('left out')

    const chosen = await preview({
      interval: 'hour',
      destination: { type: 'File', config: { exclude_events: ['left out'] } },
      hogql_query: "SELECT upper(event) AS loud, properties.n AS n FROM events WHERE event != 'many 11'",
      filters: [{ key: 'name', operator: 'is_not', type: 'event', value: 'many 10' }],
    })
    expect(chosen.errors).toEqual({})
    expect(names(chosen.columns)).toEqual(['loud', 'n'])
    expect(chosen.rows.slice(0, 2).map(({ loud }: { loud: string }) => loud)).toEqual(['KEPT', 'MANY 9'])
  })

  it('shows persons and sessions too', async () => {
    const persons = await preview({ interval: 'day', model: 'persons', destination: FILE })
    expect(persons.errors).toEqual({})
    expect(persons.rows).toMatchObject([{ distinct_id: 'somebody', team_id: bench.workspace.project.id }])
    const sessions = await preview({ interval: 'day', model: 'sessions', destination: FILE })
    expect([sessions.errors, sessions.rows]).toEqual([{}, []])
    expect(names(sessions.columns)).toContain('session_id')
  })

  it('shows nothing of another project', async () => {
    const stranger = await createOrganization(bench.app)
    const base = `/api/projects/${stranger.project.id}/batch_exports/preview/`
    const body = { interval: 'hour', destination: FILE }
    const own = await bench.app.post(base, body, { key: stranger.owner.key })
    expect(own.body).toMatchObject({ rows: [], errors: {} })
    const refused = await bench.app.post(`${bench.base}/preview/`, body, { key: stranger.owner.key })
    expect(refused.status).toBe(403)
  })

  it('403 with a key that may only read exports: rows are data', async () => {
    const reader = await createKey(bench.app, bench.workspace.owner, { scopes: ['batch_export:read'] })
    const body = { interval: 'hour', destination: FILE }
    const reply = await bench.app.post(`${bench.base}/preview/`, body, { key: reader })
    expect(reply.status).toBe(403)
    expect(JSON.stringify(reply.body)).not.toContain('somebody')
  })
})

describe('each part fails by itself', () => {
  const good = { interval: 'hour', destination: FILE }

  it('a column that cannot be leaves files and times', async () => {
    const shown = await preview({ ...good, hogql_query: 'SELECT nothing_like_it FROM events' })
    expect(shown).toMatchObject({ columns: null, rows: null, ddl: null })
    expect([shown.files.length, shown.next_runs.length]).toEqual([5, 5])
    const error = {
      code: 'hogql_query_error',
      detail: expect.stringMatching(/nothing_like_it/),
      attr: 'hogql_query',
    }
    expect(shown.errors).toEqual({ columns: error, rows: error })
  })

  it('a schedule that cannot be leaves columns and rows', async () => {
    const shown = await preview({ ...good, offset_hour: 3 })
    expect(shown.columns).not.toBeNull()
    expect(shown.rows).not.toEqual([])
    expect(shown).toMatchObject({ files: null, next_runs: null })
    expect(shown.errors).toMatchObject({ files: { attr: 'offset_hour' }, next_runs: { attr: 'offset_hour' } })
  })

  it('a destination that cannot be leaves the times', async () => {
    const shown = await preview({ ...good, destination: { type: 'S3', config: { prefix: '{nonsense}' } } })
    expect(shown.next_runs).toHaveLength(5)
    expect(Object.keys(shown.errors)).toEqual(['columns', 'rows', 'files'])
    expect(shown.errors.files.attr).toBe('destination__bucket_name')
    const unknown = await preview({ ...good, destination: { type: 'Oracle', config: {} } })
    expect(unknown.errors.columns).toMatchObject({ code: 'invalid_choice', attr: 'destination__type' })
  })

  it('what fails only when it is computed is told with the rows', async () => {
    await bench.capture(['('])
    const shown = await preview({ ...good, hogql_query: 'SELECT match(event, event) AS odd FROM events' })
    expect(names(shown.columns)).toEqual(['odd'])
    expect([shown.rows, shown.files.length]).toEqual([null, 5])
    expect(shown.errors).toEqual({
      rows: { code: 'hogql_query_error', detail: expect.any(String), attr: null },
    })
  })

  it('nothing at all says what is lacking', async () => {
    const shown = await preview({})
    expect(shown).toMatchObject({ columns: null, rows: null, files: null, ddl: null, next_runs: null })
    expect(shown.errors).toMatchObject({
      columns: { code: 'required', attr: 'destination' },
      next_runs: { code: 'required', attr: 'interval' },
    })
  })

  it('400 for what is no body', async () => {
    for (const [body, attr] of [
      [{ ...good, interval: 'fortnight' }, 'interval'],
      [{ ...good, destination: { type: 5 } }, 'destination__type'],
    ] as const) {
      const reply = await bench.app.post(`${bench.base}/preview/`, body, { key: bench.key })
      expect(reply).toMatchObject({ status: 400, body: { attr } })
    }
  })
})

describe('every kind of destination', () => {
  const complete = everyConfig((name) => `planted-${name}`)

  it.each(TYPES)('%s: is shown without its secrets, which need not be sent', async (type) => {
    const { secrets } = DESTINATIONS.get(type)!
    const config = Object.fromEntries(
      Object.entries(complete[type]!).filter(([name]) => !secrets.includes(name)),
    )
    const shown = await preview({ interval: 'hour', destination: { type, config } })
    expect(shown.errors).toEqual({})
    expect(shown.rows).not.toEqual([])
    const isOfFiles = ['S3', 'AzureBlob', 'File'].includes(type)
    const isOfTable = !isOfFiles && !['HTTP', 'NoOp'].includes(type)
    expect([shown.files !== null, shown.ddl !== null]).toEqual([isOfFiles, isOfTable])
    if (isOfTable) {
      expect(shown.ddl).toMatch(/^CREATE TABLE /)
      for (const { name } of shown.columns)
        expect(shown.ddl).toMatch(new RegExp(`["\`]${name}["\`] [A-Z]`, 'i'))
    }
    // Sent secrets change nothing, and come back nowhere.
    const again = await preview({ interval: 'hour', destination: { type, config: complete[type] } })
    expect(again).toEqual(shown)
    expect(JSON.stringify(again)).not.toContain('planted-')
  })

  it('gives SQL that PostgreSQL takes, with the index that runs look for', async () => {
    const { app } = bench
    await app.db.run(sql`CREATE SCHEMA previewed`)
    const config = { host: '8.8.8.8', database: 'd', schema: 'previewed', table_name: 'odd "name"' }
    for (const model of ['events', 'persons', 'sessions']) {
      const place = { ...config, table_name: `odd "${model}"` }
      const shown = await preview({
        interval: 'hour',
        model,
        destination: { type: 'Postgres', config: place },
      })
      await app.db.pool.query(shown.ddl)
      const made = await app.db.rows<{ name: string }>(sql`
        SELECT column_name AS name FROM information_schema.columns
        WHERE table_schema = 'previewed' AND table_name = ${place.table_name} ORDER BY ordinal_position`)
      expect(names(made)).toEqual(names(shown.columns))
    }
  })

  it('numbers files and adds the manifest where they are split', async () => {
    const destination = { type: 'File', config: { prefix: 'p', max_file_size_mb: 1, compression: 'gzip' } }
    const { files } = await preview({ interval: 'day', destination, timezone: 'Europe/Berlin' })
    expect(files).toHaveLength(10)
    expect(files[0]).toMatch(/^p\/\S+-0\.jsonl\.gz$/)
    expect(files[1]).toMatch(/^p\/\S+_manifest\.json$/)
  })
})
