// The server as a process: built, started at any hour, killed without warning or stopped in order.
import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Env, Program } from '../../../test/end-to-end/program.ts'

export type Ended = {
  code: number | null
  /** What it had to complain about. */
  complaints: string[]
}

export type ServerProcess = {
  url: string
  pid: number
  /** From the start to the first answer. */
  start_ms: number
  /** SIGKILL. */
  kill(): Promise<Ended>
  stop(): Promise<Ended>
}

const SETTINGS = { PORT: '0', LOG_LEVEL: 'error' }

/** Gives the file to start. In a folder of the program's, which goes with it. */
export async function buildServer(program: Program): Promise<string> {
  const folder = program.newDataDir()
  const build = join(process.cwd(), 'scripts/prove/crash/build-server.js')
  await promisify(execFile)(process.execPath, [build, folder])
  return join(folder, 'server.js')
}

export async function startServer(main: string, env: Env, offset_ms: number): Promise<ServerProcess> {
  const began = Date.now()
  const child = fork('bin/start.cjs', [main, String(offset_ms)], {
    env: { ...SETTINGS, PATH: process.env.PATH ?? '', ...env },
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  }
  const ended = once(child, 'close').then(([code]) => ({
    code: code as number | null,
    complaints: output.split('\n').filter((line) => line !== ''),
  }))
  const url = await Promise.race([
    once(child, 'message').then(([message]) => String(message)),
    ended.then(() => null),
  ])
  if (url === null) throw new Error(`the server ended before it was ready:\n${output}`)
  const end = (signal: 'SIGKILL' | 'SIGTERM') => {
    child.kill(signal)
    return ended
  }
  return {
    url,
    pid: child.pid!,
    start_ms: Date.now() - began,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}
