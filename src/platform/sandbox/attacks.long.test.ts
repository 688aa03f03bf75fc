// Code that means harm. Each attack must end by a limit or do nothing at all, while apps on the same thread and on another
// keep answering.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { faultOf, kindsOf, makeApp, makeEvent, runCode, TestHost } from './fixture/apps.ts'
import { openSandbox } from './open.ts'
import type { SandboxedApp } from './sandbox.ts'

const limits = { event_cpu_ms: 250, call_cpu_ms: 250, call_wall_ms: 2_000 }
const sandbox = openSandbox({ threads: 2, geoip_database: null, limits })
afterAll(() => sandbox.close())

// On different threads: tenants take turns.
const ATTACKED = 'a'
const ELSEWHERE = 'b'
const PLENTY_MS = 60_000

const host = new TestHost()
const HARMLESS = 'exports.processEvent = (event) => event\nexports.onEvent = () => "here"'
const sameThread = makeApp(HARMLESS, { tenant: ATTACKED })
const otherThread = makeApp(HARMLESS, { tenant: ELSEWHERE })

async function expectNeighboursToAnswer(): Promise<void> {
  for (const neighbour of [sameThread, otherThread]) {
    expect(kindsOf(await sandbox.processEvents(neighbour, host, [makeEvent()], PLENTY_MS))).toEqual([
      'unchanged',
    ])
    expect(await sandbox.call(neighbour, host, { method: 'onEvent', event: {} })).toBe('here')
  }
}

beforeAll(expectNeighboursToAnswer)

/** As processEvent, and as a call; the neighbours are asked while it goes on and afterwards. */
async function attack(body: string): Promise<{ events: string[]; call: string }> {
  const code = `exports.processEvent = (event) => { ${body}\nreturn event }
    exports.onEvent = (event) => { ${body}\nreturn event }`
  const app = makeApp(code, { tenant: ATTACKED })
  const events = sandbox.processEvents(app, host, [makeEvent(), makeEvent()], PLENTY_MS)
  await expectNeighboursToAnswer()
  const kinds = kindsOf(await events)
  const call = sandbox.call(app, host, { method: 'onEvent', event: { properties: {} } }).then(
    () => 'done',
    (error: { kind: string }) => error.kind,
  )
  await expectNeighboursToAnswer()
  return { events: kinds, call: await call }
}

const twice = (kind: string) => ({ events: [kind, kind], call: kind })

describe('time', () => {
  it.each([
    ['a loop', 'while (true) {}'],
    ['a loop that catches everything', 'for (;;) { try { for (;;) {} } catch {} finally { continue } }'],
    ['a loop in a generator', 'function* more() { while (true) yield 1 }; for (const one of more()) {}'],
    ['a loop of microtasks', 'const again = () => Promise.resolve().then(again); again()'],
    ['a loop in an async function', 'return (async () => { try { while (true) {} } catch {} })()'],
    ['a loop of awaits', 'return (async () => { while (true) await null })()'],
    ['a thenable without end', 'const next = () => ({ then(resolve) { resolve(next()) } }); return next()'],
    ['a catastrophic expression', "/^(a+)+$/.test('a'.repeat(40) + 'b')"],
    [
      'a comparator that makes no sense',
      'Array.from({ length: 3e5 }, Math.random).sort(() => { for (let i = 0; i < 1e3; i++); return Math.random() - 0.5 })',
    ],
    [
      'a getter in the result',
      'Object.defineProperty(event.properties, "x", { enumerable: true, get() { while (true) {} } })',
    ],
    ['toJSON in the result', 'event.properties.x = { toJSON() { while (true) {} } }'],
    [
      'a proxy as the result',
      'return new Proxy(event, { ownKeys() { while (true) {} }, get() { while (true) {} } })',
    ],
    [
      'a thrown object that is slow to tell',
      'throw new (class extends Error { get message() { while (true) {} } })()',
    ],
    ['a slow stack', 'Error.prepareStackTrace = () => { while (true) {} }; null.x'],
  ])('%s', async (_, body) => {
    expect(await attack(body)).toEqual(twice('cpu'))
  })

  it.each([
    ['a huge join', "new Array(5e8).join('abc')"],
    ['a huge fill', 'new Array(2 ** 32 - 1).fill(0)'],
    ['a search through nothing', 'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)'],
  ])('inside the engine: %s', async (_, body) => {
    const { events, call } = await attack(body)
    for (const kind of [...events, call]) expect(['killed', 'memory', 'cpu', 'threw']).toContain(kind)
  })

  it('inside the engine, in pieces', async () => {
    const { events, call } = await attack(
      "let s = 'x'.repeat(1 << 20); while (true) s = s.split('').reverse().join('')",
    )
    for (const kind of [...events, call]) expect(['killed', 'memory', 'cpu']).toContain(kind)
  })

  it('a promise that never settles', async () => {
    const app = makeApp('exports.onEvent = () => new Promise(() => {})', { tenant: ATTACKED })
    const call = faultOf(sandbox.call(app, host, { method: 'onEvent', event: {} }))
    await expectNeighboursToAnswer()
    expect(await call).toMatchObject({ kind: 'time' })
  })

  it('a loop after the call has ended', async () => {
    const own = new TestHost()
    const app = makeApp(
      `let calls = 0
       exports.onEvent = () => { void fetch('http://a/').then(() => { while (true) {} }); return ++calls }`,
      { tenant: ATTACKED },
    )
    expect(await sandbox.call(app, own, { method: 'onEvent', event: {} })).toBe(1)
    await expect.poll(() => own.faults, { timeout: 10_000 }).toMatchObject([{ kind: 'cpu' }])
    await expectNeighboursToAnswer()
    expect(await sandbox.call(app, own, { method: 'onEvent', event: {} })).toBe(1)
  })
})

describe('memory', () => {
  it.each([
    ['strings', "const all = []; while (true) all.push('x'.repeat(1e5) + all.length)"],
    ['objects', 'const all = []; while (true) all.push({ a: { b: all.length } })'],
    ['arrays', 'const all = []; while (true) all.push(new Array(1e4).fill(all.length))'],
    ['typed arrays', 'const all = []; while (true) all.push(new Uint8Array(1e6))'],
    ['a map', 'const all = new Map(); for (let i = 0; ; i++) all.set(i, { i })'],
    ['expressions', "const all = []; while (true) all.push(new RegExp('(a|b)*'.repeat(500) + all.length))"],
    ['closures', 'const all = []; while (true) { const n = all.length; all.push(() => n) }'],
    ['deep nesting', 'let all = {}; while (true) all = { all }'],
    ['a doubling string', "let all = 'x'; while (true) all += all"],
    ['a huge join', "const all = new Array(1e6).fill('x'.repeat(1000)).join('')"],
  ])('%s', async (_, body) => {
    const { events, call } = await attack(body)
    for (const kind of [...events, call]) expect(['memory', 'cpu', 'killed', 'threw']).toContain(kind)
    expect(events[0]).not.toBe('unchanged')
  })

  it('outside of its own: what waits to be stored', async () => {
    const own = new TestHost()
    own.storageSet = () => new Promise(() => undefined)
    const refused = await runCode(
      sandbox,
      `let refused = 0
       for (let i = 0; i < 1100; i++) meta.storage.set('k', i).catch(() => { refused++ })
       for (let i = 0; i < 100; i++) await null
       return refused`,
      own,
      { tenant: ATTACKED },
    )
    // 20 are on their way, 1000 wait.
    expect(refused).toBe(80)
    await expectNeighboursToAnswer()
  })

  it('outside of its own: buffers that ring', async () => {
    const answer = runCode(
      sandbox,
      `const { createBuffer } = require('@posthog/plugin-contrib')
       for (let i = 0; i < 1e4; i++) createBuffer({ limit: 10, timeoutSeconds: 900 }).add(i)`,
      new TestHost(),
      { tenant: ATTACKED },
    )
    expect(await faultOf(answer)).toMatchObject({ kind: 'threw', message: 'too many buffers at once' })
    await expectNeighboursToAnswer()
  })
})

describe('the stack', () => {
  it.each([
    ['recursion', 'const down = () => down(); down()'],
    ['recursion in a getter', 'const o = { get x() { return this.x } }; o.x'],
    ['recursion in toJSON', 'const o = { toJSON() { return JSON.stringify(o) } }; JSON.stringify(o)'],
    ['recursion in a comparator', 'const f = () => [2, 1].sort(f); f()'],
    ['recursion in a replacer', "const f = () => 'a'.replace('a', f); f()"],
    ['recursion in a constructor', 'class A { x = new A() }; new A()'],
    ['recursion through bind', 'let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(null); f()'],
    ['recursion through eval', "const f = () => eval('f()'); f()"],
    ['recursion of proxies', 'let p = {}; for (let i = 0; i < 5e4; i++) p = new Proxy(p, {}); p.x'],
    ['deep JSON in', "JSON.parse('['.repeat(1e5) + ']'.repeat(1e5))"],
    ['deep JSON out', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; event.properties.a = a'],
    ['a deep expression', "new RegExp('('.repeat(1e5) + ')'.repeat(1e5))"],
    ['deep source', "new Function('return ' + '('.repeat(1e5) + ')'.repeat(1e5))"],
  ])('%s', async (_, body) => {
    const { events, call } = await attack(body)
    for (const kind of [...events, call]) {
      expect(['threw', 'memory', 'cpu', 'killed', 'result', 'unchanged', 'done']).toContain(kind)
    }
  })
})

describe('ways out', () => {
  it.each([
    ["this?.constructor?.constructor('return typeof process')()"],
    ["(function () { return this })().constructor.constructor('return typeof process')()"],
    ["console.log.constructor('return typeof process')()"],
    ["fetch.constructor('return typeof process')()"],
    ["meta.storage.get.constructor('return typeof process')()"],
    ["require.constructor('return typeof process')()"],
    ["Object.getPrototypeOf(async () => {}).constructor('return typeof process')()"],
    [
      "(() => { try { new URL('x') } catch (error) { return error.constructor.constructor('return typeof process')() } })()",
    ],
    [
      "(() => { try { require('fs') } catch (error) { return error.constructor.constructor('return typeof process')() } })()",
    ],
    ["fetch('').catch((error) => error.constructor.constructor('return typeof process')())"],
    ["globalThis.constructor.constructor('return typeof require')()"],
    ["typeof host + typeof guest + typeof start === 'undefinedundefinedundefined' ? 'undefined' : 'leaked'"],
  ])('%s finds nothing', async (expression) => {
    const own = new TestHost()
    own.answerFetch = () => Promise.reject(new TypeError('no'))
    const found = await runCode(sandbox, `return ${expression}`, own, { tenant: ATTACKED }).catch(
      (error: Error) => error.message,
    )
    expect(found).toMatch(/^undefined$|not a function|cannot read/i)
  })

  it('tells nothing of the host in an error', async () => {
    const stacks = await runCode(
      sandbox,
      `const stacks = []
       for (const wrong of [() => new URL('x'), () => require('fs'), () => require('crypto').createHash('x'),
         () => require('zlib').gunzipSync('x'), () => require('crypto').randomBytes(-1)]) {
         try { wrong() } catch (error) { stacks.push(error.message + error.stack) }
       }
       await fetch('').catch((error) => stacks.push(error.message + error.stack))
       return stacks.join()`,
    )
    expect(stacks).not.toMatch(/node_modules|file:|(?<!index)\.js|threads|\/work|node:/)
  })

  it('breaks out of its function only to find itself inside still', async () => {
    const code = `}); globalThis.found = typeof process; (function (exports, require, module) {
      exports.processEvent = (event) => { event.properties.found = found; return event }`
    const outcomes = await sandbox.processEvents(
      makeApp(code, { tenant: ATTACKED }),
      host,
      [makeEvent()],
      PLENTY_MS,
    )
    expect(outcomes).toMatchObject([{ patch: { properties: { set: { found: 'undefined' } } } }])
  })

  it.each([
    ['}); throw { get message() { throw this } }; (function () {'],
    ['}); throw null; (function () {'],
    ['}); while (true) {}; (function () {'],
    ["}); new Array(5e8).join('abc'); (function () {"],
    ['throw new Proxy(new Error(), { get() { throw new Error() } })'],
    ['Object.defineProperty(exports, "jobs", { enumerable: true, get() { while (true) {} } })'],
    ['module.exports = new Proxy({}, { ownKeys() { throw null } })'],
  ])('fails to load: %s', async (code) => {
    const fault = await faultOf(sandbox.inspect(code))
    expect(['load', 'killed']).toContain(fault.kind)
    await expectNeighboursToAnswer()
  })
})

describe('prototypes', () => {
  it('are out of reach of an event', async () => {
    const { events } = await attack(
      `event.properties = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"a":{"__proto__":{"polluted":1}}}')`,
    )
    expect(events).toEqual(['changed', 'changed'])
    const app = makeApp(
      `exports.processEvent = (event) => {
         Object.defineProperty(event, '__proto__', { value: { polluted: 1 }, enumerable: true })
         event.properties = JSON.parse('{"\\\\u005f_proto__":{"polluted":1},"a":{"__proto__":{"polluted":1},"b":"\\\\u00e9"}}')
         return event
       }`,
      { tenant: ATTACKED },
    )
    const [outcome] = await sandbox.processEvents(app, host, [makeEvent()], PLENTY_MS)
    expect(JSON.stringify(outcome)).not.toMatch(/polluted/)
    expect(JSON.stringify(outcome)).toMatch(/"a":{"b":"é"}/)
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })

  it('are out of reach of a request', async () => {
    const own = new TestHost()
    await runCode(
      sandbox,
      `const bad = JSON.parse('{"__proto__":{"polluted":1},"fine":{"__proto__":{"polluted":1}}}')
       await posthog.capture('made', bad); await meta.jobs.run(bad).runNow()
       await fetch('http://a/', { headers: bad })`,
      own,
    )
    expect(own.captured).toMatchObject([{ event: 'made', properties: { fine: {} } }])
    expect(own.jobs.map(({ payload }) => payload)).toEqual([{ fine: {} }])
    expect(JSON.stringify(own)).not.toMatch(/polluted/)
  })

  it.each([
    ['JSON', 'JSON.stringify = JSON.parse = () => { throw new Error() }'],
    ['Object', 'Object.keys = () => { throw new Error() }'],
    ['Promise', 'Promise.prototype.then = () => { throw new Error() }; Promise.resolve = null'],
    ['toJSON', 'Object.prototype.toJSON = () => ({ team_id: 8 }); String.prototype.toJSON = () => 5'],
    ['set', "Object.defineProperty(Object.prototype, 'set', { value: { team_id: 9 } })"],
    ['Symbol.iterator', 'Array.prototype[Symbol.iterator] = function* () { while (true) yield 1 }'],
    [
      'everything',
      'for (const name of Object.getOwnPropertyNames(globalThis)) { try { globalThis[name] = null } catch {} }',
    ],
  ])('of its own may be taken apart: %s', async (_, tampering) => {
    const code = `${tampering}\nexports.processEvent = async (event) => { event.properties.a = 1; return event }
      exports.onEvent = () => 1`
    const app = makeApp(code, { tenant: ATTACKED })
    const outcomes = await sandbox
      .processEvents(app, host, [makeEvent()], PLENTY_MS)
      .catch((fault: unknown) => [fault])
    expect(outcomes).toHaveLength(1)
    expect(JSON.stringify(outcomes)).not.toMatch(/team_id":[89]/)
    await expectNeighboursToAnswer()
  })
})

describe('results and errors', () => {
  it.each([
    ['throw null', 'threw'],
    ['throw undefined', 'threw'],
    ['throw Symbol()', 'threw'],
    ['throw { toString() { throw this } }', 'threw'],
    ['throw new Proxy({}, { getPrototypeOf() { throw 1 }, get() { throw 1 } })', 'threw'],
    ["throw Object.assign(new Error('x'.repeat(1e6)), { stack: 5 })", 'threw'],
    ['return new Proxy(event, { get() { throw new Error() } })', 'threw'],
    ['return Object.create(null)', 'result'],
    ['return (async () => { throw null })()', 'threw'],
  ])('%s', async (body, kind) => {
    expect((await attack(body)).events).toEqual([kind, kind])
  })

  it('an unhandled rejection hurts nobody', async () => {
    expect(await attack("Promise.reject(new Error('unseen')); void (async () => { throw null })()")).toEqual({
      events: ['unchanged', 'unchanged'],
      call: 'done',
    })
  })
})

describe('a thread that had to be ended', () => {
  it('blames the app that held it; others lose nothing they had not begun', async () => {
    const waiting = new TestHost()
    waiting.answerFetch = () => new Promise(() => undefined)
    const neighbour = makeApp(
      "exports.processEvent = (event) => event\nexports.onEvent = ({ wait }) => wait ? fetch('http://a/') : 'here'",
      { tenant: ATTACKED },
    )
    const begun = faultOf(sandbox.call(neighbour, waiting, { method: 'onEvent', event: { wait: true } }))
    await expect.poll(() => waiting.requests).toHaveLength(1)

    const attacker = makeApp("exports.onEvent = () => new Array(5e8).join('abc')", { tenant: ATTACKED })
    const attacking = [1, 2].map(() =>
      faultOf(sandbox.call(attacker, host, { method: 'onEvent', event: {} })),
    )
    const events = sandbox.processEvents(neighbour, waiting, [makeEvent()], PLENTY_MS)
    const notBegun = sandbox.call(neighbour, waiting, { method: 'onEvent', event: {} })

    for (const fault of attacking) expect(await fault).toMatchObject({ kind: 'killed' })
    expect(kindsOf(await events)).toEqual(['unchanged'])
    expect(await notBegun).toBe('here')
    expect(await begun).toMatchObject({ kind: 'gone' })
    expect(waiting.requests).toHaveLength(1)
  })

  it('ends with code that is only looked at, too', async () => {
    const bad = faultOf(sandbox.inspect("new Array(5e8).join('abc')"))
    const good = sandbox.inspect('exports.onEvent = () => 1')
    expect(await bad).toMatchObject({ kind: 'killed' })
    expect((await good).capabilities.methods).toEqual(['onEvent'])
  })

  it('gives an event its answer in time though the thread gives none', async () => {
    const attacker = makeApp("exports.onEvent = () => new Array(5e8).join('abc')", { tenant: ATTACKED })
    const attacking = faultOf(sandbox.call(attacker, host, { method: 'onEvent', event: {} }))
    expect(kindsOf(await sandbox.processEvents(sameThread, host, [makeEvent()], 1))).toEqual(['late'])
    expect(await attacking).toMatchObject({ kind: 'killed' })
    await expectNeighboursToAnswer()
  })
})

it('who has hit a limit is kept apart: the next time its neighbours do not wait behind it', async () => {
  const code = "exports.onEvent = ({ deep }) => { if (deep) new Array(5e8).join('abc'); for (;;); }"
  const attacker = makeApp(code, { tenant: ATTACKED })
  const attackWith = (event: object) =>
    faultOf(sandbox.call(attacker, host, { method: 'onEvent', event: event as never }))
  expect(await attackWith({ deep: false })).toMatchObject({ kind: 'cpu' })
  const again = attackWith({ deep: true })
  const answered = sandbox.processEvents(sameThread, host, [makeEvent()], PLENTY_MS)
  expect(await Promise.race([again.then(() => 'attacker'), answered.then(() => 'neighbour')])).toBe(
    'neighbour',
  )
  expect(await again).toMatchObject({ kind: 'killed' })
  await expectNeighboursToAnswer()
})

describe('what no call waits for', () => {
  it.each([
    ['a loop', 'for (;;);', 'cpu'],
    ['work inside one call of the engine', "new Array(5e8).join('abc')", 'killed'],
  ])('is told to the host, and the app kept apart: %s', async (_, body, kind) => {
    const own = new TestHost()
    const attacker = makeApp(
      `const { createBuffer } = require('@posthog/plugin-contrib')
       const buffer = createBuffer({ limit: 10, timeoutSeconds: 1, onFlush() { ${body} } })
       exports.onEvent = () => { buffer.add(1); return 'here' }`,
      { tenant: ATTACKED },
    )
    const COUNTS = 'let count = 0; exports.onEvent = () => ++count'
    const counter = makeApp(COUNTS, { tenant: ATTACKED })
    const countsElsewhere = makeApp(COUNTS, { tenant: ELSEWHERE })
    const attackUntil = async (faults: number) => {
      expect(await sandbox.call(attacker, own, { method: 'onEvent', event: {} })).toBe('here')
      await expect.poll(() => own.faults, { timeout: 10_000 }).toHaveLength(faults)
    }
    const count = (app: SandboxedApp) => sandbox.call(app, host, { method: 'onEvent', event: {} })

    expect(await count(countsElsewhere)).toBe(1)
    await attackUntil(1)
    expect(await count(counter)).toBe(1)
    await attackUntil(2)
    expect(own.faults).toMatchObject([{ kind }, { kind }])
    // Their threads were not ended under them.
    expect(await count(counter)).toBe(2)
    expect(await count(countsElsewhere)).toBe(2)
    await expectNeighboursToAnswer()
  })
})
