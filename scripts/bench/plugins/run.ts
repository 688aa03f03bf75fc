// What apps cost those who have them, and what hostile ones cost everybody else. Cases can be named.
import { availableParallelism } from 'node:os'
import { benchAttack } from './attack.ts'
import { benchCapture } from './capture.ts'
import { benchRest } from './rest.ts'
import { benchSandbox, benchStart } from './sandbox.ts'

const CASES = new Map<string, () => Promise<boolean>>([
  ['capture', benchCapture],
  ['sandbox', benchSandbox],
  ['start', benchStart],
  ['rest', benchRest],
  ['attack', benchAttack],
])

/** Whether all goals were met. */
export async function benchPlugins(names: readonly string[]): Promise<boolean> {
  const unknown = names.filter((name) => !CASES.has(name))
  if (unknown.length > 0) throw new Error(`there is no case ${unknown.join(', ')}`)
  console.log(
    `each case in one run; ${availableParallelism()} cores; what apps did was checked in the same run\n`,
  )
  let isMet = true
  for (const [name, run] of CASES) {
    if (names.length === 0 || names.includes(name)) isMet = (await run()) && isMet
  }
  return isMet
}
