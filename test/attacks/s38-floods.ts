// Floods of events from one address: the neighbour gets through while they last.
import { expect } from 'vitest'
import { attack, type Attack } from './attack.ts'
import { filled, MB } from './bombs.ts'
import type { CaptureWorld } from './capture-world.ts'
import { ATTACKER, type Answer } from './target.ts'
import { capture } from './watch.ts'

/** Attacks until the neighbour has got through, so that nothing depends on how fast the machine is. */
async function besieged(
  world: CaptureWorld,
  flood: (n: number) => Promise<Answer>,
): Promise<Map<number, number>> {
  let isOver = false
  const statuses = new Map<number, number>()
  const lines = Array.from({ length: 64 }, async (_, line) => {
    for (let n = line; !isOver; n += 64) {
      const { status } = await flood(n)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  })
  try {
    for (let n = 0; n < 5; n++) expect((await capture(world.target)).status).toBe(200)
  } finally {
    isOver = true
    await Promise.all(lines)
  }
  return statuses
}

const strangers = attack<CaptureWorld>('S38', 'a flood with tokens of nobody', async (world) => {
  const statuses = await besieged(world, (n) =>
    world.target.send({
      path: '/e/',
      from: ATTACKER,
      body: JSON.stringify({ api_key: `phc_${n % 300}`, event: 'flood', distinct_id: 'd' }),
    }),
  )
  expect([...statuses.keys()].toSorted((a, b) => a - b)).toEqual([401])
})

const projects = attack<CaptureWorld>('S38', 'a flood over many projects', async (world) => {
  const { target } = world
  const made = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      target.call('POST', '/api/organizations/@current/projects/', { name: `flooded ${n}` }),
    ),
  )
  const batch = Array.from({ length: 200 }, (_, n) => ({ event: 'flood', distinct_id: `d${n}` }))
  const bodies = made.map(({ body }) => JSON.stringify({ api_key: body.api_token as string, batch }))
  const statuses = await besieged(world, (n) =>
    target.send({ path: '/batch/', from: ATTACKER, body: bodies[n % bodies.length]! }),
  )
  for (const status of statuses.keys()) expect([200, 503]).toContain(status)
})

const large = attack<CaptureWorld>(
  'S38',
  'a flood of large bodies: a large batch of the neighbour does not wait for all of them',
  async ({ target }) => {
    const body = `[${filled('{"event":"flood","distinct_id":"d","properties":{"a":[1,2,3]}},', 4 * MB)}1]`
    let done = 0
    const flood = Array.from({ length: 12 }, () =>
      target.send({ path: '/batch/', body, from: ATTACKER }).finally(() => done++),
    )
    // The first answer tells that the flood is being worked on.
    await Promise.race(flood)
    const batch = Array.from({ length: 3000 }, (_, n) => ({ event: 'neighbour', distinct_id: `n${n}` }))
    const sent = { path: '/batch/', body: JSON.stringify({ api_key: target.token, batch }) }
    expect((await target.send(sent)).status).toBe(200)
    expect(done).toBeLessThan(flood.length)
    for (const { status } of await Promise.all(flood)) expect([401, 503]).toContain(status)
  },
)

export const attacks: Attack<CaptureWorld>[] = [strangers, projects, large]
