// Puts old faults back, one at a time, and sees whether the attacks that found them fail. In runs of their own: the attacks
// go for the built program, which a run builds once.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Checkout } from './checkout.ts'
import { OLD_FAULTS, type OldFault } from './old-faults.ts'

/** How each test ended, by its name. */
type Ends = ReadonlyMap<string, string>

/** True when every fault is noticed. `picked`: by their numbers, or all. */
export async function putBack(checkout: Checkout, picked: readonly string[]): Promise<boolean> {
  const faults = OLD_FAULTS.filter((_, index) => picked.length === 0 || picked.includes(String(index + 1)))
  const whole = await ends(checkout, faults)
  let isGood = true
  for (const fault of faults) {
    const broken = await endsWith(checkout, fault)
    const unnoticed = fault.failing.filter(
      (name) => whole.get(name) !== 'passed' || broken.get(name) !== 'failed',
    )
    if (unnoticed.length > 0) isGood = false
    console.log(`${unnoticed.length === 0 ? 'noticed' : 'NOT NOTICED'}  ${fault.name}`)
    for (const name of fault.failing)
      console.log(`    ${name}: ${whole.get(name)} without it, ${broken.get(name)} with it`)
  }
  return isGood
}

async function endsWith(checkout: Checkout, fault: OldFault): Promise<Ends> {
  const files = new Set(fault.edits.map(({ file }) => file))
  for (const file of files) await checkout.write(file, edited(checkout.read(file), file, fault))
  try {
    return await ends(checkout, [fault])
  } finally {
    for (const file of files) await checkout.restore(file)
  }
}

export function edited(text: string, file: string, { name, edits }: OldFault): string {
  return edits
    .filter((edit) => edit.file === file)
    .reduce((before, { from, to }) => {
      if (before.split(from).length !== 2)
        throw new Error(`${file} has no longer, once, what "${name}" changes: ${from}`)
      return before.replace(from, () => to)
    }, text)
}

async function ends({ root }: Checkout, faults: readonly OldFault[]): Promise<Ends> {
  const report = join(root, 'node_modules/.put-back.json')
  const names = faults.flatMap(({ failing }) => failing)
  const pattern = names.map((name) => name.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')).join('|')
  const tests = new Set(faults.map(({ test }) => test))
  const options = ['--mode', 'long', '--reporter=json', `--outputFile=${report}`, '-t', `(${pattern})$`]
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  // It ends with 1 when tests fail, which they are to do here.
  await new Promise((resolve) =>
    execFile(
      process.execPath,
      [vitest, 'run', ...tests, ...options],
      { cwd: root, maxBuffer: 2 ** 26 },
      resolve,
    ),
  )
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as {
    testResults: { assertionResults: { title: string; status: string }[] }[]
  }
  const results = testResults.flatMap(({ assertionResults }) => assertionResults)
  return new Map(
    results.map(({ title, status }) => [title, status] as const).filter(([title]) => names.includes(title)),
  )
}
