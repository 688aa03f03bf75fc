// Makes tests of the attacks of a suite: all of them on one running program, with a neighbour beside each.
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { Attack } from './attack.ts'
import { HOLES } from './holes.ts'
import { SUITES, type World } from './suites.ts'
import { openWatch, type Watch } from './watch.ts'

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
    const against = attacks.filter(({ hole }) => hole === id)
    if (against.length === 0) continue
    describe(`${id}: ${title}`, () => {
      for (const { name, run } of against)
        test(`${name}`, () => (watch?.during ?? unwatched)(() => run(world!)))
    })
  }
}
