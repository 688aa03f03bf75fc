// deploy/scale: many processes behind a proxy. No container runs here, but what the files name must exist, and the proxy must
// know the paths of the code.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { Environment } from '../src/app/config.ts'
import { routes } from '../src/app/http.ts'
import { capturePaths, prefixesOf } from './harness/capture-paths.ts'

const FOLDER = join(import.meta.dirname, '../deploy/scale')
const read = (path: string) => readFileSync(join(FOLDER, path), 'utf8')

type Service = {
  command?: string[]
  environment?: Record<string, string>
  healthcheck?: { test?: string[]; disable?: boolean }
  deploy?: { replicas: number }
  volumes?: string[]
  image: string
  read_only?: boolean
  depends_on?: Record<string, { condition: string }>
}
const compose = parse(read('compose.yaml'), { merge: true }) as {
  services: Record<string, Service>
  volumes: Record<string, null>
}
const { services } = compose

describe('compose.yaml', () => {
  it('has two processes of each role, once both stores are up to date', () => {
    const own = Object.entries(services).filter(([, { image }]) => image === 'longshore')
    expect(own.map(([name, { command, deploy }]) => [name, command, deploy!.replicas])).toEqual([
      ['migrate', ['migrate'], 1],
      ...['api', 'capture', 'worker', 'plugins'].map((role) => [role, ['serve', '--only', role], 2]),
    ])
    for (const [name, { depends_on }] of own) {
      const expected =
        name === 'migrate'
          ? { postgres: { condition: 'service_healthy' }, clickhouse: { condition: 'service_healthy' } }
          : { migrate: { condition: 'service_completed_successfully' } }
      expect(depends_on).toEqual(expected)
    }
  })

  it('sets settings that exist, on roots that cannot be written', () => {
    for (const { environment, read_only } of [services.api!, services.worker!]) {
      expect(Object.keys(environment!).filter((name) => !Object.hasOwn(Environment.shape, name))).toEqual([])
      expect(read_only).toBe(true)
    }
  })

  it('every service tells how it is, and keeps its data in a volume that is declared', () => {
    const silent = Object.entries(services).filter(([, { healthcheck }]) => !healthcheck?.test)
    expect(silent.map(([name]) => name)).toEqual(['migrate'])
    const used = Object.values(services).flatMap(({ volumes = [] }) =>
      volumes.map((each) => each.split(':')[0]!),
    )
    expect(used.filter((name) => !name.startsWith('./')).toSorted()).toEqual(
      Object.keys(compose.volumes).toSorted(),
    )
  })

  it('the file of secrets names what it asks for, and settings that exist', () => {
    const asked = new Set([...read('compose.yaml').matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name!))
    const given = Object.keys(parseEnv(read('.env.example')))
    expect([...asked].filter((name) => !given.includes(name))).toEqual([])
    const others = given.filter((name) => !asked.has(name))
    expect(others.filter((name) => !Object.hasOwn(Environment.shape, name))).toEqual([])
  })
})

describe('nginx.conf', () => {
  let paths: string[]
  beforeAll(async () => void (paths = await capturePaths()))
  const patterns = [...read('nginx.conf').matchAll(/^ +~(\S+) (api|capture);$/gm)].map(([, text, role]) => ({
    pattern: new RegExp(text!),
    role: role!,
  }))
  /** The first that fits, as nginx has it. */
  const roleOf = (path: string) => patterns.find(({ pattern }) => pattern.test(path))?.role ?? 'api'

  it("leads capture's paths to capture, with and without a slash at the end, and no others", () => {
    expect(paths.length).toBeGreaterThan(20)
    expect(paths.filter((path) => roleOf(path) !== 'capture' || roleOf(`${path}/`) !== 'capture')).toEqual([])
    const of_capture = patterns.filter(({ role }) => role === 'capture')
    const named = of_capture.flatMap(({ pattern }) => {
      const [, before, names] = /^\^(\S*\/)\(([\w|]+)\)\(\/\|\$\)$/.exec(
        pattern.source.replaceAll('\\/', '/'),
      )!
      return names!.split('|').map((name) => `${before}${name}`)
    })
    expect(named.toSorted()).toEqual(prefixesOf(paths))
  })

  it('leads the API and the console to api', () => {
    const others = [
      '/',
      '/login',
      '/insights',
      '/_readyz',
      '/docs',
      '/mcp',
      '/scim/v2/Users',
      '/extra',
      '/events',
    ]
    const wrong = [...routes.map(({ path }) => path), ...others].filter((path) => roleOf(path) !== 'api')
    expect(wrong).toEqual([])
  })
})
