import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { untilTrue } from '../../../../test/harness/until.ts'
import { Redactor } from '../../../platform/secrets/redactor.ts'
import { sql } from '../../../platform/db/sql.ts'
import { addConfig } from '../fixture/rows.ts'
import type { AppIds } from '../running/running-app.ts'
import { PluginLogs } from './plugin-logs.ts'

const SECOND = 1_000
const HOUR = 3_600 * SECOND

let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
})
afterAll(() => app.close())

let logs: PluginLogs
let ids: AppIds
beforeEach(async () => {
  logs = new PluginLogs(app.services)
  ids = await addConfig(app, workspace.project.id)
})
afterEach(() => logs.close())

type Line = { source: string; type: string; message: string; plugin_id: number; project_id: number }

const linesOf = ({ config_id }: AppIds) =>
  app.db.rows<Line>(sql`
    SELECT source, type, message, plugin_id, project_id FROM plugin_log
    WHERE plugin_config_id = ${config_id} ORDER BY id`)
const messagesOf = async (of: AppIds) => (await linesOf(of)).map(({ message }) => message)

/** A clock that a test moves itself, from the beginning of a second on. */
function openOnOwnClock(db = app.db) {
  let now_ms = Math.ceil(app.services.now().getTime() / SECOND) * SECOND
  const own = new PluginLogs({ ...app.services, db, now: () => new Date(now_ms) })
  return { own, advance: (ms: number) => void (now_ms += ms) }
}

describe('add', () => {
  it('is written within a second, by itself, in order and with everything that belongs to it', async () => {
    const other = await addConfig(app, workspace.project.id)
    logs.add(ids, 'CONSOLE', 'LOG', 'one')
    logs.add(other, 'SYSTEM', 'ERROR', 'of another')
    logs.add(ids, 'PLUGIN', 'WARN', 'two')
    const begun_at = Date.now()
    await untilTrue(async () => (await linesOf(ids)).length > 0)
    // The delay and the writing; the limit is far off what a busy machine needs.
    expect(Date.now() - begun_at).toBeLessThan(5_000)
    const { plugin_id, project_id } = ids
    expect(await linesOf(ids)).toEqual([
      { source: 'CONSOLE', type: 'LOG', message: 'one', plugin_id, project_id },
      { source: 'PLUGIN', type: 'WARN', message: 'two', plugin_id, project_id },
    ])
    expect(await messagesOf(other)).toEqual(['of another'])
  })

  it('takes known secrets out, before it cuts', async () => {
    const redactor = new Redactor(['the-secret-of-the-app'])
    logs.add(
      { ...ids, redactor },
      'CONSOLE',
      'LOG',
      'says the-secret-of-the-app twice: the-secret-of-the-app',
    )
    logs.add({ ...ids, redactor }, 'SYSTEM', 'ERROR', `${'x'.repeat(10 * 1024 - 12)}the-secret-of-the-app`)
    await logs.flush()
    const [first, second] = await messagesOf(ids)
    expect(first).toBe('says *** twice: ***')
    expect(second).toMatch(/^x+\*\*\*$/)
  })

  it('looks for secrets in so much of a second, and drops the rest', async () => {
    const { own, advance } = openOnOwnClock()
    const talker = { ...ids, redactor: new Redactor(['the-secret-of-the-app']) }
    for (let count = 0; count < 30; count++) own.add(talker, 'CONSOLE', 'LOG', 'x'.repeat(9_000))
    for (let count = 0; count < 30; count++) own.add(ids, 'CONSOLE', 'LOG', 'y'.repeat(9_000))
    advance(SECOND)
    own.add(talker, 'CONSOLE', 'LOG', 'a second later')
    await own.close()
    const messages = await messagesOf(ids)
    expect(messages.filter((message) => message.startsWith('x'))).toHaveLength(11)
    expect(messages.filter((message) => message.startsWith('y'))).toHaveLength(30)
    expect(messages).toContain('19 lines dropped: there were too many at once.')
    expect(messages).toContain('a second later')
  })

  it('cuts at 10 kB and stores whatever an app says', async () => {
    const texts = [
      'x'.repeat(20_000),
      '😀'.repeat(5_000),
      'a\0b',
      '\ud800 half',
      '<script>',
      `'; DROP TABLE x --`,
      '',
    ]
    for (const text of texts) logs.add(ids, 'CONSOLE', 'LOG', text)
    await logs.flush()
    const stored = await messagesOf(ids)
    expect(stored).toHaveLength(texts.length)
    expect(stored[0]).toBe(`${'x'.repeat(10 * 1024 - 3)}…`)
    expect(stored[1]).toMatch(/^(?:😀)+…$/u)
    for (const text of stored) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(10 * 1024)
    expect(stored.slice(2)).toEqual(['ab', '\ufffd half', '<script>', `'; DROP TABLE x --`, ''])
  })

  it('leaves out what belongs to a config that is gone, or to another project, and keeps the rest', async () => {
    const gone = await addConfig(app, workspace.project.id)
    await app.db.run(sql`DELETE FROM plugin_config WHERE id = ${gone.config_id}`)
    const stranger = (await createOrganization(app)).project.id
    logs.add(gone, 'SYSTEM', 'INFO', 'lost')
    logs.add({ ...ids, project_id: stranger }, 'SYSTEM', 'INFO', 'forged')
    logs.add(ids, 'SYSTEM', 'INFO', 'kept')
    await logs.flush()
    expect(await messagesOf(ids)).toEqual(['kept'])
    expect(await app.db.rows(sql`SELECT 1 FROM plugin_log WHERE project_id = ${stranger}`)).toEqual([])
  })
})

describe('DEBUG', () => {
  it.each([
    ['an edit of either', 0, 0, ['fine', 'said']],
    ['an edit of the config', HOUR - 60 * SECOND, 2 * HOUR, ['fine', 'said']],
    ['an edit of the plugin', 2 * HOUR, HOUR - 60 * SECOND, ['fine', 'said']],
    ['no edit for an hour', HOUR + SECOND, 2 * HOUR, ['said']],
  ])('after %s', async (_, config_ago, plugin_ago, expected) => {
    const now = app.services.now().getTime()
    await app.db.run(
      sql`UPDATE plugin_config SET updated_at = ${new Date(now - config_ago)} WHERE id = ${ids.config_id}`,
    )
    await app.db.run(
      sql`UPDATE plugin SET updated_at = ${new Date(now - plugin_ago)} WHERE id = ${ids.plugin_id}`,
    )
    logs.add(ids, 'CONSOLE', 'DEBUG', 'fine')
    logs.add(ids, 'CONSOLE', 'LOG', 'said')
    await logs.flush()
    expect(await messagesOf(ids)).toEqual(expected)
  })

  it('does not push out other lines, nor say that it was dropped when it would not be kept', async () => {
    const old = await addConfig(app, workspace.project.id, {
      updated_at: new Date(app.services.now().getTime() - 2 * HOUR),
    })
    const { own, advance } = openOnOwnClock()
    for (let number = 0; number < 200; number++) own.add(old, 'CONSOLE', 'DEBUG', 'noise')
    own.add(old, 'CONSOLE', 'ERROR', 'heard')
    advance(SECOND)
    await own.close()
    expect(await messagesOf(old)).toEqual(['heard'])
  })
})

describe('a flood', () => {
  it('is cut to 100 lines a second and config, and one line says how many went', async () => {
    const other = await addConfig(app, workspace.project.id)
    const { own, advance } = openOnOwnClock()
    for (let number = 0; number < 250; number++) own.add(ids, 'CONSOLE', 'LOG', `${number}`)
    own.add(other, 'CONSOLE', 'LOG', 'unharmed')
    await own.flush()
    expect(await linesOf(ids)).toHaveLength(100)
    own.add(ids, 'CONSOLE', 'LOG', 'still too many')
    advance(SECOND)
    own.add(ids, 'CONSOLE', 'LOG', 'later')
    await own.flush()
    const lines = await linesOf(ids)
    expect(lines.slice(100)).toMatchObject([
      { source: 'SYSTEM', type: 'WARN', message: '151 lines dropped: there were too many at once.' },
      { source: 'CONSOLE', type: 'LOG', message: 'later' },
    ])
    expect(lines.slice(0, 100).map(({ message }) => message)).toEqual(
      Array.from({ length: 100 }, (_, number) => `${number}`),
    )
    expect(await messagesOf(other)).toEqual(['unharmed'])
    await own.close()
  })

  it('is told of when nothing follows it, too', async () => {
    const { own } = openOnOwnClock()
    for (let number = 0; number < 101; number++) own.add(ids, 'CONSOLE', 'LOG', `${number}`)
    await own.close()
    expect((await messagesOf(ids)).at(-1)).toBe('1 line dropped: there were too many at once.')
  })

  it('leaves the newest 10,000 lines of a config', async () => {
    await app.db.run(sql`
      INSERT INTO plugin_log (project_id, plugin_id, plugin_config_id, timestamp, source, type, message, instance_id)
      SELECT ${ids.project_id}, ${ids.plugin_id}, ${ids.config_id}, now(), 'CONSOLE', 'LOG', n::text, gen_random_uuid()
      FROM generate_series(1, 10000) AS n`)
    const other = await addConfig(app, workspace.project.id)
    logs.add(other, 'CONSOLE', 'LOG', 'quiet')
    for (const message of ['a', 'b', 'c']) logs.add(ids, 'CONSOLE', 'LOG', message)
    await logs.flush()
    const kept = await messagesOf(ids)
    expect(kept).toHaveLength(10_000)
    expect([kept[0], ...kept.slice(-3)]).toEqual(['4', 'a', 'b', 'c'])
    expect(await messagesOf(other)).toEqual(['quiet'])
  })

  it('takes no more than so much memory while the database is away, and nothing of what it took is lost', async () => {
    const ends: AppIds[] = []
    for (let number = 0; number < 40; number++) ends.push(await addConfig(app, workspace.project.id))
    let is_away = true
    const db = {
      ...app.db,
      transaction: ((work) =>
        is_away ? Promise.reject(new Error('away')) : app.db.transaction(work)) as typeof app.db.transaction,
    }
    const { own, advance } = openOnOwnClock(db)
    for (let second = 0; second < 3; second++) {
      for (const end of ends)
        for (let line = 0; line < 100; line++) own.add(end, 'CONSOLE', 'LOG', 'x'.repeat(10_000))
      await expect(own.flush()).rejects.toThrow('away')
      advance(SECOND)
    }
    is_away = false
    await own.close()
    const [stored] = await app.db.rows<{ lines: number; bytes: number }>(sql`
      SELECT count(*)::int AS lines, sum(length(message))::int AS bytes FROM plugin_log
      WHERE plugin_config_id = ANY(${ends.map(({ config_id }) => config_id)}) AND source = 'CONSOLE'`)
    expect(stored!.bytes).toBeGreaterThan(7 * 1024 * 1024)
    expect(stored!.bytes).toBeLessThan(9 * 1024 * 1024)
    const notices = await app.db.rows<{ message: string }>(sql`
      SELECT message FROM plugin_log
      WHERE plugin_config_id = ANY(${ends.map(({ config_id }) => config_id)}) AND source = 'SYSTEM'`)
    const dropped = notices
      .map(({ message }) => Number.parseInt(message))
      .reduce((sum, count) => sum + count, 0)
    expect(stored!.lines + dropped).toBe(3 * 40 * 100)
  }, 60_000)
})
