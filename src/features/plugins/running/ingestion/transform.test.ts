// Events on their way in, through apps that really run: what each app makes of them, and what becomes of them when it fails.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../../test/harness/app.ts'
import { eventTables } from '../../../../../test/harness/event-tables.ts'
import { sql } from '../../../../platform/db/sql.ts'
import { syncInlinePlugins } from '../../inline/sync.ts'
import { forgetOldGivenUuids } from './given-uuids.ts'
import { capture, logLines, storedEvents, switchOff, switchOn } from '../fixture/apps.ts'

let app: TestApp
let workspace: Workspace
beforeAll(async () => void (app = await startTestApp()))
afterAll(() => app.close())
beforeEach(async () => void (workspace = await createOrganization(app)))

const on = (code: string, fields?: Parameters<typeof switchOn>[3]) => switchOn(app, workspace, code, fields)
const send = (...events: Parameters<typeof capture>[2][]) => capture(app, workspace, ...events)
const stored = () => storedEvents(app, workspace)
const names = async () => (await stored()).map(({ event }) => event)

describe('a chain', () => {
  it('runs by order, then id, each on what the last one made', async () => {
    const append = (letter: string) =>
      `export function processEvent(event) { event.event += '${letter}'; return event }`
    const last = await on(append('c'), { order: 2, name: 'C' })
    const first = await on(append('a'), { order: 1, name: 'A' })
    const second = await on(append('b'), { order: 1, name: 'B' })
    await send({ event: '' + 'x' })
    const [event] = await stored()
    expect(event).toMatchObject({ event: 'xabc', distinct_id: 'ada' })
    expect(event!.properties.$plugins_succeeded).toEqual([
      `A (${first.config_id})`,
      `B (${second.config_id})`,
      `C (${last.config_id})`,
    ])
    expect(event!.properties).not.toHaveProperty('$plugins_failed')
  })

  it('drops, changes and keeps events of one request in their order', async () => {
    await on(`export function processEvent(event) {
      if (event.event === 'drop') return null
      if (event.event === 'change') return { ...event, properties: { ...event.properties, seen: true } }
      return event
    }`)
    await send(...['first', 'drop', 'change', 'drop', 'last'].map((event) => ({ event })))
    expect((await stored()).map(({ event, properties }) => [event, properties.seen ?? null])).toEqual([
      ['first', null],
      ['change', true],
      ['last', null],
    ])
  })

  it('takes requests of any size in order, and each event once', async () => {
    await on(`export function processEvent(event) { event.properties.n *= 2; return event }`)
    const count = 250
    await send(...Array.from({ length: count }, (_, n) => ({ event: 'counted', properties: { n } })))
    expect((await stored()).map(({ properties }) => properties.n)).toEqual(
      Array.from({ length: count }, (_, n) => 2 * n),
    )
  })

  it('goes on with the event as it was before an app that throws', async () => {
    const bad = await on(
      `export function processEvent(event) { event.properties.half = true; event.event = 'no'; throw new Error('boom') }`,
      { order: 1, name: 'Bad' },
    )
    await on(`export function processEvent(event) { event.properties.whole = true; return event }`, {
      order: 2,
    })
    await send({ event: 'kept' })
    const [event] = await stored()
    expect(event).toMatchObject({
      event: 'kept',
      properties: { whole: true, $plugins_failed: [`Bad (${bad.config_id})`] },
    })
    expect(event!.properties).not.toHaveProperty('half')
    expect(await logLines(app, bad)).toEqual([
      expect.stringMatching(/^ERROR processEvent failed: Error: boom/),
      'WARN 1 event was stored without this app: boom',
    ])
    await app.plugins.metrics.flush()
    expect(
      await app.db.row(sql`
        SELECT category, successes::int, failures::int FROM plugin_metric WHERE plugin_config_id = ${bad.config_id}`),
    ).toEqual({ category: 'processEvent', successes: 0, failures: 1 })
  })

  it.each([
    ['another team', `event.team_id = 7; return event`],
    ['no name', `event.event = ''; return event`],
    ['no distinct id', `delete event.distinct_id; return event`],
    ['properties that are none', `event.properties = 'text'; return event`],
    ['a number', `return 5`],
    ['more than a megabyte', `event.properties.text = 'x'.repeat(1100000); return event`],
  ])('keeps the event when what comes back has %s', async (_, body) => {
    const { config_id } = await on(`export function processEvent(event) { ${body} }`)
    await send({ event: 'kept', properties: { own: 1 } })
    expect(await stored()).toMatchObject([
      { event: 'kept', distinct_id: 'ada', properties: { own: 1, $plugins_failed: [`Made (${config_id})`] } },
    ])
  })

  it.each(['$plugins_succeeded', '$plugins_failed', '$plugins_deferred'])(
    'does not believe a sender who says under %s that the app has run',
    async (name) => {
      const { config_id } = await on(
        `export function processEvent(event) { event.event += '!'; return event }`,
      )
      await send({ event: 'forged', properties: { [name]: [`Made (${config_id})`], own: 1 } })
      const [event] = await stored()
      expect(event).toMatchObject({ event: 'forged!', properties: { own: 1 } })
      const results = Object.entries(event!.properties).filter(([key]) => key.startsWith('$plugins_'))
      expect(results).toEqual([['$plugins_succeeded', [`Made (${config_id})`]]])
    },
  )

  it('stores no results of apps where there are none', async () => {
    await send({ event: 'plain', properties: { $plugins_succeeded: ['Made (1)'], $plugins_deferred: 'x' } })
    expect(Object.keys((await stored())[0]!.properties).filter((key) => key.startsWith('$plugins_'))).toEqual(
      [],
    )
  })

  it('stops with the app that is switched off', async () => {
    const ids = await on(`export function processEvent(event) { event.event += '!'; return event }`)
    await send({ event: 'with' })
    await switchOff(app, ids)
    await send({ event: 'without' })
    expect(await names()).toEqual(['with!', 'without'])
  })

  it('leaves other projects alone', async () => {
    await on(`export function processEvent() { return null }`)
    const other = await createOrganization(app)
    await capture(app, other, { event: 'elsewhere' })
    expect((await storedEvents(app, other)).map(({ event }) => event)).toEqual(['elsewhere'])
  })
})

describe('the uuid of an event', () => {
  const GIVEN = '6ba7b812-9dad-51d1-80b4-00c04fd430c8'
  const uuids = async () => (await stored()).map(({ uuid }) => uuid)
  const DAY_MS = 24 * 3_600_000

  it.each([
    ['removes it', `delete event.uuid`],
    ['makes an event without it', `event = { event: 'made', distinct_id: 'ada', properties: {} }`],
    ['renames the event', `event.event = 'renamed'`],
  ])('is its own when an app %s, and repeats are left out', async (_, change) => {
    await on(`export function processEvent(event) { ${change}; return event }`)
    const uuid = crypto.randomUUID()
    await send({ event: 'one', uuid }, { event: 'one', uuid })
    await send({ event: 'one', uuid })
    expect(await uuids()).toEqual([uuid])
  })

  it.each([
    ['as text', `'${GIVEN}'`],
    ['in capitals', `'${GIVEN.toUpperCase()}'`],
    ['without dashes', `'${GIVEN.replaceAll('-', '')}'`],
  ])('is the one that an app gives it %s', async (_, given) => {
    await on(
      `export function processEvent(event) { event.uuid = ${given}; event.event += '!'; return event }`,
    )
    await on(`export function processEvent(event) { event.properties.seen = event.uuid; return event }`, {
      order: 2,
    })
    await send({ event: 'one' })
    expect(await stored()).toMatchObject([{ uuid: GIVEN, event: 'one!', properties: { seen: GIVEN } }])
  })

  it('leaves out what an app gives the uuid of another event, in its own project only', async () => {
    const code = `export function processEvent(event) { event.uuid = '${GIVEN}'; return event }`
    await on(code)
    await send({ event: 'first' }, { event: 'second' })
    await send({ event: 'third' })
    expect(await names()).toEqual(['first'])
    const other = await createOrganization(app)
    await switchOn(app, other, code)
    await capture(app, other, { event: 'elsewhere' })
    expect((await storedEvents(app, other)).map(({ uuid }) => uuid)).toEqual([GIVEN])
  })

  it('stays the one that an app gave first, whatever it gives a repeat', async () => {
    await on(`import { randomUUID } from 'crypto'
      export function processEvent(event) { event.uuid = randomUUID(); return event }`)
    const uuid = crypto.randomUUID()
    await send({ event: 'one', uuid })
    const first = await uuids()
    await send({ event: 'one', uuid }, { event: 'two' })
    await Promise.all([send({ event: 'one', uuid }), send({ event: 'one', uuid })])
    expect(await names()).toEqual(['one', 'two'])
    expect((await uuids())[0]).toBe(first[0])
    expect(first).not.toEqual([uuid])
  })

  it('is remembered for three days', async () => {
    await on(`export function processEvent(event) { event.uuid = '${GIVEN}'; return event }`)
    await send({ event: 'one' })
    const countAfter = async (ms: number) => {
      await forgetOldGivenUuids(app.db, new Date(app.services.now().getTime() + ms))
      const { id } = workspace.project
      return (await app.db.rows(sql`SELECT FROM plugin_given_uuid WHERE project_id = ${id}`)).length
    }
    expect(await countAfter(2.9 * DAY_MS)).toBe(1)
    expect(await countAfter(3.1 * DAY_MS)).toBe(0)
  })

  it.each([
    ['some text', `'abc'`, '"abc"'],
    ['a number', `5`, '5'],
    ['null', `null`, 'null'],
    ['an object', `{ a: 1 }`, '{"a":1}'],
  ])('stays its own when an app sets %s, which is said in its log', async (_, given, shown) => {
    const ids = await on(
      `export function processEvent(event) { event.uuid = ${given}; event.event += '!'; return event }`,
    )
    const [one, two] = [crypto.randomUUID(), crypto.randomUUID()]
    await send({ event: 'one', uuid: one }, { event: 'two', uuid: two })
    expect(await stored()).toMatchObject([
      { uuid: one, event: 'one!' },
      { uuid: two, event: 'two!' },
    ])
    expect(await logLines(app, ids)).toEqual([
      `WARN 2 events keep their own uuid: what the app has set is none, such as ${shown}`,
    ])
  })
})

describe('an event as an app sees it', () => {
  it('has what is documented, with person properties beside the others', async () => {
    await on(`export function processEvent(event) {
      event.properties.seen = JSON.stringify(event)
      return event
    }`)
    await send({ event: 'shown', properties: { a: 1, $set: { inside: 1 } }, $set: { outside: 2 } })
    const [event] = await stored()
    const seen = JSON.parse(String(event!.properties.seen))
    expect(seen).toEqual({
      uuid: event!.uuid,
      event: 'shown',
      distinct_id: 'ada',
      team_id: workspace.project.id,
      ip: '127.0.0.1',
      site_url: 'http://longshore.test',
      now: expect.stringMatching(/^\d{4}-.*Z$/),
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      properties: { a: 1, $ip: '127.0.0.1' },
      $set: { inside: 1, outside: 2 },
    })
    expect(event!.properties.$set).toEqual({ inside: 1, outside: 2 })
  })

  it.each([
    [
      'removes the address',
      `delete event.properties.$ip`,
      { before: '1.2.3.4', after: null, stored: undefined },
    ],
    ['sets `ip`', `event.ip = '5.6.7.8'`, { before: '1.2.3.4', after: '1.2.3.4', stored: '1.2.3.4' }],
    ['returns no `ip`', `delete event.ip`, { before: '1.2.3.4', after: '1.2.3.4', stored: '1.2.3.4' }],
  ])('has the address of its properties as `ip`, after an app that %s too', async (_, change, expected) => {
    await on(
      `export function processEvent(event) { event.properties.before = event.ip; ${change}; return event }`,
    )
    await on(`export function processEvent(event) { event.properties.after = event.ip; return event }`, {
      order: 2,
    })
    await send({ event: 'from', properties: { $ip: '1.2.3.4' } })
    const { before, after, $ip } = (await stored())[0]!.properties
    expect({ before, after, stored: $ip }).toEqual(expected)
  })

  it('can be given person properties, another time, name and distinct id', async () => {
    await on(`export function processEvent(event) {
      event.$set = { ...event.$set, plan: 'gold' }
      event.$set_once = { first: 'yes' }
      event.timestamp = '2020-02-03T04:05:06.789Z'
      event.event = 'renamed'
      event.distinct_id = 'grace'
      return event
    }`)
    await send({ event: 'plain', $set: { email: 'a@example.com' } })
    const { rows } = await app.services.eventStore.query({
      project_id: workspace.project.id,
      sql: `SELECT event, distinct_id, timestamp::text, properties::text FROM ${eventTables(workspace.project.id).events}`,
      parameters: [],
      timezone: 'UTC',
      max_rows: 10,
    })
    const [[event, distinct_id, timestamp, properties]] = rows as [[string, string, string, string]]
    expect([event, distinct_id]).toEqual(['renamed', 'grace'])
    expect(timestamp).toContain('2020-02-03 04:05:06.789')
    expect(JSON.parse(properties)).toMatchObject({
      $set: { email: 'a@example.com', plan: 'gold' },
      $set_once: { first: 'yes' },
    })
  })

  it('has a time in milliseconds where it was sent so, and in its form after that', async () => {
    const at = Date.UTC(2024, 5, 1, 10)
    const noted = (name: string) => `event.properties.${name} = event.timestamp`
    await on(`export function processEvent(event) { ${noted('first')}; event.event += '!'; return event }`)
    await on(
      `export function processEvent(event) {
        ${noted('second')}
        if (event.event === 'date!') event.timestamp = new Date(event.timestamp + 1000)
        if (event.event === 'text!') event.timestamp = Date.parse(event.timestamp) + 2000
        return event
      }`,
      { order: 2 },
    )
    await on(`export function processEvent(event) { ${noted('third')}; return event }`, { order: 3 })
    const text = new Date(at).toISOString()
    await send(
      { event: 'number', timestamp: at },
      { event: 'date', timestamp: at },
      { event: 'text', timestamp: text },
    )
    const seen = (await stored()).map(({ properties: { first, second, third } }) => [first, second, third])
    expect(seen).toEqual([
      [at, at, at],
      [at, at, expect.stringMatching(/^2024-06-01T10:00:01/)],
      [expect.stringMatching(/^2024-06-01T10:00:00/), expect.stringMatching(/^2024/), at + 2000],
    ])
    const { body } = await app.get(`/api/projects/${workspace.project.id}/events/`, {
      key: workspace.owner.key,
    })
    const times = body.results.map((event: { timestamp: string }) => Date.parse(event.timestamp))
    expect(times).toEqual([at + 2000, at + 1000, at])
  })

  it('cannot smuggle in what a store does not take', async () => {
    await on(`export function processEvent(event) {
      event.properties['__pro' + 'to__'] = { polluted: true }
      event.properties.nul = 'a\\0b'
      event.properties.half = '\\ud800'
      Object.defineProperty(event.properties, '__proto__', { value: { x: 1 }, enumerable: true })
      return event
    }`)
    await send({ event: 'odd' })
    const { properties } = (await stored())[0]!
    expect(properties.nul).toBe('ab')
    expect(properties.half).toBe('\ufffd')
    expect(Object.keys(properties)).not.toContain('__proto__')
  })
})

describe('apps that come with the server', () => {
  async function inline(url: string, config: object): Promise<number> {
    const at = app.services.now()
    const { id: plugin_id } = await app.db.only<{ id: number }>(
      sql`SELECT id FROM plugin WHERE url = ${url} AND organization_id IS NULL`,
    )
    const ids = await on('export {}', { config: config as Record<string, unknown>, enabled: false })
    await app.db.run(sql`
      UPDATE plugin_config SET plugin_id = ${plugin_id}, enabled = true, updated_at = ${at} WHERE id = ${ids.config_id}`)
    await app.services.changes.tell(app.db, 'plugin-config', ids.config_id)
    await app.plugins.idle()
    return ids.config_id
  }

  it('take part in the chain', async () => {
    await syncInlinePlugins(app.db, app.services.now())
    const id = await inline('inline:semver-flattener', { properties: 'version' })
    await on(
      `export function processEvent(event) { event.properties.after = event.properties.version__major; return event }`,
      {
        order: 2,
      },
    )
    await send({ event: 'built', properties: { version: '4.5.6' } })
    const [event] = await stored()
    expect(event!.properties).toMatchObject({ version__major: 4, after: 4 })
    expect(event!.properties.$plugins_succeeded).toEqual([
      expect.stringContaining(`(${id})`),
      expect.any(String),
    ])
  })

  it('do not run with a list that is too long, and as guards keep their events', async () => {
    await syncInlinePlugins(app.db, app.services.now())
    const names = Array.from({ length: 1001 }, (_, n) => `p${n}`)
    const config_id = await inline('inline:property-filter', { properties: names.join() })
    await send({ event: 'secret', properties: { p1: 1 } })
    expect(await stored()).toEqual([])
    const { error } = await app.db.only<{ error: { message: string } }>(
      sql`SELECT error FROM plugin_config WHERE id = ${config_id}`,
    )
    expect(error.message).toContain('1000 names at most')
  })
})
