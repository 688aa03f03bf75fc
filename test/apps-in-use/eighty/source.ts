// The files of an app as its repository has them: cloned once into a cache folder, which is not committed.
import { execFile } from 'node:child_process'
import { access, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const WANTED = /^(?:plugin\.json|package\.json|index\.[jt]s|frontend\.tsx|site\.ts|dist\/.*\.js|[^/]*\.js)$/
const MAX_BUFFER = 32 * 1024 * 1024

/** `<cache>/<owner>+<name>/repo` is the git folder. */
export async function filesOf(cache: string, repo: string): Promise<Record<string, string>> {
  const folder = join(cache, repo.replace('/', '+'), 'repo')
  const isThere = await access(folder).then(
    () => true,
    () => false,
  )
  if (!isThere) {
    await mkdir(join(cache, repo.replace('/', '+')), { recursive: true })
    await run('git', ['clone', '--bare', '--depth', '1', `https://github.com/${repo}`, folder])
  }
  const git = async (...args: string[]) =>
    (await run('git', [`--git-dir=${folder}`, ...args], { maxBuffer: MAX_BUFFER })).stdout
  const names = (await git('ls-tree', '-r', '--name-only', 'HEAD')).split('\n')
  const main = JSON.parse(await git('show', 'HEAD:plugin.json')).main?.replace(/^(\.\/)+/, '')
  const wanted = names.filter((name) => WANTED.test(name) || name === main)
  const files = await Promise.all(wanted.map(async (name) => [name, await git('show', `HEAD:${name}`)]))
  return Object.fromEntries(files)
}
