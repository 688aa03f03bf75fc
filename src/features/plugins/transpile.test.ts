import { execFileSync } from 'node:child_process'
import { createContext, runInContext, runInNewContext } from 'node:vm'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { MAX_SOURCE_BYTES, transpileFile } from './transpile.ts'

async function transpiled(filename: string, source: string): Promise<string> {
  const result = await transpileFile(filename, source)
  if (result.status !== 'TRANSPILED') throw new Error(JSON.stringify(result))
  return result.transpiled
}

function compilers(): number[] {
  const processes = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args=']).toString().split('\n')
  const fields = processes.map((line) => line.trim().split(/\s+/))
  return fields
    .filter(([, parent, program]) => parent === String(process.pid) && program?.endsWith('esbuild'))
    .map(([pid]) => Number(pid))
}

afterEach(() => vi.useRealTimers())

describe('index.ts', () => {
  const run = (script: string) => {
    const module = { exports: {} as Record<string, unknown> }
    const context = createContext({ module, exports: module.exports, require: (name: string) => ({ name }) })
    runInContext(script, context)
    return { exports: module.exports, globals: context }
  }

  test('ES modules export through module.exports, imports become require', async () => {
    const source = `import thing from 'thing'\nexport const kind: string = thing.name as string\nexport default { a: 1 }`
    const { exports } = run(await transpiled('index.ts', source))
    expect(exports).toMatchObject({ kind: 'thing', default: { a: 1 } })
  })

  test('bare top-level functions stay top-level functions', async () => {
    const { globals } = run(
      await transpiled('index.ts', 'function processEvent(event: object) { return event }'),
    )
    expect(globals.processEvent).toBeTypeOf('function')
  })

  test('CommonJS stays as it is; newer syntax is lowered to what the sandbox reads', async () => {
    const script = await transpiled('index.ts', 'let a; a ??= 1; exports.a = a')
    expect(script).not.toContain('??=')
    expect(run(script).exports).toEqual({ a: 1 })
  })
})

describe('frontend.tsx', () => {
  test('is a module whose one function gives the app, React coming through require', async () => {
    const code = await transpiled(
      'frontend.tsx',
      `import React from 'react'\nexport const scene = { title: 'Hi', component: () => <b>x</b> } // end`,
    )
    expect(code).toMatch(/^"use strict";\nexport function getFrontendApp \(require\) \{ let exports = \{\}; /)
    expect(code).toMatch(/; return exports; \}$/)
    const { getFrontendApp } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
      getFrontendApp(require: (name: string) => unknown): { scene: { title: string; component(): unknown } }
    }
    const app = getFrontendApp((name) =>
      name === 'react' ? { createElement: (...args: unknown[]) => args } : null,
    )
    expect(app.scene.title).toBe('Hi')
    expect(app.scene.component()).toEqual(['b', null, 'x'])
  })
})

describe('site.ts', () => {
  test.each([
    ['an ES module', 'export function inject({ config }: any) { return config.a }'],
    ['CommonJS', 'exports.inject = ({ config }) => config.a'],
    ['module.exports', 'module.exports = { inject: ({ config }) => config.a }'],
  ])('is a function that gives what was exported: %s', async (_form, source) => {
    const code = await transpiled('site.ts', source)
    expect(code).toMatch(/^\(function \(\) \{let exports=\{\};/)
    expect(code).toMatch(/;return exports;\}\)$/)
    expect(runInNewContext(`${code}().inject({config:{a:7},posthog:null})`)).toBe(7)
  })
})

describe('what cannot be transpiled', () => {
  test.each([
    ['index.ts', 'let a = ;', 1, 9, /^Unexpected ";"$/],
    ['site.ts', '\n\n  "ü" }', 3, 7, /^Unexpected "}"$/],
    ['index.ts', 'export const a = await 1', 1, 18, /^Top-level await/],
    ['frontend.tsx', 'export const a =\n <b>', 2, expect.any(Number), /./],
  ])("%s: the error names the user's own line and column", async (file, source, line, column, message) => {
    const error = { file, line, column, message: expect.stringMatching(message) }
    expect(await transpileFile(file, source)).toEqual({ status: 'ERROR', errors: [error] })
  })

  test('over 5 MB is refused, exactly 5 MB is not', async () => {
    const largest = `//${'x'.repeat(MAX_SOURCE_BYTES - 2)}`
    expect(await transpileFile('index.ts', largest)).toMatchObject({ status: 'TRANSPILED' })
    expect(await transpileFile('index.ts', `${largest}x`)).toEqual({
      status: 'ERROR',
      errors: [{ file: 'index.ts', line: null, column: null, message: 'The file is larger than 5 MB.' }],
    })
  })

  test('a compiler that dies is an error of the one it worked on, and is replaced', async () => {
    await transpileFile('index.ts', '1')
    const large = transpileFile('index.ts', 'let a;\n'.repeat(500_000))
    const plain = transpileFile('index.ts', 'export const a = 1')
    compilers().forEach((pid) => process.kill(pid, 'SIGKILL'))
    const message = expect.stringContaining('nested too deeply')
    expect(await large).toMatchObject({
      status: 'ERROR',
      errors: [{ file: 'index.ts', line: null, message }],
    })
    expect(await plain).toMatchObject({ status: 'TRANSPILED' })
  })
})

test.each(['plugin.json', 'README.md', 'index.js', 'toString'])('%s is left alone', async (filename) => {
  expect(await transpileFile(filename, '{{{')).toEqual({ status: null })
})

test('the compiler is stopped when it has been idle', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  await transpileFile('index.ts', '1')
  expect(compilers()).toHaveLength(1)
  vi.advanceTimersByTime(10_000)
  vi.useRealTimers()
  await expect.poll(compilers).toEqual([])
})
