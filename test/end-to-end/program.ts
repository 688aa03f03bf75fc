// The program as its users get it, built apart from the checkout and started as processes of its own. Used by the tests
// beside this file and by scripts/crash.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readdir, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { isPostmasterOf, readPidFile } from '../../src/platform/db/embedded/pid-file.ts'

export type Env = Record<string, string>
type Identity = { uid?: number; gid?: number }
export type Ended = { code: number | null; stdout: string; stderr: string }

export type Running = {
  pid: number
  /** What it has written so far. */
  stdout(): string
  stderr(): string
  /** The address it listens on, once it says that it is ready; throws when it ends before. */
  url: Promise<string>
  ended: Promise<Ended>
  kill(signal: NodeJS.Signals): void
}

export type Program = {
  /** Where it was built: what a package consists of, and what tests leave beside it. */
  root: string
  /** A folder of its own for data, not made yet. */
  newDataDir(): string
  serve(env: Env, identity?: Identity): Running
  /** Runs one command to its end. */
  run(args: readonly string[], env?: Env): Promise<Ended>
  /** Ends whatever was started and is still there, every PostgreSQL included, and removes all folders. */
  remove(): Promise<void>
}

const READY = /^ {2}Console +(http\S+)$|^Longshore is ready at (http\S+)$/m

/** In a run of tests whoever needs it first builds it, and the others take a copy of that. */
async function buildOnce(root: string, target: string): Promise<void> {
  const shared = process.env.TEST_BUILD
  if (shared === undefined || root !== process.cwd()) return build(root, target)
  const built = join(shared, 'dist')
  const isFirst = await mkdir(join(shared, 'building')).then(
    () => true,
    () => false,
  )
  if (isFirst) await build(root, built)
  else while (!existsSync(built)) await sleep(100)
  await cp(built, target, { recursive: true })
}

async function build(root: string, target: string): Promise<void> {
  await promisify(execFile)(process.execPath, [join(root, 'scripts/build.js'), target])
}

/** @param root the checkout */
export async function buildProgram(root = process.cwd()): Promise<Program> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'longshore-e2e-')))
  await chmod(folder, 0o755) // other users start it too
  await buildOnce(root, join(folder, 'dist'))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const part of ['bin', 'package.json', '.env.example', 'README.md', 'LICENSE', '.npmrc'])
    await cp(join(root, part), join(folder, part), { recursive: true })
  const main = join(folder, 'bin/longshore.cjs')
  const started = new Set<ChildProcess>()
  let folders = 0

  const start = (args: readonly string[], env: Env, identity: Identity = {}): Running => {
    // Nothing of our own environment: settings of the machine must not decide what a test sees.
    const all = { PATH: process.env.PATH ?? '', HOME: folder, ...env }
    const child = spawn(process.execPath, [main, ...args], {
      ...identity,
      env: all,
      cwd: folder,
      stdio: 'pipe',
    })
    started.add(child)
    child.once('close', () => started.delete(child))
    return watch(child)
  }
  // A run that is ended by a signal leaves no server behind; each stops its own PostgreSQL.
  const endAll = () => started.forEach((child) => child.kill('SIGTERM'))
  process.once('exit', endAll)
  return {
    root: folder,
    newDataDir: () => join(folder, `data${++folders}`),
    serve: (env, identity) => start(['serve'], { PORT: '0', ...env }, identity),
    run: (args, env = {}) => start(args, env).ended,
    async remove() {
      process.off('exit', endAll)
      for (const child of started) child.kill('SIGKILL')
      await Promise.all([...started].map((child) => once(child, 'close')))
      for (const name of await readdir(folder)) await stopPostgres(join(folder, name))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function watch(child: ChildProcess): Running {
  let stdout = ''
  let stderr = ''
  child.stderr!.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }))
  const url = new Promise<string>((resolve, reject) => {
    child.stdout!.on('data', (chunk: Buffer) => {
      stdout += chunk.toString()
      const found = READY.exec(stdout)
      if (found) resolve((found[1] ?? found[2])!)
    })
    void ended.then(() => reject(new Error(`ended before it was ready:\n${stdout}\n${stderr}`)))
  })
  url.catch(() => undefined) // some tests expect just that, and look at how it ended
  return {
    pid: child.pid!,
    stdout: () => stdout,
    stderr: () => stderr,
    url,
    ended,
    kill: (signal) => void child.kill(signal),
  }
}

/** The process of the PostgreSQL on a data folder, null when there is none. */
export async function postmasterOf(dataDir: string): Promise<number | null> {
  const folder = join(dataDir, 'postgres')
  const pid = (await readPidFile(folder))?.pid
  return pid !== undefined && isPostmasterOf(pid, folder) ? pid : null
}

async function stopPostgres(dataDir: string): Promise<void> {
  const pid = await postmasterOf(dataDir)
  if (pid === null) return
  process.kill(pid, 'SIGCONT')
  process.kill(pid, 'SIGQUIT')
  while ((await postmasterOf(dataDir)) !== null) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** How to reach the PostgreSQL on a data folder directly. */
export function connectionOf(dataDir: string) {
  return {
    host: join(dataDir, 'run'),
    port: 5432,
    user: 'longshore',
    password: readFileSync(join(dataDir, 'postgres.password'), 'utf8').trim(),
    database: 'longshore',
    ssl: false as const,
  }
}
