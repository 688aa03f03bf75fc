// Makes tests of the attacks of a suite: all of them on one running program, with a neighbour beside each.
import { afterAll, beforeAll, describe, test } from 'vitest'
import { IS_LONG } from '../harness/long.ts'
import type { Attack } from './attack.ts'
import { HOLES } from './holes.ts'
import { SUITES, type World } from './suites.ts'
import { isStrict, openWatch, type Watch } from './watch.ts'

/** The check tries every third row of a longer table: they are alike. `npm run attacks` and the long run try all. */
const MANY_ROWS = 20
const EVERY = 3
const isTried = ({ row }: Attack<World>) =>
  IS_LONG || isStrict || row === undefined || row.of <= MANY_ROWS || row.at % EVERY === 0

export function runSuite(name: keyof typeof SUITES): void {
  // Each suite has attacks for the world that it opens.
  const { attacks, open } = SUITES[name] as { attacks: readonly Attack<World>[]; open(): Promise<World> }
  let world: World | undefined
  let watch: Watch | undefined
  beforeAll(async () => {
    world = await open()
    if (world.target) watch = await openWatch(world.target)
  })
  afterAll(async () => {
    try {
      await watch?.close()
    } finally {
      await world?.close()
    }
  })
  const unwatched: Watch['during'] = async (attack) => void (await attack())
  for (const { id, title } of HOLES) {
    const against = attacks.filter((attack) => attack.hole === id && isTried(attack))
    if (against.length === 0) continue
    describe(`${id}: ${title}`, () => {
      for (const { name, run } of against)
        test(`${name}`, () => (watch?.during ?? unwatched)(() => run(world!)))
    })
  }
}
