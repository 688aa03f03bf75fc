// The bundle that runs, as another process, which finds its orders in its environment. Without source maps, as users have
// it: reading them at the first error holds everything up for a quarter of a second.
import { fork, type ChildProcess } from 'node:child_process'

export function startAgain(
  orders: Record<string, string>,
  { args = [], execArgv = [] }: { args?: readonly string[]; execArgv?: string[] } = {},
): ChildProcess {
  return fork('bin/start.cjs', [process.argv[1]!, ...args], {
    env: { ...process.env, ...orders },
    execArgv,
  })
}
