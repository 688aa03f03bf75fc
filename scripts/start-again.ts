// The bundle that runs, as another process, which finds its orders in its environment.
import { fork, type ChildProcess } from 'node:child_process'

export function startAgain(
  orders: Record<string, string>,
  { args = [], execArgv = [] }: { args?: readonly string[]; execArgv?: readonly string[] } = {},
): ChildProcess {
  return fork('bin/start.cjs', [process.argv[1]!, ...args], {
    env: { ...process.env, ...orders },
    execArgv: [...process.execArgv, ...execArgv],
  })
}
