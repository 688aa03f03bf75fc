// Bodies that cost the server more than their sender: each is refused before the work.
import { expect } from 'vitest'
import { attack, attackEach, type Attack } from './attack.ts'
import { BOMBS, filled, MB, spaces } from './bombs.ts'
import type { CaptureWorld } from './capture-world.ts'
import { ATTACKER, type Sent, type Target } from './target.ts'

const COPIES = 2
// Unpacking and scanning all of the copies takes a fifth of it; parsing them takes more.
const MAX_CPU_S = 2

const copies = (target: Target, sent: Sent) =>
  Promise.all(Array.from({ length: COPIES }, () => target.send({ ...sent, from: ATTACKER })))

const bombs = BOMBS.flatMap(([kind, of]) =>
  attackEach<CaptureWorld, (typeof of)[number]>(
    'S32',
    of,
    ([name]) => `${kind}: ${name}`,
    async ({ target }, [, make, status, code]) => {
      const before = await target.cpuSeconds()
      const answers = await copies(target, make(target))
      const cpu_s = (await target.cpuSeconds()) - before
      for (const answer of answers) expect(answer).toMatchObject({ status, body: { code } })
      expect(cpu_s).toBeLessThan(MAX_CPU_S)
    },
  ),
)

/** They are odd, not wrong: what they hold is stored. */
const ODD: [string, (event: (rest: string) => string) => string][] = [
  ['a long number', (event) => event(`"properties":{"n":${'1'.repeat(MB)}}`)],
  ['escapes', (event) => event(`"properties":{"text":"${'\\u0041'.repeat(150_000)}"}`)],
  ['broken characters', (event) => event(`"properties":{"text":"${'\\ud800\\u0000'.repeat(80_000)}"}`)],
  [
    'prototypes',
    (event) => event(`"properties":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}`),
  ],
  ['one name a hundred times', (event) => event(`"properties":{${'"a":1,'.repeat(99)}"a":2}`)],
  ['a long timestamp', (event) => event(`"timestamp":"2024-01-01${' '.repeat(500_000)}"`)],
  [
    'many elements',
    (event) => event(`"properties":{"$elements":[${filled('{"tag_name":"a"},', 90_000)}{}]}`),
  ],
  ['a wide object', (event) => event(`"properties":{${wide(2_000)}}`)],
  ['a wide object of a person', (event) => event(`"properties":{"$set":{${wide(500)}}}`)],
]

const wide = (count: number) => Array.from({ length: count }, (_, n) => `"key ${n}":${n}`).join(',')

const odd = attackEach<CaptureWorld, (typeof ODD)[number]>(
  'S32',
  ODD,
  ([name]) => `odd, and taken: ${name}`,
  async ({ target, project }, [, make]) => {
    const event = (rest: string) => `{"api_key":"${target.token}","event":"odd","distinct_id":"odd",${rest}}`
    for (const { status } of await copies(target, { path: '/e/', body: make(event) }))
      expect(status).toBe(200)
    const { status, body } = await target.call('GET', `${project}/events/?event=odd&limit=1`)
    expect(status).toBe(200)
    expect(body.results[0].properties.polluted).toBe(undefined)
  },
)

/** Bodies that are no events: each field of another type than it is made for. */
const TYPES: unknown[] = [1, true, null, [], {}, [[]], '\u0000', '\ud800', 1e308, -1]
const FIELDS = [
  'event',
  'distinct_id',
  'properties',
  'timestamp',
  'uuid',
  '$set',
  'sent_at',
  'offset',
  'batch',
]

const types = attackEach<CaptureWorld, string>(
  'S32',
  FIELDS,
  (field) => `odd types: ${field}`,
  async ({ target }, field) => {
    for (const value of TYPES) {
      const event = { api_key: target.token, event: 'typed', distinct_id: 'typed', [field]: value }
      for (const body of [event, { api_key: target.token, batch: [event] }, [event]]) {
        const { status } = await target.send({ path: '/batch/', body: JSON.stringify(body), from: ATTACKER })
        expect([200, 400, 401]).toContain(status)
      }
    }
  },
)

const afterwards = attack<CaptureWorld>('S32', 'afterwards nothing of them is stored', async (world) => {
  expect(await world.count(`event in ('e', 'flood')`)).toBe(0)
  expect(await world.count(`event = 'neighbour'`)).toBeGreaterThan(BOMBS.length)
  expect(world.target.stderr()).toBe('')
})

const flooded = attack<CaptureWorld>('S38', 'more bytes than may be under way', async ({ target }) => {
  const body = spaces.subarray(0, 19 * MB)
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => target.send({ path: '/batch/', body, from: ATTACKER })),
  )
  const refused = answers.filter(({ status }) => status === 503)
  expect(refused.length).toBeGreaterThan(0)
  for (const { headers, body: told } of refused) {
    expect(headers['retry-after']).toBe('1')
    expect(told.code).toBe('too_many_requests_underway')
  }
})

export const attacks: Attack<CaptureWorld>[] = [...bombs, ...odd, ...types, afterwards, flooded]
