// `npm run mutate`: breaks the code in small ways, one at a time, and sees whether the nearest tests notice. A mutant that
// no test kills is a line that nothing guards. `npm run mutate -- <folder or file> …` picks what is broken, and `<file>:<line>`
// tries every mutant of a line; otherwise it is targets.ts. MUTATE_SAMPLE mutants per folder (20, or `all`), chosen by
// MUTATE_SEED. Ends with 1 when a folder of targets.ts is below the goal. `npm run mutate -- old-faults`, or `old-faults 3`,
// puts back what attacks once found, and ends with 1 when one of them is no longer noticed.
//
// Our own, because Stryker knows no SQL in templates, and rights and delivery are decided there. The parser is rolldown's:
// TypeScript 7 has no stable API for its syntax tree.
import { join } from 'node:path'
import { Random } from '../crash/random.ts'
import { openCheckout } from './checkout.ts'
import { mutantsOf, type Mutant } from './mutants.ts'
import { testsNear } from './nearest-tests.ts'
import { putBack } from './put-back.ts'
import { describeMutant, GOAL, short, printScores, type Score } from './report.ts'
import { openTests, type Outcome } from './run-tests.ts'
import { filesOf, targetsOf, type Target } from './targets.ts'

/** What the tests said: a mutant that does not even load says nothing about them. */
type Fate = { kind: 'killed' | 'survived' | 'invalid'; by?: string }

const sample = process.env.MUTATE_SAMPLE === 'all' ? Infinity : Number(process.env.MUTATE_SAMPLE ?? 20)
const seed = Number(process.env.MUTATE_SEED ?? Date.now() % 1_000_000)
console.log(`MUTATE_SEED=${seed}`)

const [first, ...rest] = process.argv.slice(2)
const checkout = await openCheckout()
if (first === 'old-faults') process.exit((await putBack(checkout, rest)) ? 0 : 1)
const tests = await openTests(checkout.root)
for (const signal of ['SIGINT', 'SIGTERM']) {
  // In the place of what bin/start.cjs does: PostgreSQL has to be stopped.
  process.removeAllListeners(signal)
  process.once(signal, () => void tests.close().finally(() => process.exit(1)))
}
let isGood = false
try {
  const scores: Score[] = []
  for (const target of targetsOf(process.argv.slice(2))) scores.push(await scoreOf(target))
  printScores(scores)
  isGood = scores.every(({ has_goal, share }) => !has_goal || share === null || share >= GOAL)
} finally {
  await tests.close()
  // Vitest sets it when a test fails, which is what tests are to do here.
  process.exitCode = isGood ? 0 : 1
}

async function scoreOf(target: Target): Promise<Score> {
  console.log(`\n== ${target.name}\n`)
  const found = filesOf(target, checkout.files).flatMap((file) =>
    mutantsOf(file, checkout.read(file)).filter(({ line }) => (target.line ?? line) === line),
  )
  const chosen = target.line === undefined ? chosenFrom(found) : found
  const fates: Record<Fate['kind'], Mutant[]> = { killed: [], survived: [], invalid: [] }
  for (const mutant of chosen) {
    const fate = await fateOf(mutant, target)
    fates[fate.kind].push(mutant)
    console.log(
      `${fate.kind.padEnd(8)} ${describeMutant(mutant)}${fate.by ? `\n         by ${short(fate.by)}` : ''}`,
    )
  }
  const counted = fates.killed.length + fates.survived.length
  return {
    name: target.name,
    has_goal: target.has_goal,
    found: found.length,
    killed: fates.killed.length,
    invalid: fates.invalid.length,
    survivors: fates.survived,
    share: counted === 0 ? null : fates.killed.length / counted,
  }
}

/** Without order: which ones are tried depends on the seed alone. */
function chosenFrom(mutants: readonly Mutant[]): Mutant[] {
  const random = new Random(seed)
  const left = [...mutants]
  const chosen: Mutant[] = []
  while (left.length > 0 && chosen.length < sample) chosen.push(...left.splice(random.below(left.length), 1))
  return chosen
}

/** The nearest tests first: most mutants do not live to see the others. */
async function fateOf(mutant: Mutant, target: Target): Promise<Fate> {
  for (const circle of testsNear(mutant.file, target, checkout.files)) {
    await tests.assertGreen(circle)
    const outcome = await runBroken(mutant, circle)
    if (outcome.kind === 'broken') return { kind: 'invalid', by: outcome.by }
    if (outcome.kind === 'failed') return { kind: 'killed', by: outcome.by }
  }
  return { kind: 'survived' }
}

async function runBroken({ file, mutated }: Mutant, circle: readonly string[]): Promise<Outcome> {
  const path = join(checkout.root, file)
  await checkout.write(file, mutated)
  tests.hasChanged(path)
  try {
    return await tests.run(circle)
  } finally {
    await checkout.restore(file)
    tests.hasChanged(path)
  }
}
