import { transform } from 'esbuild'
import { afterAll, describe, expect, it } from 'vitest'
import { faultOf, kindsOf, makeApp, makeEvent, TestHost } from './fixture/apps.ts'
import { openSandbox } from './open.ts'

const sandbox = openSandbox({ threads: 1, geoip_database: null, limits: { call_cpu_ms: 1_000 } })
afterAll(() => sandbox.close())

const transpile = async (source: string) =>
  (await transform(source, { loader: 'ts', format: 'cjs', target: 'es2020' })).code

const FORMS: Record<string, string | Promise<string>> = {
  'a bare function': 'function processEvent(event) { event.properties.seen = 1; return event }',
  'a bare async function': 'async function processEvent(event) { event.properties.seen = 1; return event }',
  'a bare constant': 'const processEvent = (event) => ({ ...event, properties: { seen: 1 } })',
  'a bare function that ends in a comment':
    'function processEvent(event) { event.properties.seen = 1; return event } // done',
  'properties of exports': 'exports.processEvent = (event) => { event.properties.seen = 1; return event }',
  'module.exports': 'module.exports = { processEvent(event) { event.properties.seen = 1; return event } }',
  'exports.default': 'exports.default = { processEvent(event) { event.properties.seen = 1; return event } }',
  'the old batch function':
    'exports.processEventBatch = (events) => { events[0].properties.seen = 1; return events }',
  'the old batch function, async':
    'exports.processEventBatch = async (events) => { events[0].properties.seen = 1; return events }',
  'named exports of TypeScript': transpile(
    'export function processEvent(event: any): any { event.properties.seen = 1; return event }',
  ),
  'a default export of TypeScript': transpile(
    'const app = { processEvent(event: any) { event.properties.seen = 1; return event } }\nexport default app',
  ),
  'a bare function of TypeScript': transpile(
    'function processEvent(event: any) { event.properties.seen = 1; return event }',
  ),
  'a bare function beside an import': transpile(
    "import { createHash } from 'crypto'\nfunction processEvent(event: { properties: { seen?: number } }) { createHash('md5'); event.properties.seen = 1; return event }",
  ),
}

describe('finding the functions', () => {
  it.each(Object.keys(FORMS))('in %s', async (form) => {
    const code = await FORMS[form]!
    expect((await sandbox.inspect(code)).capabilities.methods).toEqual(['processEvent'])
    const [outcome] = await sandbox.processEvents(makeApp(code), new TestHost(), [makeEvent()], 60_000)
    expect(outcome).toMatchObject({ kind: 'changed', patch: { properties: { set: { seen: 1 } } } })
  })

  it('takes no bare function as soon as anything is exported', async () => {
    const offer = await sandbox.inspect('function processEvent(e) { return e }\nexports.onEvent = () => {}')
    expect(offer.capabilities.methods).toEqual(['onEvent'])
  })

  it('names everything there is, in the fixed order', async () => {
    const offer = await sandbox.inspect(`
      exports.getSettings = () => ({})
      exports.composeWebhook = () => null
      exports.processEvent = (event) => event
      exports.exportEvents = async () => {}
      exports.teardownPlugin = () => {}
      exports.setupPlugin = async () => {}
      exports.runEveryMinute = () => {}
      exports.runEveryHour = async () => {}
      exports.jobs = { again() {}, later: async () => {}, notOne: 5 }
      exports.metrics = { total: 'sum', most: 'max', least: 'min' }
      exports.somethingElse = () => {}
    `)
    expect(offer.capabilities).toEqual({
      methods: [
        'setupPlugin',
        'teardownPlugin',
        'exportEvents',
        'onEvent',
        'processEvent',
        'composeWebhook',
        'getSettings',
      ],
      scheduled_tasks: ['runEveryMinute', 'runEveryHour'],
      jobs: ['again', 'later'],
    })
    expect({ ...offer.metrics }).toEqual({ total: 'sum', most: 'max', least: 'min' })
  })

  it('finds bare tasks, jobs and metrics', async () => {
    const offer = await sandbox.inspect(
      "async function runEveryDay() {}\nconst jobs = { again() {} }\nconst metrics = { total: 'sum' }",
    )
    expect(offer.capabilities).toEqual({ methods: [], scheduled_tasks: ['runEveryDay'], jobs: ['again'] })
    expect({ ...offer.metrics }).toEqual({ total: 'sum' })
  })

  it('gives an app with exportEvents an onEvent that hands over one event', async () => {
    const app = makeApp('exports.exportEvents = async (events) => events.length')
    const result = await sandbox.call(app, new TestHost(), { method: 'onEvent', event: { event: 'seen' } })
    expect(result).toBe(1)
  })

  it('names a hundred exports at most: whoever looks at them should not take long', async () => {
    const offer = await sandbox.inspect('for (let n = 0; n < 5000; n++) exports[`procesEvent${n}`] = n')
    expect(offer.exports).toHaveLength(100)
    expect(offer.exports[0]).toBe('procesEvent0')
  })

  it('offers nothing for code without functions', async () => {
    const offer = await sandbox.inspect('const five = 5')
    expect(offer.capabilities).toEqual({ methods: [], scheduled_tasks: [], jobs: [] })
  })
})

describe('code that does not load', () => {
  it.each([
    ['a syntax error', 'function (', /./],
    ['a throw', "throw new TypeError('not today')", /not today/],
    ['an unknown import', "require('fs')", /fs cannot be imported.*crypto.*zlib.*plugin-contrib/],
    ['a metric of an unknown kind', "exports.metrics = { a: 'average' }", /average/],
    ['an endless loop', 'while (true) {}', /CPU/],
    ['a fetch at the top level that is awaited by nobody', "fetch('http://a/'); storage.get('a')", /storage/],
  ])('%s', async (_, code, message) => {
    const inspected = await faultOf(sandbox.inspect(code))
    expect(inspected).toMatchObject({ kind: 'load', message: expect.stringMatching(message) })
    const host = new TestHost()
    const app = makeApp(code)
    expect(await faultOf(sandbox.prepare(app, host))).toMatchObject({ kind: 'load' })
    expect(await faultOf(sandbox.processEvents(app, host, [makeEvent()], 60_000))).toMatchObject({
      kind: 'load',
    })
  })

  it('says where', async () => {
    const fault = await faultOf(sandbox.inspect('\n\nnull.nothing'))
    expect(fault.error.stack).toMatch(/index\.js:3:1\)/)
  })

  it('has neither network, storage nor log while it is looked at', async () => {
    const code = `
      console.log('somebody there?')
      exports.processEvent = (event) => event
      fetch('http://example.com/').then(() => { while (true) {} })
    `
    expect((await sandbox.inspect(code)).capabilities.methods).toEqual(['processEvent'])
  })
})

describe('versions', () => {
  it('puts a new version in the place of the old one', async () => {
    const host = new TestHost()
    const first = makeApp(
      "exports.teardownPlugin = () => console.log('over')\nexports.processEvent = (e) => e",
    )
    expect(kindsOf(await sandbox.processEvents(first, host, [makeEvent()], 60_000))).toEqual(['unchanged'])
    const second = { ...first, version: '2', code: 'exports.processEvent = () => null' }
    expect(kindsOf(await sandbox.processEvents(second, host, [makeEvent()], 60_000))).toEqual(['dropped'])
    await expect.poll(() => host.lines).toEqual([{ source: 'CONSOLE', type: 'LOG', message: 'over' }])
  })
})
