// @module-tag slow
import { createHash, createHmac } from 'node:crypto'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { faultOf, makeApp, makeEvent, runCode, TestHost, textAnswer } from './fixture/apps.ts'
import { openSandbox } from './open.ts'

const GEOIP = join(import.meta.dirname, '../../../node_modules/@posthog/geoip-plugin/GeoLite2-City-Test.mmdb')
const sandbox = openSandbox({ threads: 1, geoip_database: GEOIP })
afterAll(() => sandbox.close())

const run = (body: string, host?: TestHost, given?: object) => runCode(sandbox, body, host, given)

describe('meta', () => {
  it('is the last argument of everything, and lives as long as the instance', async () => {
    const app = makeApp(
      `
      exports.setupPlugin = (meta) => { meta.global.calls = 0 }
      exports.processEvent = (event, meta) => { event.properties.calls = ++meta.global.calls; return event }
      exports.onEvent = (event, meta) => [event.event, Object.keys(meta), ++meta.global.calls]
      exports.runEveryMinute = (meta) => [meta.config.token, ++meta.global.calls]
      exports.jobs = { count: (payload, meta) => [payload.by, ++meta.global.calls] }
      exports.exportEvents = (events, meta) => [events.length, ++meta.global.calls]
      `,
      { config: { token: 'secret' } },
    )
    const host = new TestHost()
    const outcomes = await sandbox.processEvents(app, host, [makeEvent(), makeEvent()], 60_000)
    expect(outcomes).toMatchObject([
      { patch: { properties: { set: { calls: 1 } } } },
      { patch: { properties: { set: { calls: 2 } } } },
    ])
    expect(await sandbox.call(app, host, { method: 'onEvent', event: { event: 'seen' } })).toEqual([
      'seen',
      [
        'config',
        'attachments',
        'cache',
        'storage',
        'global',
        'jobs',
        'metrics',
        'geoip',
        'utils',
        'logger',
        'fetch',
      ],
      3,
    ])
    expect(await sandbox.call(app, host, { method: 'task', name: 'runEveryMinute' })).toEqual(['secret', 4])
    expect(await sandbox.call(app, host, { method: 'job', name: 'count', payload: { by: 9 } })).toEqual([
      9, 5,
    ])
    expect(await sandbox.call(app, host, { method: 'exportEvents', events: [{}, {}] })).toEqual([2, 6])
  })

  it('has attachments as a Buffer, also a large one', async () => {
    const bytes = Buffer.alloc(10 * 1024 * 1024, 'abcdefg')
    const attachments = {
      small: {
        content_type: 'text/plain',
        file_name: 'a.txt',
        contents: Buffer.from('grüße').toString('base64'),
      },
      large: { content_type: 'text/plain', file_name: 'b.txt', contents: bytes.toString('base64') },
    }
    const code = `
      const { small, large } = meta.attachments
      return [small.content_type, small.file_name, small.contents.toString(), small.contents instanceof Uint8Array,
        large.contents.length, large.contents.subarray(-7).toString()]`
    expect(await run(code, new TestHost(), { attachments })).toEqual([
      'text/plain',
      'a.txt',
      'grüße',
      true,
      bytes.length,
      bytes.subarray(-7).toString(),
    ])
  })

  it('gives composeWebhook a Date', async () => {
    const app = makeApp('exports.composeWebhook = ({ timestamp }) => ({ url: String(timestamp.getTime()) })')
    const event = { timestamp: '2024-01-02T03:04:05.678Z' }
    const result = await sandbox.call(app, new TestHost(), { method: 'composeWebhook', event })
    expect(result).toEqual({ url: String(Date.parse(event.timestamp)) })
  })
})

describe('console', () => {
  it('writes lines of its five types', async () => {
    const host = new TestHost()
    await run(
      `console.log('a', 1, { b: [2] }, null, undefined); console.info('i'); console.warn('w')
       console.error(new TypeError('bad')); console.debug('d'); const c = {}; c.c = c; console.log(c, 1n)`,
      host,
    )
    expect(host.lines.map(({ source, type, message }) => [source, type, message.split('\n')[0]])).toEqual([
      ['CONSOLE', 'LOG', 'a 1 {"b":[2]} null undefined'],
      ['CONSOLE', 'INFO', 'i'],
      ['CONSOLE', 'WARN', 'w'],
      ['CONSOLE', 'ERROR', 'TypeError: bad'],
      ['CONSOLE', 'DEBUG', 'd'],
      ['CONSOLE', 'LOG', '[object Object] 1'],
    ])
  })

  it('is cut: 200 lines a call, 10,000 characters a line', async () => {
    const host = new TestHost()
    await run(`console.log('x'.repeat(50000)); for (let i = 0; i < 10000; i++) console.log(i)`, host)
    expect(host.lines).toHaveLength(201)
    expect(host.lines[0]!.message).toHaveLength(10_000)
    expect(host.lines.at(-1)).toEqual({
      source: 'SYSTEM',
      type: 'WARN',
      message: 'Further lines of this call are left out.',
    })
  })
})

describe('fetch', () => {
  it('asks the host and gives its answer', async () => {
    const host = new TestHost()
    host.answerFetch = async () => textAnswer(404, '{"é":[1]}', { 'content-type': 'application/json' })
    const answer = await run(
      `const answer = await fetch(new URL('https://example.com/a?b=c'), {
         method: 'post', headers: { 'X-One': 1 }, body: JSON.stringify({ ü: 1 }) })
       return [answer.ok, answer.status, answer.statusText, answer.headers.get('Content-Type'), await answer.text(),
         await answer.json(), (await answer.arrayBuffer()).byteLength, (await answer.buffer()).toString('hex')]`,
      host,
    )
    expect(answer).toEqual([
      false,
      404,
      'Not Found',
      'application/json',
      '{"é":[1]}',
      { é: [1] },
      10,
      Buffer.from('{"é":[1]}').toString('hex'),
    ])
    expect(host.requests).toEqual([
      {
        url: 'https://example.com/a?b=c',
        method: 'POST',
        headers: { 'x-one': '1' },
        body: Buffer.from('{"ü":1}').toString('base64'),
      },
    ])
  })

  it('rejects with what the host says', async () => {
    const host = new TestHost()
    host.answerFetch = () => Promise.reject(new Error('that address is not reachable'))
    expect(
      await run(`return fetch('http://a/').catch((error) => [error instanceof Error, error.message])`, host),
    ).toEqual([true, 'that address is not reachable'])
  })

  it('has ten in flight and makes fifty a call', async () => {
    const host = new TestHost()
    const answers: (() => void)[] = []
    let isOpen = false
    host.answerFetch = () =>
      new Promise((resolve) => {
        const answer = () => resolve(textAnswer(200, ''))
        if (isOpen) answer()
        else answers.push(answer)
      })
    const working = run(
      `const all = await Promise.allSettled(Array.from({ length: 51 }, (_, n) => fetch('http://a/' + n)))
       return all.map((one) => one.reason?.message ?? one.value.status)`,
      host,
    )
    await expect.poll(() => answers).toHaveLength(10)
    // Whatever the thread had sent before it answered this would be here by now.
    await run('')
    expect(host.requests).toHaveLength(10)
    isOpen = true
    for (const answer of answers) answer()
    expect(await working).toEqual([...Array.from({ length: 50 }, () => 200), 'a call may make 50 requests'])
    expect(host.requests).toHaveLength(50)
  })

  it('makes fifty at once, further ones at a pace of 200 a second, and leaves none out', async () => {
    const host = new TestHost()
    const app = makeApp(
      `exports.onEvent = async () => {
        const all = await Promise.all(Array.from({ length: 50 }, () => fetch('http://a/')))
        return all.every((answer) => answer.ok)
      }`,
    )
    const call = () => sandbox.call(app, host, { method: 'onEvent', event: {} })
    const began = performance.now()
    expect(await call()).toBe(true)
    expect(await Promise.all([call(), call(), call()])).toEqual([true, true, true])
    expect(performance.now() - began).toBeGreaterThanOrEqual(740)
    expect(host.requests).toHaveLength(200)
  })

  it('goes on when nobody waits for it', async () => {
    const host = new TestHost()
    await run(
      `void fetch('http://a/').then((answer) => storage_done(answer)).catch(() => meta.storage.set('done', 1))`,
      host,
    )
    await expect.poll(() => host.stored.get('done')).toBe('1')
  })

  it('is node-fetch as well', async () => {
    const host = new TestHost()
    const code = `const fetch = require('node-fetch'); return [(await fetch('http://a/')).status, (await fetch.default('http://b/')).status]`
    expect(await run(code, host)).toEqual([200, 200])
  })
})

describe('storage and cursors', () => {
  it('keeps JSON, falls back, deletes', async () => {
    const host = new TestHost()
    const code = `
      const { storage } = meta
      const first = await storage.get('a', 'none')
      await storage.set('a', { b: [1] }); await storage.set('c', 1); await storage.set('c', undefined)
      await storage.set('d', null); await storage.set('e', 1); await storage.del('e')
      return [first, await storage.get('a', 0), await storage.get('c', 'gone'), await storage.get('d', 'gone')]`
    expect(await run(code, host)).toEqual(['none', { b: [1] }, 'gone', null])
    expect(Object.fromEntries(host.stored)).toEqual({ a: '{"b":[1]}', d: 'null' })
  })

  it('refuses keys and values that are too long', async () => {
    const host = new TestHost()
    const code = `
      return (await Promise.allSettled([meta.storage.set('k'.repeat(201), 1), meta.storage.set('k', 'v'.repeat(1 << 20))]))
        .map(({ reason }) => reason.message)`
    expect(await run(code, host)).toEqual([
      'at most 200 characters are possible',
      'at most 1048576 characters are possible',
    ])
    expect(host.stored.size).toBe(0)
  })

  it('counts', async () => {
    const code = `
      const { cursor } = meta.utils
      await cursor.init('n', 5); await cursor.init('n', 50)
      return [await cursor.increment('n'), await cursor.increment('n', 4)]`
    expect(await run(code)).toEqual([6, 10])
  })
})

describe('cache', () => {
  it('keeps values and lists', async () => {
    const code = `
      const { cache } = meta
      await cache.set('a', { b: 1 }); await cache.set('t', 'plain', undefined, { jsonSerialize: false })
      await cache.set('short', 1, 0); await cache.set('n', 41)
      await cache.lpush('l', ['a', 'b', 'c']); await cache.lpush('l', 'd')
      return [await cache.get('a', null), await cache.get('t', null, { jsonSerialize: false }),
        await cache.get('short', 'gone'), await cache.get('never', 'none'),
        await cache.incr('n'), await cache.incr('new'),
        await cache.llen('l'), await cache.lrange('l', 0, -1), await cache.lrange('l', 1, 2), await cache.lpop('l', 2),
        await cache.lpush('l', ['x', 'y', 'x']), await cache.lrem('l', 1, 'x'), await cache.lrange('l', 0, 10),
        await cache.expire('a', 0), await cache.get('a', 'gone'), await cache.expire('never', 1)]`
    expect(await run(code)).toEqual([
      { b: 1 },
      'plain',
      'gone',
      'none',
      42,
      1,
      4,
      ['d', 'c', 'b', 'a'],
      ['c', 'b'],
      ['d', 'c'],
      5,
      1,
      ['y', 'x', 'b', 'a'],
      true,
      'gone',
      false,
    ])
  })

  it('is shared by a group and by nobody else', async () => {
    await run(`await meta.cache.set('ours', 1)`, new TestHost(), { tenant: 'us', group: 'one' })
    expect(
      await run(`return meta.cache.get('ours', 'none')`, new TestHost(), { tenant: 'us', group: 'one' }),
    ).toBe(1)
    expect(
      await run(`return meta.cache.get('ours', 'none')`, new TestHost(), { tenant: 'us', group: 'two' }),
    ).toBe('none')
  })

  it('drops the oldest past ten megabytes and takes nothing that is larger', async () => {
    const code = `
      const { cache } = meta
      const megabyte = 'x'.repeat(1 << 20)
      for (let i = 0; i < 12; i++) await cache.set('k' + i, megabyte)
      const kept = []
      for (let i = 0; i < 12; i++) if (await cache.get('k' + i)) kept.push(i)
      for (let i = 0; i < 9; i++) await cache.lpush('list', megabyte)
      const refused = await cache.lpush('list', megabyte).catch((error) => error.message)
      return [kept, refused, await cache.llen('list'), await cache.lpush('l', Array.from({ length: 1001 }, String)).catch((e) => e.message)]`
    expect(await run(code)).toEqual([
      [3, 4, 5, 6, 7, 8, 9, 10, 11],
      'it is larger than the whole cache',
      9,
      'at most 1000 elements at once',
    ])
  })
})

describe('geoip', () => {
  it("answers in the form of MaxMind's package", async () => {
    expect(await run(`return meta.geoip.locate('89.160.20.129')`)).toMatchObject({
      city: { names: { en: 'Linköping' } },
      country: { isoCode: 'SE', isInEuropeanUnion: true },
      continent: { code: 'EU', names: { 'pt-BR': 'Europa' } },
      location: { timeZone: 'Europe/Stockholm', latitude: 58.4167, accuracyRadius: 76 },
      subdivisions: [{ isoCode: 'E' }],
      traits: { ipAddress: '89.160.20.129' },
    })
  })

  it.each(['127.0.0.1', 'nonsense', ''])('knows nothing of %s', async (address) => {
    expect(await run(`return meta.geoip.locate('${address}')`)).toBeNull()
  })

  it('knows nothing at all without a database', async () => {
    const without = openSandbox({ threads: 1, geoip_database: null })
    expect(await runCode(without, `return meta.geoip.locate('89.160.20.129')`)).toBeNull()
    await without.close()
  })
})

describe('jobs', () => {
  it('are enqueued for now, in a while, and at a time', async () => {
    const host = new TestHost()
    const before = Date.now()
    await run(
      `await meta.jobs.run({ a: 1 }).runNow(); await meta.jobs.run().runIn(1, 'month')
       await meta.jobs.run(2).runIn(90, 'minutes'); await meta.jobs.run(3).runAt(new Date('2020-01-01T00:00:00Z'))`,
      host,
    )
    const delays = host.jobs.slice(0, 3).map(({ run_at }) => Math.round((run_at.getTime() - before) / 60_000))
    expect(delays).toEqual([0, 30 * 24 * 60, 90])
    expect(host.jobs[3]!.run_at).toEqual(new Date('2020-01-01T00:00:00Z'))
    expect(host.jobs.map(({ name, payload }) => [name, payload])).toEqual([
      ['run', { a: 1 }],
      ['run', null],
      ['run', 2],
      ['run', 3],
    ])
  })

  it.each([
    [`meta.jobs.run('x'.repeat(70000)).runNow()`, /65536 characters/],
    [`meta.jobs.run().runIn(2, 'years')`, /a year ahead/],
    [`meta.jobs.run().runAt(new Date(NaN))`, /a number/],
    [`(async () => meta.jobs.run().runIn(1, 'fortnight'))()`, /fortnight is not known/],
  ])('refuses %s', async (call, message) => {
    const host = new TestHost()
    expect(await run(`return ${call}.catch((error) => error.message)`, host)).toMatch(message)
    expect(host.jobs).toEqual([])
  })
})

describe('metrics', () => {
  it('are told once per stay', async () => {
    const host = new TestHost()
    const app = makeApp(`
      exports.metrics = { total: 'sum', most: 'max', least: 'min' }
      exports.runEveryMinute = (meta) => {
        for (let i = 1; i <= 1000; i++) { meta.metrics.total.increment(2); meta.metrics.most.max(i); meta.metrics.least.min(i) }
        try { meta.metrics.total.increment('many') } catch (error) { return error.message }
      }`)
    expect(await sandbox.call(app, host, { method: 'task', name: 'runEveryMinute' })).toBe(
      'a number is expected',
    )
    expect(host.counted).toEqual([
      { name: 'total', kind: 'sum', value: 2000 },
      { name: 'most', kind: 'max', value: 1000 },
      { name: 'least', kind: 'min', value: 1 },
    ])
  })
})

describe('posthog', () => {
  it('captures, at most a hundred a second', async () => {
    const host = new TestHost()
    const code = `
      const all = await Promise.allSettled(Array.from({ length: 300 }, (_, n) => posthog.capture('made', { n })))
      return all.filter(({ reason }) => reason?.message === '100 events a second can be captured').length`
    const refused = (await run(code, host)) as number
    expect(host.captured).toHaveLength(300 - refused)
    // A second may begin while they are being captured.
    expect(refused).toBeGreaterThanOrEqual(100)
    expect(host.captured[0]).toEqual({ event: 'made', properties: { n: 0 }, hops: 0 })
  })

  it('has an api: the host for its own project, and another server by keys of the app', async () => {
    const host = new TestHost()
    const code = `
      const own = await posthog.api.get('/api/projects/@current/persons/?a=1', { data: { email: 'a@b.c' } })
      await posthog.api.post('/api/projects/@current/annotations', { data: { content: 'v1' } })
      const keys = { host: 'https://eu.posthog.com', projectApiKey: 'phc_1', personalApiKey: 'phx_1' }
      await posthog.api.get('/api/projects/@current/annotations', keys)
      const half = await posthog.api.get('/api/', { projectApiKey: 'phc_1' }).catch((error) => error.message)
      return [own.status, await own.json(), half]`
    expect(await run(code, host)).toEqual([200, { results: [] }, expect.stringContaining('personalApiKey')])
    expect(host.calls).toEqual([
      { method: 'GET', path: '/api/projects/@current/persons/?a=1&email=a%40b.c', body: null },
      { method: 'POST', path: '/api/projects/@current/annotations', body: '{"content":"v1"}' },
    ])
    expect(host.requests).toMatchObject([
      {
        url: 'https://eu.posthog.com/api/projects/@current/annotations?token=phc_1',
        headers: { authorization: 'Bearer phx_1' },
      },
    ])
  })
})

describe('crypto and zlib', () => {
  it('hash as Node does', async () => {
    const code = `
      const { createHash, createHmac } = require('crypto')
      return ['md5', 'sha1', 'sha256', 'sha512'].flatMap((name) => [
        createHash(name).update('grü').update(Buffer.from('ße')).digest('hex'),
        createHmac(name, 'key').update('grüße').digest('base64')])`
    const expected = ['md5', 'sha1', 'sha256', 'sha512'].flatMap((name) => [
      createHash(name).update('grüße').digest('hex'),
      createHmac(name, 'key').update('grüße').digest('base64'),
    ])
    expect(await run(code)).toEqual(expected)
    expect(await faultOf(run(`require('crypto').createHash('whirlpool')`))).toMatchObject({ kind: 'threw' })
  })

  it('make random values and compare', async () => {
    const code = `
      const crypto = require('crypto')
      return [crypto.randomUUID(), crypto.randomBytes(16).length, crypto.timingSafeEqual(Buffer.from('a'), Buffer.from('a')),
        crypto.timingSafeEqual(Buffer.from('a'), Buffer.from('b'))]`
    expect(await run(code)).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), 16, true, false])
  })

  it('pack and unpack, but no bombs', async () => {
    const packed = gzipSync('grüße').toString('base64')
    const bomb = gzipSync(Buffer.alloc(6 * 1024 * 1024)).toString('base64')
    const code = `
      const { gzipSync, gunzipSync } = require('zlib')
      const refused = (data) => { try { gunzipSync(data) } catch (error) { return error.message } }
      return [gunzipSync(gzipSync('hallo')).toString(), gunzipSync(Buffer.from('${packed}', 'base64')).toString(),
        refused(Buffer.from('${bomb}', 'base64')), refused('plain')]`
    const refusal = 'it is not gzip, or more than 5 MB unpacked'
    expect(await run(code)).toEqual(['hallo', 'grüße', refusal, refusal])
  })
})

describe('createBuffer', () => {
  const code = `
    const { createBuffer } = require('@posthog/plugin-contrib')
    exports.setupPlugin = ({ global }) => {
      global.buffer = createBuffer({ limit: 10, timeoutSeconds: 1, onFlush: async (objects, points) => {
        await fetch('http://sink/', { method: 'POST', body: JSON.stringify([objects, points]) })
      } })
    }
    exports.onEvent = (event, { global }) => global.buffer.add(event.n, event.points)
    exports.teardownPlugin = ({ global }) => global.buffer.flush()`
  const bodies = (host: TestHost) =>
    host.requests.map(({ body }) => JSON.parse(Buffer.from(body!, 'base64').toString()) as unknown)

  it('flushes when it is full, and when time is up', async () => {
    const host = new TestHost()
    const app = makeApp(code)
    for (const n of [1, 2, 3]) await sandbox.call(app, host, { method: 'onEvent', event: { n, points: 4 } })
    await expect
      .poll(() => bodies(host))
      .toEqual([
        [[1, 2], 8],
        [[3], 4],
      ])
  })

  it('is flushed by teardownPlugin', async () => {
    const host = new TestHost()
    const app = makeApp(code.replace('timeoutSeconds: 1', 'timeoutSeconds: 500'))
    await sandbox.call(app, host, { method: 'onEvent', event: { n: 1, points: 4 } })
    await sandbox.dispose(app.id)
    expect(bodies(host)).toEqual([[[1], 4]])
  })

  it.each([
    ['has no teardownPlugin', ''],
    ['has one that fails', "exports.teardownPlugin = () => { throw new Error('no') }"],
  ])('is flushed before an app goes that %s', async (_what, teardown) => {
    const host = new TestHost()
    const without = code.slice(0, code.indexOf('exports.teardownPlugin'))
    const app = makeApp(`${without.replace('timeoutSeconds: 1', 'timeoutSeconds: 500')}\n${teardown}`)
    await sandbox.call(app, host, { method: 'onEvent', event: { n: 1, points: 4 } })
    await sandbox.dispose(app.id)
    expect(bodies(host)).toEqual([[[1], 4]])
  })
})

describe('the language', () => {
  it('has what apps use, and nothing of Node', async () => {
    const code = `return ['setTimeout', 'setInterval', 'setImmediate', 'process', 'require_', 'WebAssembly', 'Atomics',
      'std', 'os', 'navigator'].filter((name) => typeof globalThis[name] !== 'undefined')`
    expect(await run(code)).toEqual([])
  })

  it('takes addresses apart and puts them together', async () => {
    const code = `
      const url = new URL('../c?x=1&x=2#h', 'https://user:pw@example.com:8080/a/b')
      url.searchParams.set('y', 'a b&'); url.searchParams.delete('x'); url.pathname = '/ü'
      const { URLSearchParams: Params } = require('url')
      let refused; try { new URL('nonsense') } catch (error) { refused = [error.name, error.message] }
      return [url.href, String(url), JSON.stringify({ url }), url.host, url.port, url.origin, url.search, url.hash, refused,
        new Params({ a: '1', b: 'ä' }).toString(), [...new Params('?a=1&b=%C3%A4+c')], URL.canParse('x:y')]`
    const href = 'https://user:pw@example.com:8080/%C3%BC?y=a+b%26#h'
    expect(await run(code)).toEqual([
      href,
      href,
      JSON.stringify({ url: href }),
      'example.com:8080',
      '8080',
      'https://example.com:8080',
      '?y=a+b%26',
      '#h',
      ['TypeError', 'Invalid URL'],
      'a=1&b=%C3%A4',
      [
        ['a', '1'],
        ['b', 'ä c'],
      ],
      true,
    ])
  })

  it('has a `global`, which is the scope of the app', async () => {
    const code = `
      global.mine = 1
      return [global === globalThis, mine, global.Object === Object, typeof global.process]`
    expect(await run(code)).toEqual([true, 1, true, 'undefined'])
  })

  it('turns text into bytes and back', async () => {
    const code = `
      const broken = new Uint8Array([0x61, 0xff, 0x62])
      return [[...new TextEncoder().encode('é')], new TextDecoder().decode(new Uint8Array([0xc3, 0xa9])),
        new TextDecoder().decode(broken), atob('aGk='), btoa('hi'),
        Buffer.from('é').toString('base64'), Buffer.from('w6k=', 'base64').toString(), Buffer.from('c3a9', 'hex').toString('utf8'),
        Buffer.from('é').toString('hex'), Buffer.concat([Buffer.from('a'), Buffer.from('b')]).toString(),
        Buffer.byteLength('é'), Buffer.isBuffer(Buffer.from('')), Buffer.from('_-8', 'base64url').toString('hex')]`
    expect(await run(code)).toEqual([
      [0xc3, 0xa9],
      'é',
      'a\ufffdb',
      'hi',
      'aGk=',
      'w6k=',
      'é',
      'é',
      'c3a9',
      'ab',
      2,
      true,
      'ffef',
    ])
  })

  it('reads numbers and text out of bytes', async () => {
    const code = `
      const bytes = Buffer.from('00ffffffff3ff8000000000000c3a9', 'hex').subarray(1)
      const part = Buffer.alloc(3)
      return [bytes.readUInt16BE(0), bytes.readUInt32BE(0), bytes.readInt32BE(0), bytes.readDoubleBE(4), bytes.readFloatBE(4),
        bytes.utf8Slice(12, 14), bytes.copy(part, 1, 3), bytes.copy(part, 4), [...part]]`
    expect(await run(code)).toEqual([0xffff, 0xffffffff, -1, 1.5, 1.9375, 'é', 2, 0, [0, 0xff, 0x3f]])
  })

  it('clones', async () => {
    const code = `
      const from = { a: [1, { b: new Date(5) }], m: new Map([['k', new Set([1])]]) }; from.self = from
      const to = structuredClone(from)
      let refused; try { structuredClone(() => 1) } catch (error) { refused = error.name }
      return [to !== from, to.self === to, to.a, to.a[1].b instanceof Date, [...to.m.get('k')], refused]`
    expect(await run(code)).toEqual([true, true, [1, { b: new Date(5).toJSON() }], true, [1], 'TypeError'])
  })

  it('is in UTC', async () => {
    expect(await run('return [new Date(0).getHours(), new Date().getTimezoneOffset()]')).toEqual([0, 0])
  })
})
