// The sandbox in its own process, so that nothing else adds to its time and memory. The order comes in through the
// environment, the answer goes back as a message.
import { isDeepStrictEqual } from 'node:util'
import { toAppEvent } from '../../../src/features/plugins/running/ingestion/event-form.ts'
import type { JsonObject } from '../../../src/lib/json-object.ts'
import { makeApp, TestHost } from '../../../src/platform/sandbox/fixture/apps.ts'
import { readEventText, writeEventText } from '../../../src/platform/sandbox/event-text.ts'
import { openSandbox } from '../../../src/platform/sandbox/open.ts'
import type { EventOutcome, Sandbox, SandboxedApp } from '../../../src/platform/sandbox/sandbox.ts'
import { freshEvents } from '../events/requests.ts'

export type SandboxOrder =
  | { kind: 'speed'; events: number; batch: number; rounds: number }
  | { kind: 'start'; apps: number }

/** Events per second of CPU time, the median of the rounds. */
export type Speed = { event_bytes: number; direct: number; one_by_one: number; in_batches: number }

export type Start = {
  first: { cpu_ms: number; wall_ms: number }
  /** Averages over all apps after the first. */
  cpu_ms: number
  loaded_mb: number
  called_mb: number
}

// The same function both ways.
const CODE = `exports.processEvent = ${setGreeting.toString()}`
const PLENTY_MS = 60_000
/** Direct calls are so much faster that it takes more of them to measure. */
const DIRECT_REPEATS = 10

function setGreeting(event: { properties: JsonObject }, { config }: { config: JsonObject }) {
  event.properties.greeting = config.greeting as string
  return event
}

export async function runSandboxOrder(order: SandboxOrder): Promise<void> {
  const sandbox = openSandbox({ threads: 1, geoip_database: null })
  const answer =
    order.kind === 'speed' ? await measureSpeed(sandbox, order) : await measureStart(sandbox, order)
  await sandbox.close()
  process.send!(answer, () => process.disconnect())
}

async function measureSpeed(
  sandbox: Sandbox,
  { events, batch, rounds }: Extract<SandboxOrder, { kind: 'speed' }>,
): Promise<Speed> {
  const app = makeApp(CODE, { config: { greeting: 'hello' } })
  const texts = eventTexts(events)
  const throughApp = async (size: number) => {
    const outcomes: EventOutcome[] = []
    const host = new TestHost()
    const per_s = await perCpuSecond(texts.length, async () => {
      for (let at = 0; at < texts.length; at += size)
        outcomes.push(...(await sandbox.processEvents(app, host, texts.slice(at, at + size), PLENTY_MS)))
    })
    assertOutcomes(texts, outcomes, app)
    return per_s
  }
  const direct = () =>
    perCpuSecond(texts.length * DIRECT_REPEATS, async () => {
      for (let repeat = 0; repeat < DIRECT_REPEATS; repeat++)
        for (const text of texts) callDirectly(text, app)
    })
  await direct()
  await throughApp(batch)
  const [directly, one_by_one, in_batches]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    directly.push(await direct())
    one_by_one.push(await throughApp(1))
    in_batches.push(await throughApp(batch))
  }
  return {
    event_bytes: Buffer.byteLength(texts.join('')) / texts.length,
    direct: middle(directly),
    one_by_one: middle(one_by_one),
    in_batches: middle(in_batches),
  }
}

async function measureStart(
  sandbox: Sandbox,
  { apps }: Extract<SandboxOrder, { kind: 'start' }>,
): Promise<Start> {
  const host = new TestHost()
  const [first, ...others] = Array.from({ length: apps }, (_, index) =>
    makeApp(CODE, { config: { greeting: `app ${index}` } }),
  ) as [SandboxedApp, ...SandboxedApp[]]
  const began = performance.now()
  const first_cpu_us = await cpuOf(() => sandbox.prepare(first, host))
  const first_wall_ms = performance.now() - began
  const rest_mb = restingMb()
  const cpu_us = await cpuOf(async () => {
    for (const app of others) await sandbox.prepare(app, host)
  })
  const loaded_mb = restingMb() - rest_mb
  const [text] = eventTexts(1)
  for (const app of others)
    assertOutcomes([text!], await sandbox.processEvents(app, host, [text!], PLENTY_MS), app)
  const called_mb = restingMb() - rest_mb
  return {
    first: { cpu_ms: first_cpu_us / 1000, wall_ms: first_wall_ms },
    cpu_ms: cpu_us / 1000 / others.length,
    loaded_mb: loaded_mb / others.length,
    called_mb: called_mb / others.length,
  }
}

/** As ingestion hands them over. */
function eventTexts(count: number): string[] {
  const context = { project_id: 1, site_url: 'http://127.0.0.1', now: new Date().toISOString() }
  return freshEvents(count, 1).map((event) => {
    const { fields, properties } = toAppEvent(event, context)
    return writeEventText(fields, properties)
  })
}

function callDirectly(text: string, { config }: SandboxedApp): string {
  return JSON.stringify(setGreeting(readEventText(text), { config }))
}

/** Every outcome must be what the direct call makes of the same event. */
function assertOutcomes(
  texts: readonly string[],
  outcomes: readonly EventOutcome[],
  app: SandboxedApp,
): void {
  if (outcomes.length !== texts.length)
    throw new Error(`${outcomes.length} outcomes of ${texts.length} events`)
  for (const [index, text] of texts.entries()) {
    const outcome = outcomes[index]!
    if (outcome.kind !== 'changed') throw new Error(`an event was ${outcome.kind}`)
    const before = readEventText(text)
    const { patch } = outcome
    const after = { ...before, ...patch.set, properties: { ...before.properties, ...patch.properties.set } }
    const isComplete = patch.unset.length === 0 && patch.properties.unset.length === 0
    if (!isComplete || !isDeepStrictEqual(after, JSON.parse(callDirectly(text, app))))
      throw new Error(`an app made something else of ${text}: ${JSON.stringify(patch)}`)
  }
}

async function perCpuSecond(count: number, work: () => Promise<void>): Promise<number> {
  return count / ((await cpuOf(work)) / 1e6)
}

/** Microseconds, of all threads. */
async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

function restingMb(): number {
  globalThis.gc!()
  return process.memoryUsage.rss() / 1e6
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
