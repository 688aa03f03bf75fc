// Where errors say that they come from.
import { SourceMap as NodeSourceMap } from 'node:module'
import { transform } from 'esbuild'
import { afterAll, describe, expect, it } from 'vitest'
import { faultOf, makeApp, makeEvent, TestHost } from './fixture/apps.ts'
import { openSandbox } from './open.ts'
import { SourceMap } from './quickjs/source-map.ts'
import type { SandboxedApp } from './sandbox.ts'

const sandbox = openSandbox({ threads: 1, geoip_database: null })
afterAll(() => sandbox.close())

async function translate(source: string) {
  const options = { loader: 'ts', format: 'cjs', target: 'es2020', sourcemap: 'external' } as const
  const { code, map } = await transform(source, options)
  return { code, map: JSON.parse(map) as { mappings: string } }
}

async function appOf(source: string, given: Partial<SandboxedApp> = {}): Promise<SandboxedApp> {
  const { code, map } = await translate(source)
  return makeApp(code, { mappings: map.mappings, ...given })
}

const SOURCE = `type Event = { properties: Record<string, string> }

// ü: columns are counted in characters.
const label = '日本 🦔'; function fail(what: string): never { label + what; throw new TypeError('bad') }

export function processEvent(event: Event) {
  console.log('here', new Error('seen'))
  return fail('bad ')
}
export const jobs = { async later() { await null; return fail('late ') }, tell: () => new Error('told').stack }
export function composeWebhook() { return { url: 'x', body: new Error('sent').stack } }
`

/** As an editor counts. */
function placeOf(text: string): string {
  const before = SOURCE.slice(0, SOURCE.indexOf(text)).split('\n')
  return `index.ts:${before.length}:${before.at(-1)!.length + 1}`
}

describe('positions', () => {
  it("are the author's in what is thrown and what is logged", async () => {
    const host = new TestHost()
    const [outcome] = await sandbox.processEvents(await appOf(SOURCE), host, [makeEvent()], 60_000)
    const { stack } = (outcome as { fault: { error: { stack: string } } }).fault.error
    expect(stack.split('\n').slice(0, 3)).toEqual([
      'TypeError: bad',
      `    at fail (${placeOf("TypeError('bad")})`,
      `    at processEvent (${placeOf("fail('bad")})`,
    ])
    expect(host.lines[0]!.message).toContain(`at processEvent (${placeOf("Error('seen")})`)
    expect(host.lines[0]!.message).not.toContain('longshore-app')
  })

  it("are the author's after waiting, and in everything that leaves the app", async () => {
    const app = await appOf(SOURCE)
    const host = new TestHost()
    const job = (name: string) => sandbox.call(app, host, { method: 'job', name, payload: null })
    expect((await faultOf(job('later'))).error.stack).toContain(`at later (${placeOf("fail('late")})`)
    expect(await job('tell')).toContain(placeOf("Error('told"))
    const sent = await sandbox.call(app, host, { method: 'composeWebhook', event: {} })
    expect(sent).toMatchObject({ body: expect.stringContaining(placeOf("Error('sent")) })
  })

  it.each([
    ['throws', 'const a: number = 1\n\n  null.nothing', 'index.ts:3:3'],
    ['throws in its first line', 'null.nothing', 'index.ts:1:1'],
  ])('are told of code that %s when it is loaded', async (_how, source, place) => {
    const { code, map } = await translate(source)
    const fault = await faultOf(sandbox.inspect(code, map.mappings))
    expect(fault.error.stack).toContain(place)
  })

  it('name the translated file when it is not known what they stand for', async () => {
    const app = await appOf(SOURCE, { mappings: null })
    const [outcome] = await sandbox.processEvents(app, new TestHost(), [makeEvent()], 60_000)
    const { stack } = (outcome as { fault: { error: { stack: string } } }).fault.error
    expect(stack).toMatch(/at fail \(index\.js:\d+:\d+\)/)
  })

  it('of ours leave what an app writes itself alone', async () => {
    const host = new TestHost()
    const app = await appOf("export const jobs = { say: () => console.log('see index.ts:1:1') }")
    await sandbox.call(app, host, { method: 'job', name: 'say', payload: null })
    expect(host.lines).toMatchObject([{ message: 'see index.ts:1:1' }])
  })
})

describe('a source map', () => {
  it('is read as Node reads it, wherever one looks', async () => {
    const source = Array.from(
      { length: 300 },
      (_, n) => `export const v${n}: number = [${n}, 'x', f(${n})]`,
    ).join('\n')
    const { code, map } = await translate(`declare function f(n: number): number\n${source}`)
    const ours = new SourceMap(Buffer.from(map.mappings))
    const nodes = new NodeSourceMap(map as never)
    for (const [line, text] of code.split('\n').entries()) {
      for (let column = 0; column < text.length; column += 3) {
        const entry = nodes.findEntry(line, column) as { originalLine?: number; originalColumn?: number }
        const expected =
          entry.originalLine === undefined ? null : { line: entry.originalLine, column: entry.originalColumn }
        expect(ours.find(line, column)).toEqual(expected)
      }
    }
  })

  it.each(['', ';;;', 'AAAA', 'AAAA;;', '!!?;A', 'ggggggggggggggggggggg'])(
    'of %j is read to its end',
    (mappings) => {
      expect(() => new SourceMap(Buffer.from(mappings)).find(5, 5)).not.toThrow()
    },
  )
})
