// Files that deploy the program, held against what there is: no container runs here, but what they name must exist.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Environment } from '../src/app/config.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const dockerfile = read('Dockerfile')
const compose = read('compose.yaml')
const unit = read('deploy/systemd/longshore.service')
const isSetting = (name: string) => name === 'NODE_ENV' || Object.hasOwn(Environment.shape, name)

describe('Dockerfile', () => {
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths]) =>
    paths!.split(' '),
  )

  it('copies what is there, and .dockerignore lets it through', () => {
    expect(copied.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
    const admitted = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path]) => path!)
    expect(admitted.toSorted()).toEqual([...new Set(copied)].toSorted())
  })

  it('has what the package has: the build, without source maps, and what starts it', () => {
    const { files, bin } = JSON.parse(read('package.json')) as { files: string[]; bin: { longshore: string } }
    expect(files).toEqual(['bin', 'dist', '!dist/**/*.map', '.env.example'])
    expect(dockerfile).toContain("find dist -name '*.map' -delete")
    expect(dockerfile).toContain(`ENTRYPOINT ["node", "/app/${bin.longshore}"]`)
    expect(dockerfile).toMatch(/npm ci --omit=dev$/m)
  })

  it('ends as an ordinary user, with a check of its health', () => {
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))
    expect(last).toMatch(/^USER node$[^]*^HEALTHCHECK [^]*\/_readyz/m)
    const [, settings] = /^ENV (.+)$/m.exec(last)!
    expect(settings!.split(' ').filter((pair) => !isSetting(pair.split('=')[0]!))).toEqual([])
  })
})

it('compose.yaml sets settings that exist, on a root that cannot be written', () => {
  const [, settings] = /^ {4}environment:\n((?: {6}.+\n)+)/m.exec(compose)!
  const names = [...settings!.matchAll(/^ {6}(\w+):/gm)].map(([, name]) => name!)
  expect(names).toEqual(['HOST', 'PORT', 'DATA_DIR'])
  expect(compose).toMatch(/^ {4}read_only: true$/m)
  expect(compose).toMatch(/^ {4}tmpfs:\n {6}- \/tmp$/m)
  expect(compose).toContain('data:/data')
})

describe('longshore.service', () => {
  it('starts the installed program, sets settings that exist, and stops the program before its children', () => {
    const { bin } = JSON.parse(read('package.json')) as { bin: { longshore: string } }
    expect(unit).toContain(`/opt/longshore/node_modules/longshore/${bin.longshore} serve\n`)
    const names = [...unit.matchAll(/^Environment=(\w+)=/gm)].map(([, name]) => name!)
    expect(names.filter((name) => !isSetting(name))).toEqual([])
    expect(unit).toMatch(/^KillMode=mixed$/m)
  })

  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0
  it.skipIf(!hasSystemd)('is a unit that systemd takes (where systemd-analyze is installed)', () => {
    const folder = mkdtempSync(join(tmpdir(), 'longshore-unit-'))
    const file = join(folder, 'longshore.service')
    // Node may be elsewhere on this machine.
    writeFileSync(file, unit.replace('/usr/bin/node', process.execPath))
    const { stdout, stderr, status } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
    rmSync(folder, { recursive: true })
    expect([status, stdout + stderr]).toEqual([0, ''])
  })
})
