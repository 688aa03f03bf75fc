// Bodies that cost the server more than their sender: each is refused before the work, and a neighbour's events are stored
// meanwhile.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BOMBS, filled, MB, spaces } from './bombs.ts'
import { ATTACKER, startTarget, type Answer, type Target } from './target.ts'
import { capture, withstand } from './watch.ts'

let target: Target
let project: string
beforeAll(async () => {
  target = await startTarget()
  const { body } = await target.call('GET', '/api/projects/@current/')
  project = `/api/projects/${body.id as number}`
})
afterAll(() => target.stop())

const COPIES = 4
// Unpacking and scanning all of the copies takes a third of it; parsing them takes more.
const MAX_CPU_S = 2.5

describe.each(BOMBS)('%s', (_, attacks) => {
  it.each(attacks)('%s', async (_name, make, status, code) => {
    const sent = { ...make(target), from: ATTACKER }
    const { answers, cpu_s } = await withstand(target, async () => {
      const before = await target.cpuSeconds()
      const told = await Promise.all(Array.from({ length: COPIES }, () => target.send(sent)))
      return { answers: told, cpu_s: (await target.cpuSeconds()) - before }
    })
    for (const answer of answers) expect(answer).toMatchObject({ status, body: { code } })
    expect(cpu_s).toBeLessThan(MAX_CPU_S)
  })
})

describe('odd bodies that are taken', () => {
  const event = (rest: string) => `{"api_key":"${target.token}","event":"odd","distinct_id":"odd",${rest}}`

  it.each<[string, () => string]>([
    ['a long number', () => event(`"properties":{"n":${'1'.repeat(MB)}}`)],
    ['escapes', () => event(`"properties":{"text":"${'\\u0041'.repeat(150_000)}"}`)],
    ['broken characters', () => event(`"properties":{"text":"${'\\ud800\\u0000'.repeat(80_000)}"}`)],
    [
      'prototypes',
      () => event(`"properties":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}`),
    ],
    ['one name a hundred times', () => event(`"properties":{${'"a":1,'.repeat(99)}"a":2}`)],
    ['a long timestamp', () => event(`"timestamp":"2024-01-01${' '.repeat(500_000)}"`)],
    ['many elements', () => event(`"properties":{"$elements":[${filled('{"tag_name":"a"},', 90_000)}{}]}`)],
  ])('%s', async (_, make) => {
    const answers = await withstand(target, () =>
      Promise.all(
        Array.from({ length: COPIES }, () => target.send({ path: '/e/', body: make(), from: ATTACKER })),
      ),
    )
    for (const { status } of answers) expect(status).toBe(200)
    const { status, body } = await target.call('GET', `${project}/events/?event=odd&limit=1`)
    expect(status).toBe(200)
    expect(body.results[0].properties.polluted).toBe(undefined)
  })
})

describe('a flood from one address', () => {
  /** Attacks until the neighbour has got through, so that nothing depends on how fast the machine is. */
  async function besieged<T>(attack: (n: number) => Promise<Answer>, neighbour: () => Promise<T>) {
    let isOver = false
    const statuses = new Map<number, number>()
    const lines = Array.from({ length: 64 }, async (_, line) => {
      for (let n = line; !isOver; n += 64) {
        const { status } = await attack(n)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    })
    try {
      return { statuses, result: await neighbour() }
    } finally {
      isOver = true
      await Promise.all(lines)
    }
  }

  const neighbours = () =>
    withstand(target, async () => {
      for (let n = 0; n < 5; n++) expect((await capture(target)).status).toBe(200)
    })

  it('with tokens of nobody', async () => {
    const attack = (n: number) =>
      target.send({
        path: '/e/',
        from: ATTACKER,
        body: JSON.stringify({ api_key: `phc_${n % 300}`, event: 'flood', distinct_id: 'd' }),
      })
    const { statuses } = await besieged(attack, neighbours)
    expect([...statuses.keys()].toSorted((a, b) => a - b)).toEqual([401])
  })

  it('over many projects', async () => {
    const projects = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        target.call('POST', '/api/organizations/@current/projects/', { name: `flooded ${n}` }),
      ),
    )
    const bodies = projects.map(({ body }) =>
      JSON.stringify({
        api_key: body.api_token as string,
        batch: Array.from({ length: 200 }, (_, n) => ({ event: 'flood', distinct_id: `d${n}` })),
      }),
    )
    const attack = (n: number) =>
      target.send({ path: '/batch/', from: ATTACKER, body: bodies[n % bodies.length]! })
    const { statuses } = await besieged(attack, neighbours)
    for (const status of statuses.keys()) expect([200, 503]).toContain(status)
  })

  it('of large bodies: a large batch of the neighbour does not wait for all of them', async () => {
    const large = `[${filled('{"event":"flood","distinct_id":"d","properties":{"a":[1,2,3]}},', 4 * MB)}1]`
    const done: string[] = []
    const sent = (name: string, body: string, from?: string) =>
      target.send({ path: '/batch/', body, ...(from ? { from } : {}) }).then((answer) => {
        done.push(name)
        return answer
      })
    const flood = Array.from({ length: 12 }, () => sent('flood', large, ATTACKER))
    // The first answer tells that the flood is being worked on.
    await Promise.race(flood)
    const batch = Array.from({ length: 3000 }, (_, n) => ({ event: 'neighbour', distinct_id: `n${n}` }))
    const answer = await sent('neighbour', JSON.stringify({ api_key: target.token, batch }))
    expect(answer.status).toBe(200)
    expect(done.length).toBeLessThan(flood.length)
    for (const { status } of await Promise.all(flood)) expect([401, 503]).toContain(status)
  })

  it('of more than may be under way is told to come back later', async () => {
    const body = spaces.subarray(0, 19 * MB)
    const answers = await withstand(target, () =>
      Promise.all(Array.from({ length: 8 }, () => target.send({ path: '/batch/', body, from: ATTACKER }))),
    )
    const refused = answers.filter(({ status }) => status === 503)
    expect(refused.length).toBeGreaterThan(0)
    for (const { headers, body: told } of refused) {
      expect(headers['retry-after']).toBe('1')
      expect(told.code).toBe('too_many_requests_underway')
    }
  })
})

describe('afterwards', () => {
  it('nothing of the attacks is stored, all of the neighbour is, and nothing was logged as a fault', async () => {
    const query = async (hogql: string) =>
      (
        await target.call('POST', `${project}/query/`, {
          query: { kind: 'HogQLQuery', query: hogql },
        })
      ).body.results as unknown[][]
    expect(await query("select count() from events where event in ('e', 'flood')")).toEqual([[0]])
    expect(
      Number((await query("select count() from events where event = 'neighbour'"))[0]![0]),
    ).toBeGreaterThan(3000)
    expect(target.stderr()).toBe('')
  })
})
