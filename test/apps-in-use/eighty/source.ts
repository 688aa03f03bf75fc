// The files of an app as its repository has them: cloned once into a cache folder, which is not committed.
import { execFile } from 'node:child_process'
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Tried } from './list.ts'

export type Package = { name: string; version: string; files: Record<string, string> }

const run = promisify(execFile)
const WANTED = /^(?:plugin\.json|package\.json|index\.[jt]s|frontend\.tsx|site\.ts|dist\/.*\.js|[^/]*\.js)$/
const MAX_BUFFER = 32 * 1024 * 1024

/** `<cache>/<owner>+<name>/repo` is the git folder. */
async function clonedTo(cache: string, repo: string): Promise<string> {
  const folder = join(cache, repo.replace('/', '+'), 'repo')
  const isThere = await access(folder).then(
    () => true,
    () => false,
  )
  if (!isThere) {
    await mkdir(join(cache, repo.replace('/', '+')), { recursive: true })
    await run('git', ['clone', '--bare', '--depth', '1', `https://github.com/${repo}`, folder])
  }
  return folder
}

export async function filesOf(cache: string, repo: string): Promise<Record<string, string>> {
  const folder = await clonedTo(cache, repo)
  const git = async (...args: string[]) =>
    (await run('git', [`--git-dir=${folder}`, ...args], { maxBuffer: MAX_BUFFER })).stdout
  const names = (await git('ls-tree', '-r', '--name-only', 'HEAD')).split('\n')
  const main = JSON.parse(await git('show', 'HEAD:plugin.json')).main?.replace(/^(\.\/)+/, '')
  const wanted = names.filter((name) => WANTED.test(name) || name === main)
  const files = await Promise.all(wanted.map(async (name) => [name, await git('show', `HEAD:${name}`)]))
  return Object.fromEntries(files)
}

/** What its author publishes on npm: built by the author's own configuration. */
export async function packageOf(cache: string, { repo, built_with = [] }: Tried): Promise<Package> {
  const folder = await clonedTo(cache, repo)
  const work = await mkdtemp(join(tmpdir(), 'longshore-app-'))
  const read = (name: string) => readFile(join(work, name), 'utf8')
  try {
    await run('git', [`--git-dir=${folder}`, `--work-tree=${work}`, 'checkout', 'HEAD', '--', '.'])
    const manifest = await read('package.json')
    // What else its author needed, for tests and the like, is left out.
    await writeFile(join(work, 'package.json'), '{}')
    await run('npm', ['install', '--ignore-scripts', '--legacy-peer-deps', ...built_with], { cwd: work })
    await writeFile(join(work, 'package.json'), manifest)
    await run('npx', ['rollup', '-c'], { cwd: work })
    const files = {
      'package.json': manifest,
      'plugin.json': await read('plugin.json'),
      'dist/index.js': await read('dist/index.js'),
    }
    const { name, version } = JSON.parse(manifest) as { name: string; version: string }
    return { name, version, files }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
