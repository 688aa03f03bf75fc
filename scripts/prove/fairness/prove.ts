// `npm run prove -- fairness`: that projects whose destinations are dead or locked do not keep another one waiting. The
// real server, by the real clock, in about two minutes.
import { buildProgram, type Program } from '../../../test/end-to-end/program.ts'
import { buildServer } from '../crash/server-process.ts'
import { withServer } from '../on-server.ts'
import { play, prepare, type Outcome, type Scene, type Stage } from './scene.ts'
import { openSinks, type Sinks } from './sinks.ts'
import { Tenants } from './tenants.ts'

const LONGEST_START_S = 5
const INTERVAL_MS = 300_000
/** From the start of a scene until an interval of the schedule ends. */
const UNTIL_INTERVAL_MS = 20_000

type Maker = (sinks: Sinks) => Scene

const SCENES: readonly Maker[] = [
  ({ few }) => ({
    title: 'three projects with dead or locked destinations and 20 backfills, one that is well',
    sinks: few,
    backfills: 20,
    seconds: 70,
  }),
  ({ many }) => ({
    title: 'fifty projects with dead destinations and 50 backfills, one that is well',
    sinks: many(50),
    backfills: 50,
    seconds: 40,
  }),
]

/** True: the well one's runs began in time. */
export async function proveFairness(): Promise<boolean> {
  const program = await buildProgram()
  try {
    const main = await buildServer(program)
    const proven: boolean[] = []
    for (const make of SCENES) proven.push(await proveScene(program, main, make))
    return proven.every((isRight) => isRight)
  } finally {
    await program.remove()
  }
}

async function proveScene(program: Program, main: string, make: Maker): Promise<boolean> {
  const sinks = await openSinks()
  const scene = make(sinks)
  console.log(`\n${scene.title}, for ${scene.seconds} s`)
  const DATA_DIR = program.newDataDir()
  const onServer = <T>(offset_ms: number, work: (stage: Stage) => Promise<T>) =>
    withServer(main, { DATA_DIR }, offset_ms, ({ url, db, now }) =>
      work({ db, now, tenants: new Tenants(url, now) }),
    )
  try {
    const cast = await onServer(0, (stage) => prepare(stage, scene))
    await sinks.fail()
    return report(await onServer(untilInterval(), (stage) => play(stage, scene, cast)))
  } finally {
    await sinks.close()
  }
}

/** How far ahead the clock is set, so that an interval ends soon. */
function untilInterval(): number {
  return INTERVAL_MS - ((Date.now() + UNTIL_INTERVAL_MS) % INTERVAL_MS)
}

function report({ runs, completed, of_schedule, worst_s, mean_s, most, waits }: Outcome): boolean {
  console.log(
    `  the well one: ${runs} runs (${of_schedule} of its schedule), ${completed} completed; ` +
      `they began ${mean_s.toFixed(2)} s after their time, ${worst_s.toFixed(2)} s at worst`,
  )
  console.log(
    `  the others: at most ${most.at_work} runs at their destinations, ${most.unfinished} unfinished, ` +
      `${most.breakers} breakers open`,
  )
  for (const said of waits) console.log(`    waits for ${said}`)
  const isRight = runs > 0 && completed === runs && worst_s <= LONGEST_START_S && most.at_work > 0
  if (!isRight) console.log(`  FAULT: all were to complete, and to begin within ${LONGEST_START_S} s`)
  return isRight
}
