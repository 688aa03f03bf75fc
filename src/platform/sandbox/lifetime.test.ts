// @module-tag slow
import { readdirSync } from 'node:fs'
import { getPriority } from 'node:os'
import { afterAll, describe, expect, it } from 'vitest'
import { faultOf, kindsOf, makeApp, makeEvent, textAnswer, TestHost } from './fixture/apps.ts'
import { openSandbox } from './open.ts'

const limits = { call_wall_ms: 3_000, teardown_wall_ms: 1_000, call_cpu_ms: 1_000 }
const sandbox = openSandbox({ threads: 1, geoip_database: null, limits })
afterAll(() => sandbox.close())

const messagesOf = (host: TestHost) => host.lines.map(({ message }) => message)
/** Its fetches wait until `answer` is called. */
function slowHost() {
  const host = new TestHost()
  let answer = () => {}
  const answered = new Promise<void>((resolve) => (answer = resolve))
  host.answerFetch = () => answered.then(() => textAnswer(200, 'ok'))
  return { host, answer }
}
const never = () => new Promise<never>(() => undefined)

describe('setupPlugin', () => {
  it('runs once, before everything else, also for many calls at once', async () => {
    const host = new TestHost()
    const app = makeApp(`
      exports.setupPlugin = async () => { console.log('setting up'); await meta_ready(); console.log('set up') }
      const meta_ready = () => fetch('http://a/')
      exports.onEvent = () => console.log('called')`)
    await Promise.all([
      sandbox.prepare(app, host),
      sandbox.call(app, host, { method: 'onEvent', event: {} }),
      sandbox.call(app, host, { method: 'onEvent', event: {} }),
    ])
    expect(messagesOf(host)).toEqual(['setting up', 'set up', 'called', 'called'])
  })

  it.each([
    ["throw new Error('no')", false],
    ["throw new RetryError('not yet')", true],
    ["return Promise.reject(new RetryError('not yet'))", true],
    ['return new Promise(() => {})', false],
    ['while (true) {}', false],
    ['const all = []; while (true) all.push(new Uint8Array(1e6))', false],
  ])('%s fails whoever came first, and is tried again', async (body, may_retry) => {
    const host = new TestHost()
    const app = makeApp(`
      exports.setupPlugin = () => { console.log('tried'); ${body} }
      exports.processEvent = (event) => event`)
    const fault = await faultOf(sandbox.prepare(app, host))
    expect(fault).toMatchObject({ kind: 'setup', may_retry })
    expect(await faultOf(sandbox.processEvents(app, host, [makeEvent()], 60_000))).toMatchObject({
      kind: 'setup',
    })
    expect(messagesOf(host)).toEqual(['tried', 'tried'])
  })
})

describe('dispose', () => {
  const code = `
    exports.setupPlugin = () => {}
    exports.teardownPlugin = async (meta) => { await meta.storage.set('ended', true) }
    exports.onEvent = (event) => event.wait ? fetch('http://a/') : null`

  it('lets what is under way end, then tears down', async () => {
    const { host, answer } = slowHost()
    const app = makeApp(code)
    const call = sandbox.call(app, host, { method: 'onEvent', event: { wait: true } })
    await expect.poll(() => host.requests).toHaveLength(1)
    const disposed = sandbox.dispose(app.id)
    // The next call is for a new instance, and does not wait.
    expect(await sandbox.call(app, host, { method: 'onEvent', event: {} })).toBeNull()
    expect(host.stored.has('ended')).toBe(false)
    answer()
    await call
    await disposed
    expect(host.stored.get('ended')).toBe('true')
  })

  it('ends what hangs when its time is over', async () => {
    const host = new TestHost()
    let signal: AbortSignal | undefined
    host.answerFetch = (_, given) => {
      signal = given
      return never()
    }
    const app = makeApp(code)
    const call = faultOf(sandbox.call(app, host, { method: 'onEvent', event: { wait: true } }))
    await expect.poll(() => signal).toBeDefined()
    await sandbox.dispose(app.id)
    expect(['gone', 'time']).toContain((await call).kind)
    expect(host.stored.get('ended')).toBe('true')
    expect(signal!.aborted).toBe(true)
  })

  it('leaves an app alone that is at work again before the teardown has ended', async () => {
    const [before, again] = [slowHost(), slowHost()]
    const app = makeApp(`
      exports.teardownPlugin = () => fetch('http://a/')
      exports.onEvent = async (event, { storage }) => {
        if (event.waits) await fetch('http://b/')
        await storage.set('seen', true)
      }`)
    const call = (waits: boolean, { host }: typeof again) =>
      sandbox.call(app, host, { method: 'onEvent', event: { waits } })
    await call(false, before)
    const disposed = sandbox.dispose(app.id)
    await expect.poll(() => before.host.requests).toHaveLength(1)
    const called = call(true, again)
    await expect.poll(() => again.host.requests).toHaveLength(1)
    before.answer()
    await disposed
    again.answer()
    await called
    expect(again.host.stored.get('seen')).toBe('true')
  })

  it('does nothing for an app that was never there, or never set up', async () => {
    await sandbox.dispose(987_654)
    const host = new TestHost()
    const app = makeApp(
      "exports.setupPlugin = () => { throw new Error('no') }; exports.teardownPlugin = () => console.log('x')",
    )
    await faultOf(sandbox.prepare(app, host))
    await sandbox.dispose(app.id)
    expect(host.lines).toEqual([])
  })

  it.each(['while (true) {}', 'return new Promise(() => {})', "throw new Error('no')"])(
    'gives teardownPlugin its time only: %s',
    async (body) => {
      const host = new TestHost()
      const app = makeApp(`exports.teardownPlugin = () => { ${body} }\nexports.onEvent = () => 1`)
      await sandbox.prepare(app, host)
      await sandbox.dispose(app.id)
      expect(messagesOf(host)).toEqual([expect.stringMatching(/^teardownPlugin failed/)])
    },
  )

  it('makes a new instance for the next call', async () => {
    const host = new TestHost()
    const app = makeApp('let calls = 0\nexports.onEvent = () => ++calls')
    const call = () => sandbox.call(app, host, { method: 'onEvent', event: {} })
    expect([await call(), await call()]).toEqual([1, 2])
    await sandbox.dispose(app.id)
    expect(await call()).toBe(1)
  })
})

describe('idle instances', () => {
  it('are given up and made again', async () => {
    const quick = openSandbox({ threads: 1, geoip_database: null, limits: { idle_ms: 50 } })
    const host = new TestHost()
    const app = makeApp(
      "let calls = 0\nexports.teardownPlugin = () => console.log('over')\nexports.onEvent = () => ++calls",
    )
    expect(await quick.call(app, host, { method: 'onEvent', event: {} })).toBe(1)
    await expect.poll(() => messagesOf(host)).toEqual(['over'])
    expect(await quick.call(app, host, { method: 'onEvent', event: {} })).toBe(1)
    await quick.close()
  })
})

describe('limits', () => {
  it('ends a call that waits too long, and its requests', async () => {
    const host = new TestHost()
    let signal: AbortSignal | undefined
    host.answerFetch = (_, given) => {
      signal = given
      return never()
    }
    const app = makeApp(
      "let calls = 0\nexports.onEvent = async () => { if (calls++ === 0) await fetch('http://a/'); return calls }",
    )
    const fault = await faultOf(sandbox.call(app, host, { method: 'onEvent', event: {} }))
    expect(fault).toMatchObject({ kind: 'time' })
    expect(signal!.aborted).toBe(true)
    // It only waited: the instance is as good as before.
    expect(await sandbox.call(app, host, { method: 'onEvent', event: {} })).toBe(2)
  })

  it.each([
    ['cpu', 'while (true) {}'],
    ['memory', 'const all = []; while (true) all.push(new Uint8Array(1e6))'],
  ])('makes an instance anew after a fault of %s', async (kind, body) => {
    const host = new TestHost()
    const app = makeApp(
      `let calls = 0; exports.onEvent = (event) => { calls++; if (event.bad) { ${body} } return calls }`,
    )
    const call = (bad: boolean) => sandbox.call(app, host, { method: 'onEvent', event: { bad } })
    expect([await call(false), await call(false)]).toEqual([1, 2])
    expect(await faultOf(call(true))).toMatchObject({ kind })
    expect(await call(false)).toBe(1)
  })

  it('counts the time of a call over all its waits', async () => {
    const patient = { call_cpu_ms: 300, call_wall_ms: 100_000 }
    const strict = openSandbox({ threads: 1, geoip_database: null, limits: patient })
    const app = makeApp(`
      exports.onEvent = async (event, meta) => {
        for (;;) {
          for (let n = 0; n < 1e5; n++);
          await meta.storage.get('a')
        }
      }`)
    const fault = await faultOf(strict.call(app, new TestHost(), { method: 'onEvent', event: {} }))
    expect(fault).toMatchObject({ kind: 'cpu' })
    await strict.close()
  })
})

describe('close', () => {
  it('tears everything down, fails what waits, and takes nothing more', async () => {
    const closing = openSandbox({ threads: 2, geoip_database: null })
    const host = new TestHost()
    host.answerFetch = never
    const apps = [1, 2, 3].map(() =>
      makeApp(
        "exports.teardownPlugin = () => console.log('over')\nexports.onEvent = () => fetch('http://a/')",
      ),
    )
    await Promise.all(apps.map((app) => closing.prepare(app, host)))
    const call = faultOf(closing.call(apps[0]!, host, { method: 'onEvent', event: {} }))
    await expect.poll(() => host.requests).toHaveLength(1)
    await closing.close()
    expect(await call).toMatchObject({ kind: 'gone' })
    expect(messagesOf(host)).toEqual(['over', 'over', 'over'])
    expect(await faultOf(closing.prepare(apps[0]!, host))).toMatchObject({ kind: 'gone' })
    expect(await faultOf(closing.inspect(''))).toMatchObject({ kind: 'gone' })
  })

  it('is quick when nothing was ever started', async () => {
    await openSandbox({ threads: 2, geoip_database: null }).close()
  })
})

describe('apps beside each other', () => {
  it('see nothing of each other', async () => {
    const host = new TestHost()
    const shared = { tenant: 'shared', group: 'shared' }
    const one = makeApp(
      'globalThis.left = 1; Object.prototype.polluted = 1; exports.processEvent = (e) => e',
      shared,
    )
    const two = makeApp(
      'exports.processEvent = (event) => { event.properties.found = [typeof left, typeof {}.polluted]; return event }',
      shared,
    )
    expect(kindsOf(await sandbox.processEvents(one, host, [makeEvent()], 60_000))).toEqual(['unchanged'])
    expect(await sandbox.processEvents(two, host, [makeEvent()], 60_000)).toMatchObject([
      { patch: { properties: { set: { found: ['undefined', 'undefined'] } } } },
    ])
  })
})

describe.runIf(process.platform === 'linux')('priority', () => {
  it('is low for code that is only looked at or tried out, and for nobody else', async () => {
    const own = openSandbox({ threads: 1, geoip_database: null })
    const before = countLowThreads()
    const code = 'exports.onEvent = () => 1'
    await own.prepare(makeApp(code), new TestHost())
    expect(countLowThreads()).toBe(before)
    await own.inspect(code)
    expect(countLowThreads()).toBe(before + 1)
    await own.prepare(makeApp(code, { tenant: null }), new TestHost())
    expect(countLowThreads()).toBe(before + 1)
    await own.close()
  })

  function countLowThreads(): number {
    const threads = readdirSync('/proc/self/task').map(Number)
    return threads.filter((thread) => getPriority(thread) === getPriority() + 15).length
  }
})
