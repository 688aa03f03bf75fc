// @module-tag slow
import { afterAll, describe, expect, it } from 'vitest'
import { faultOf, kindsOf, makeApp, makeEvent, TestHost } from './fixture/apps.ts'
import { openSandbox } from './open.ts'

const sandbox = openSandbox({ threads: 1, geoip_database: null })
afterAll(() => sandbox.close())

async function processOne(
  body: string,
  event = makeEvent({ a: 1, list: [1], deep: { b: { c: 1 } } }),
  host = new TestHost(),
) {
  const app = makeApp(`exports.processEvent = (event, meta) => { ${body} }`)
  const [outcome] = await sandbox.processEvents(app, host, [event], 60_000)
  return outcome!
}
const patchOf = async (body: string, event?: string) => {
  const outcome = await processOne(body, event)
  if (outcome.kind !== 'changed') throw new Error(`it is ${outcome.kind}`)
  const { set, unset, properties } = outcome.patch
  return { set: { ...set }, unset, properties: { set: { ...properties.set }, unset: properties.unset } }
}
const none = { set: {}, unset: [] }

describe('what becomes of an event', () => {
  it.each([
    ['return event'],
    ['return { ...event }'],
    ['return JSON.parse(JSON.stringify(event))'],
    ['event.properties.a = 1; event.properties.deep = { b: { c: 1 } }; return event'],
    ['delete event.uuid; return event'],
    ['event.uuid = undefined; return event'],
    ['const { uuid, ...rest } = event; return rest'],
    ['event.properties.nothing = undefined; return event'],
    ['event.properties.method = () => 1; return event'],
    ['const heir = Object.create(event.properties); heir.a = 2; heir.b = 2; return event'],
    ['event.properties.b = 2; delete event.properties.b; return event'],
    ['event.properties = event.properties; return event'],
    ['Object.freeze(event.properties); return event'],
    ["Object.defineProperty(event.properties, 'a', { writable: false }); return event"],
  ])('unchanged: %s', async (body) => {
    expect(await processOne(body)).toEqual({ kind: 'unchanged' })
  })

  it.each([['return null'], ['return undefined'], ['']])('dropped: %s', async (body) => {
    expect(await processOne(body)).toEqual({ kind: 'dropped' })
  })

  it.each([
    ['event.properties.a = 2; return event', { ...none, properties: { set: { a: 2 }, unset: [] } }],
    ['event.properties.n = null; return event', { ...none, properties: { set: { n: null }, unset: [] } }],
    [
      'event.properties.list.push(2); return event',
      { ...none, properties: { set: { list: [1, 2] }, unset: [] } },
    ],
    [
      'event.properties.deep.b.c = 2; return event',
      { ...none, properties: { set: { deep: { b: { c: 2 } } }, unset: [] } },
    ],
    ['delete event.properties.a; return event', { ...none, properties: { set: {}, unset: ['a'] } }],
    [
      "delete event.properties.a; event.properties.seen = 'a' in event.properties; return event",
      { ...none, properties: { set: { seen: false }, unset: ['a'] } },
    ],
    [
      'event.properties.a = 2; event.properties.sum = event.properties.a + event.properties.list[0]; return event',
      { ...none, properties: { set: { a: 2, sum: 3 }, unset: [] } },
    ],
    [
      'event.properties.b = 2; event.properties.names = Object.keys(event.properties).sort().join(); return event',
      { ...none, properties: { set: { b: 2, names: 'a,b,deep,list' }, unset: [] } },
    ],
    [
      "Object.defineProperty(event.properties, 'a', { get: () => 2 }); return event",
      { ...none, properties: { set: { a: 2 }, unset: [] } },
    ],
    [
      "Object.assign(event.properties, { a: 2, b: 3 }); Reflect.deleteProperty(event.properties, 'list'); return event",
      { ...none, properties: { set: { a: 2, b: 3 }, unset: ['list'] } },
    ],
    [
      "Object.getOwnPropertyDescriptor(event.properties, 'deep').value.b = 2; return event",
      { ...none, properties: { set: { deep: { b: 2 } }, unset: [] } },
    ],
    [
      'const { properties } = event; properties.a = 2; return { ...event, properties: { ...properties, b: 3 } }',
      { ...none, properties: { set: { a: 2, b: 3 }, unset: [] } },
    ],
    [
      'event.$set = { x: 1 }; const all = Object.entries(event.properties).length; event.properties = { all }; return event',
      { set: { $set: { x: 1 } }, unset: [], properties: { set: { all: 3 }, unset: ['a', 'list', 'deep'] } },
    ],
    ["event.uuid = 'another'; return event", { set: { uuid: 'another' }, unset: [], properties: none }],
    ["return { ...event, uuid: 'another' }", { set: { uuid: 'another' }, unset: [], properties: none }],
    ['event.properties.a = undefined; return event', { ...none, properties: { set: {}, unset: ['a'] } }],
    [
      "event.event = 'else'; event.$set = { x: 1 }; delete event.ip; return event",
      { set: { event: 'else', $set: { x: 1 } }, unset: ['ip'], properties: none },
    ],
    [
      'event.properties.at = new Date(0); event.properties.nan = NaN; return event',
      { ...none, properties: { set: { at: '1970-01-01T00:00:00.000Z', nan: null }, unset: [] } },
    ],
    [
      "return { event: 'seen', team_id: 7, properties: { b: 1 } }",
      { set: {}, unset: ['distinct_id', 'ip'], properties: { set: { b: 1 }, unset: ['a', 'list', 'deep'] } },
    ],
    [
      'class Own { get x() { return 1 } toJSON() { return { own: true } } }; event.properties.a = new Own(); return event',
      { ...none, properties: { set: { a: { own: true } }, unset: [] } },
    ],
  ])('changed: %s', async (body, patch) => {
    expect(await patchOf(body)).toEqual(patch)
  })

  it.each([
    [
      'delete event.properties.a; event.properties.seen = String(event.properties.a); return event',
      { a: undefined, seen: 'undefined' },
    ],
    [
      'event.properties.a; event.properties.a = 2; event.properties.c = event.properties.a; return event',
      { a: 2, c: 2 },
    ],
    [
      'event.properties.b; event.properties.c = Object.keys(event.properties).join(); return event',
      { c: 'a,b' },
    ],
    ['event.properties.c = [event.event, event.properties.b].join(); return event', { c: 'seen,two' }],
    [
      "event.properties.c = ['ip' in event, 'no' in event, 'b' in event.properties].join(); return event",
      { c: 'true,false,true' },
    ],
    [
      'event.properties.c = event.properties.toString === Object.prototype.toString; return event',
      { c: true },
    ],
    ['event.event; event.properties.c = JSON.stringify(event).length > 100; return event', { c: true }],
    [
      'event.properties.b; Object.freeze(event.properties); return { ...event, properties: { ...event.properties, c: 1 } }',
      { c: 1 },
    ],
    [
      "event.distinct_id; event.properties.a; event.properties.c = Object.hasOwn(event, 'distinct_id'); return event",
      { c: true },
    ],
  ])('looked at piece by piece: %s', async (body, expected) => {
    const { set, unset, properties } = await patchOf(body, makeEvent({ a: 1, b: 'two' }))
    expect({ set, unset }).toEqual(none)
    const gone = Object.fromEntries(properties.unset.map((name) => [name, undefined]))
    expect({ ...gone, ...properties.set }).toStrictEqual(expected)
  })

  it.each([
    ['event.team_id = 8; return event', 'result'],
    ['delete event.team_id; return event', 'result'],
    ['return 5', 'result'],
    ["return 'event'", 'result'],
    ['return [event]', 'result'],
    ['event.properties = null; return event', 'result'],
    ['event.properties = []; return event', 'result'],
    ["event.properties.x = 'x'.repeat(1 << 20); return event", 'result'],
    ['let a = []; for (let i = 0; i < 600; i++) a = [a]; event.properties.a = a; return event', 'result'],
    ['event.properties.a = event; return event', 'threw'],
    ['event.properties.a = 1n; return event', 'threw'],
    ["throw new Error('no')", 'threw'],
    ["return Promise.reject(new Error('no'))", 'threw'],
  ])('failed: %s', async (body, kind) => {
    expect(await processOne(body)).toMatchObject({ kind: 'failed', fault: { kind } })
  })

  it('refuses what is over a megabyte with what was there before', async () => {
    const event = makeEvent({ old: 'x'.repeat(700_000) })
    expect(await processOne("event.properties.more = 'y'.repeat(500000); return event", event)).toMatchObject(
      {
        kind: 'failed',
        fault: { kind: 'result' },
      },
    )
    const instead = "event.properties = { more: 'y'.repeat(500000) }; return event"
    expect(await processOne(instead, event)).toMatchObject({ kind: 'changed' })
  })

  it('tells what was thrown', async () => {
    const outcome = await processOne(
      "class Odd extends Error { name = 'Odd' }; throw new Odd('no such luck')",
    )
    expect(outcome).toMatchObject({
      kind: 'failed',
      fault: {
        kind: 'threw',
        may_retry: false,
        error: {
          name: 'Odd',
          message: 'no such luck',
          stack: expect.stringMatching(/Odd: no such luck\n.*index\.js:1/),
        },
      },
    })
  })
})

describe('a batch', () => {
  const numbered = (count: number) => Array.from({ length: count }, (_, n) => makeEvent({ n }))
  const numbersOf = (outcomes: readonly unknown[]) =>
    outcomes.map(
      (outcome) =>
        (outcome as { patch: { properties: { set: { order: number } } } }).patch.properties.set.order,
    )

  it('goes through in order, each event on its own', async () => {
    const app = makeApp(`
      exports.processEvent = (event) => {
        if (event.properties.n === 1) return null
        if (event.properties.n === 2) { event.properties.half = 'made'; throw new Error('no') }
        return event
      }`)
    const outcomes = await sandbox.processEvents(app, new TestHost(), numbered(4), 60_000)
    expect(kindsOf(outcomes)).toEqual(['unchanged', 'dropped', 'threw', 'unchanged'])
  })

  it('keeps events apart for an app that holds on to them', async () => {
    const app = makeApp(`
      const held = []
      exports.processEvent = (event) => {
        for (const earlier of held) { earlier.properties.late = true; delete earlier.properties.n }
        held.push(event)
        event.properties.seen = Object.keys(event.properties).length
        return event
      }`)
    const outcomes = await sandbox.processEvents(app, new TestHost(), numbered(3), 60_000)
    expect(outcomes).toMatchObject(
      Array.from({ length: 3 }, () => ({ patch: { properties: { set: { seen: 1 }, unset: [] } } })),
    )
  })

  it('keeps the order when the app waits, and between batches; the app is told of it once', async () => {
    const host = new TestHost()
    host.answerFetch = async ({ url }) => {
      // The earlier ones take longer.
      for (let n = Number(url.slice(-1)); n < 5; n++) await new Promise((resolve) => setImmediate(resolve))
      return { status: 200, headers: {}, body: '' }
    }
    const app = makeApp(`
      let order = 0
      exports.processEvent = async (event) => {
        await fetch('http://a/' + event.properties.n)
        event.properties.order = order++
        return event
      }`)
    const batches = await Promise.all([
      sandbox.processEvents(app, host, numbered(3), 60_000),
      sandbox.processEvents(app, host, numbered(3), 60_000),
    ])
    expect(batches.map(numbersOf)).toEqual([
      [0, 1, 2],
      [3, 4, 5],
    ])
    expect(host.lines).toEqual([
      { source: 'SYSTEM', type: 'WARN', message: expect.stringContaining('processEvent waits') },
    ])
  })

  it('says nothing to an async function that waits for nobody', async () => {
    const host = new TestHost()
    const app = makeApp('exports.processEvent = async (event) => event')
    expect(kindsOf(await sandbox.processEvents(app, host, numbered(2), 60_000))).toEqual([
      'unchanged',
      'unchanged',
    ])
    expect(host.lines).toEqual([])
  })

  it('ends when its time is up', async () => {
    const app = makeApp(`
      exports.processEvent = (event) => event.properties.n === 1 ? new Promise(() => {}) : event`)
    await sandbox.prepare(app, new TestHost())
    const outcomes = await sandbox.processEvents(app, new TestHost(), numbered(4), 3_000)
    expect(kindsOf(outcomes)).toEqual(['unchanged', 'time', 'time', 'time'])
    // The others of the app do not suffer.
    expect(kindsOf(await sandbox.processEvents(app, new TestHost(), numbered(1), 60_000))).toEqual([
      'unchanged',
    ])
  })

  it('ends when its time is up although setupPlugin does not', async () => {
    const app = makeApp(
      'exports.setupPlugin = () => new Promise(() => {})\nexports.processEvent = (event) => event',
    )
    const outcomes = await sandbox.processEvents(app, new TestHost(), numbered(2), 300)
    expect(kindsOf(outcomes)).toEqual(['late', 'late'])
  })

  it('fails as a whole once a limit was hit, without a second for each', async () => {
    const app = makeApp(`
      exports.processEvent = (event) => { while (event.properties.n === 1) {} return event }`)
    const outcomes = await sandbox.processEvents(app, new TestHost(), numbered(100), 60_000)
    expect(kindsOf(outcomes)).toEqual(['unchanged', ...Array.from({ length: 99 }, () => 'cpu')])
    expect(kindsOf(await sandbox.processEvents(app, new TestHost(), numbered(1), 60_000))).toEqual([
      'unchanged',
    ])
  })

  it('may be empty', async () => {
    expect(
      await sandbox.processEvents(makeApp('exports.processEvent = (e) => e'), new TestHost(), [], 60_000),
    ).toEqual([])
  })
})

describe('calls', () => {
  it('tell a RetryError from others', async () => {
    const app = makeApp(`
      const { RetryError: imported } = require('@posthog/plugin-scaffold')
      class Own extends Error {}; Object.defineProperty(Own, 'name', { value: 'RetryError' })
      exports.jobs = {
        a() { throw new RetryError('later') }, async b() { throw new imported('later') }, c() { throw new Own('later') },
        d() { throw new Error('never') } }`)
    const fault = (name: string) =>
      faultOf(sandbox.call(app, new TestHost(), { method: 'job', name, payload: null }))
    for (const name of ['a', 'b', 'c']) {
      expect(await fault(name)).toMatchObject({ kind: 'threw', may_retry: true, message: 'later' })
    }
    expect(await fault('d')).toMatchObject({ kind: 'threw', may_retry: false, message: 'never' })
  })

  it('fail when there is no such function', async () => {
    const app = makeApp('exports.onEvent = () => {}')
    const host = new TestHost()
    for (const call of [
      { method: 'composeWebhook', event: {} },
      { method: 'job', name: 'none', payload: null },
      { method: 'job', name: 'toString', payload: null },
      { method: 'task', name: 'runEveryDay' },
    ] as const) {
      expect(await faultOf(sandbox.call(app, host, call))).toMatchObject({ kind: 'threw' })
    }
  })

  it('wait for each other only where the app does', async () => {
    const host = new TestHost()
    const answers: (() => void)[] = []
    host.answerFetch = () =>
      new Promise((resolve) => answers.push(() => resolve({ status: 200, headers: {}, body: '' })))
    const app = makeApp(
      "exports.onEvent = async (event) => { if (event.slow) await fetch('http://a/'); return event.slow }",
    )
    const slow = sandbox.call(app, host, { method: 'onEvent', event: { slow: true } })
    expect(await sandbox.call(app, host, { method: 'onEvent', event: { slow: false } })).toBe(false)
    await expect.poll(() => answers).toHaveLength(1)
    answers[0]!()
    expect(await slow).toBe(true)
  })

  it.each(['const all = {}; all.all = all; return all', 'return 1n', "return 'x'.repeat(1 << 21)"])(
    'ignore what onEvent returns if it cannot be kept: %s',
    async (body) => {
      const app = makeApp(`exports.onEvent = () => { ${body} }`)
      expect(await sandbox.call(app, new TestHost(), { method: 'onEvent', event: {} })).toBeNull()
    },
  )

  it('refuse a result of more than a megabyte', async () => {
    const app = makeApp("exports.composeWebhook = () => ({ url: 'x'.repeat(1 << 21) })")
    const fault = await faultOf(sandbox.call(app, new TestHost(), { method: 'composeWebhook', event: {} }))
    expect(fault).toMatchObject({ kind: 'result' })
  })
})
