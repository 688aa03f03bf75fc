// Apps that mean harm, installed and switched on as anybody could: what they try does not come about, they are told or
// switched off, and their neighbours notice nothing.
// @module-tag slow
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { groupBy } from '../../lib/group-by.ts'
import { openAttackScene, type AttackScene } from './fixture/attack-scene.ts'
import { capture, storedEvents } from './running/fixture/apps.ts'

const MINUTE = 60_000
const MARKS = `export function processEvent(event) { event.properties.marked = true; return event }`

let app: TestApp
let scene: AttackScene
// One thread, so that every app has every other for a neighbour.
beforeAll(async () => void (app = await startTestApp({ PLUGIN_THREADS: '1' })))
afterAll(() => app.close())
beforeEach(async () => void (scene = await openAttackScene(app)))
afterEach(() => scene.close())

describe('an app that captures events in answer to events', () => {
  it('from onEvent gets none of its own back', async () => {
    await scene.install(
      `export async function onEvent(event) { await posthog.capture('echo of ' + event.event) }`,
    )
    await scene.send('one')
    for (let round = 0; round < 5; round++) await scene.deliver()
    expect((await scene.stored()).map(({ event }) => event)).toEqual(['one', 'echo of one'])
  })

  it('from processEvent gets none of its own back', async () => {
    await scene.install(`export async function processEvent(event) {
      await posthog.capture('echo of ' + event.event)
      return event
    }`)
    await scene.send('one')
    await scene.send('two')
    const names = (await scene.stored()).map(({ event }) => event)
    expect(names.toSorted()).toEqual(['echo of one', 'echo of two', 'one', 'two'])
  })
})

describe('apps that capture events in answer to each other', () => {
  const answersTo = (name: string, answer: string) => `export async function onEvent(event) {
    if (event.event === '${name}') await posthog.capture('${answer}').catch(() => {})
  }`

  it('are stopped after some rounds, and told; another that looks on is served', async () => {
    const ping = await scene.install(answersTo('ping', 'pong'))
    const pong = await scene.install(answersTo('pong', 'ping'))
    const neighbour = await scene.install(`export async function onEvent(event) {
      if (event.event === 'asked') await posthog.capture('told')
    }`)
    await scene.send('ping')
    for (let round = 0; round < 20; round++) await scene.deliver()
    const names = async () => (await scene.stored()).map(({ event }) => event)
    expect((await names()).filter((name) => name !== 'ping' && name !== 'pong')).toEqual([])
    expect(await names()).toHaveLength(6)
    const told = [...(await scene.log(ping)), ...(await scene.log(pong))]
    expect(told.map(({ type, message }) => ({ type, message }))).toContainEqual({
      type: 'WARN',
      message: expect.stringContaining('in answer to each other'),
    })
    await scene.send('asked')
    await scene.deliver()
    expect(await names()).toContain('told')
    expect(await scene.log(neighbour)).toEqual([])
    // The next one goes as far.
    const before = (await names()).length
    await scene.send('ping')
    for (let round = 0; round < 20; round++) await scene.deliver()
    expect((await names()).length).toBe(before + 6)
  })

  it('cannot be made so by a client that sends the mark', async () => {
    await scene.install(answersTo('ping', 'pong'))
    await scene.send({ event: 'ping', properties: { $plugin_hops: 5 } })
    await scene.deliver()
    expect((await scene.stored()).map(({ event }) => event)).toEqual(['ping', 'pong'])
  })
})

describe('an app that floods its log', () => {
  it('keeps a hundred lines a second and one about the rest', async () => {
    const chatty = await scene.install(`export function onEvent() {
      for (let line = 0; line < 10000; line++) console.log('line ' + line)
    }`)
    const neighbour = await scene.install(`export function onEvent() { console.log('heard') }`)
    await scene.send('one')
    await scene.deliver()
    app.advance(1_000)
    const lines = await scene.log(chatty)
    const dropped = lines.filter(({ message }) => /^\d+ lines dropped/.test(message))
    expect(dropped).toMatchObject([{ source: 'SYSTEM', type: 'WARN' }])
    const bySecond = groupBy(
      lines.filter((line) => !dropped.includes(line)),
      ({ timestamp }) => timestamp.slice(0, 19),
    )
    expect(bySecond.size).toBeGreaterThan(0)
    for (const [second, kept] of bySecond) expect(kept.length, second).toBeLessThanOrEqual(100)
    expect((await scene.log(neighbour)).map(({ message }) => message)).toEqual(['heard'])
  })
})

describe('an app whose code is no good', () => {
  const cases: [string, string, RegExp][] = [
    ['does not parse', `export function processEvent(event { return event }`, /index\.ts:1:/],
    [
      'does not load',
      `throw new Error('not today'); export function processEvent(event) { return event }`,
      /not today/,
    ],
    ['never finishes loading', `while (true) {}; export function processEvent(event) { return event }`, /./],
    [
      'asks for a module that is not there',
      `import fs from 'fs'; export function processEvent() { fs }`,
      /fs/,
    ],
  ]
  it.each(cases)('because it %s stays on, says why, and passes events', async (_, code, why) => {
    const neighbour = await scene.install(MARKS)
    const faulty = await scene.install(code)
    const config = await scene.config(faulty)
    expect(config).toMatchObject({ enabled: true, error: { message: expect.stringMatching(why) } })
    const lines = await scene.log(faulty)
    expect(lines.every(({ type }) => type === 'ERROR')).toBe(true)
    expect(lines.some(({ message }) => why.test(message))).toBe(true)
    await scene.send('one', 'two')
    expect((await scene.stored()).map(({ event, properties }) => [event, properties.marked])).toEqual([
      ['one', true],
      ['two', true],
    ])
    for (const { properties } of await scene.stored()) {
      expect(properties.$plugins_succeeded).toEqual([scene.named(neighbour)])
    }
    expect((await scene.config(neighbour)).error).toBeNull()
    expect(await scene.log(neighbour)).toEqual([])
  })

  it.each([
    ['throws', `throw new Error('boom')`],
    ['throws what is no error', `throw null`],
    ['throws what throws when it is read', `throw { get message() { throw 1 }, toString() { throw 2 } }`],
    ['returns a number', `return 7`],
    ['returns a text', `return 'event'`],
    ['returns a list', `return [event]`],
    ['returns a function', `return () => event`],
    ['returns an event without a name', `return { ...event, event: undefined }`],
    ['returns an event of another project', `return { ...event, team_id: event.team_id + 1 }`],
    ['returns a circle', `event.properties.self = event; return event`],
    ['returns a number JSON does not have', `event.properties.n = 1n; return event`],
    ['returns properties that throw', `return { ...event, get properties() { throw new Error('trap') } }`],
    ['returns a promise that fails', `return Promise.reject(new Error('later'))`],
    [
      'has broken what everybody uses',
      `JSON.stringify = () => 'no'; Object.keys = () => { throw 1 }; return 7`,
    ],
  ])('because it %s is passed by, and logged', async (_, body) => {
    const first = await scene.install(MARKS)
    const faulty = await scene.install(
      `export function processEvent(event) { event.properties.half = 1; ${body} }`,
    )
    const last = await scene.install(MARKS.replace('marked', 'marked_last'))
    await scene.send('kept')
    const [event, ...others] = await scene.stored()
    expect(others).toEqual([])
    expect(event).toMatchObject({ event: 'kept', properties: { marked: true, marked_last: true } })
    expect(event!.properties).not.toHaveProperty('half')
    expect(event!.properties.$plugins_succeeded).toEqual([scene.named(first), scene.named(last)])
    expect(event!.properties.$plugins_failed).toEqual([scene.named(faulty)])
    expect((await scene.log(faulty)).map(({ type }) => type)).toEqual(['WARN', 'ERROR'])
    await app.plugins.idle()
    expect(await scene.config(faulty)).toMatchObject({
      enabled: true,
      error: { message: expect.stringMatching(/^Events are stored without this app: /) },
    })
    expect([await scene.log(first), await scene.log(last)]).toEqual([[], []])
  })
})

describe('a memory bomb', () => {
  // On a busy machine events would pass by its neighbours too, for want of time.
  let patient: TestApp
  beforeAll(async () => void (patient = await startTestApp({ PLUGIN_PATIENCE_MS: '60000' })))
  afterAll(() => patient.close())

  it('is switched off after the third time, and costs its neighbours nothing', async () => {
    const [app, scene] = [patient, await openAttackScene(patient)]
    const before = await scene.install(MARKS)
    const bomb = await scene.install(`export function processEvent(event) {
      const all = []
      while (true) all.push(new Uint8Array(1000000).fill(1))
    }`)
    const after = await scene.install(MARKS.replace('marked', 'marked_last'))
    const elsewhere = await createOrganization(app)
    const names = ['one', 'two', 'three', 'four']
    const countStrikes = async () =>
      (await scene.log(bomb)).filter(({ type, message }) => type === 'ERROR' && /memory/.test(message)).length
    for (const [index, name] of names.entries()) {
      expect((await scene.config(bomb)).enabled).toBe(index < 3)
      await capture(app, elsewhere, { event: name })
      await scene.send(name)
      await app.plugins.idle()
      app.advance(MINUTE)
      expect(await countStrikes()).toBe(Math.min(index + 1, 3))
    }
    const config = await scene.config(bomb)
    expect(config).toMatchObject({
      enabled: false,
      error: { message: expect.stringMatching(/memory/), time: expect.any(String) },
    })
    const activity = await scene.activity(bomb)
    expect(activity[0]).toMatchObject({ activity: 'disabled', is_system: true, user: null })
    const events = await scene.stored()
    expect(events.map(({ event }) => event)).toEqual(names)
    for (const { event, properties } of events) {
      expect(properties).toMatchObject({ marked: true, marked_last: true })
      expect(properties.$plugins_succeeded).toEqual([scene.named(before), scene.named(after)])
      expect(properties.$plugins_failed).toEqual(event === 'four' ? undefined : [scene.named(bomb)])
    }
    for (const id of [before, after]) {
      expect(await scene.config(id)).toMatchObject({ enabled: true, error: null })
      expect(await scene.log(id)).toEqual([])
    }
    expect((await storedEvents(app, elsewhere)).map(({ event }) => event)).toEqual(names)
  })
})
