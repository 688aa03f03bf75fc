// `npm run crash -- plugins` in short: three kills while events go out through a webhook.
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { checkDeliveries } from '../../scripts/crash/plugins/check.ts'
import { runPluginCrashes } from '../../scripts/crash/plugins/run.ts'
import type { Reaction, Received } from '../stand-ins/webhook-server.ts'
import { buildProgram, type Program } from './program.ts'

// In all of its rounds deliveries are under way when the axe falls.
const SEED = 4

let program: Program
beforeAll(async () => {
  program = await buildProgram()
})
afterAll(() => program.remove())

test(
  'killed at work, destinations get every stored event, repeats under the same id, and nothing too soon',
  { timeout: 240_000 },
  async () => {
    const proof = await runPluginCrashes({ program, rounds: 3, seed: SEED })
    expect(proof.faults).toEqual([])
    // A kill that hit nothing, or an endpoint that never failed, would prove nothing.
    expect(proof.events).toBeGreaterThan(0)
    expect(proof.failed).toBeGreaterThan(0)
    expect(proof.repeated).toBeGreaterThan(0)
  },
)

describe('the check notices', () => {
  const OK = { status: 200 }
  const DOWN = { status: 500 }
  const request = (
    event_id: string,
    at: number,
    reaction: Reaction,
    body = { uuid: event_id },
  ): Received => ({
    event_id,
    method: 'POST',
    path: '/',
    headers: {},
    body: JSON.stringify(body),
    received_at: at,
    answered_at: at + 10,
    reaction,
  })
  const faultsOf = (requests: readonly Received[], kills: readonly number[] = []) =>
    checkDeliveries(new Set(['a']), requests, kills).faults

  it('nothing where all is well', () => {
    expect(faultsOf([request('a', 0, DOWN), request('a', 1_010, DOWN), request('a', 6_020, OK)])).toEqual([])
    expect(faultsOf([request('a', 0, OK), request('a', 2_000, OK)], [500])).toEqual([])
    // The second failure got lost in the kill.
    const lost = [request('a', 0, DOWN), request('a', 2_000, DOWN), request('a', 4_000, OK)]
    expect(faultsOf(lost, [2_500])).toEqual([])
  })

  it.each<[string, Received[], RegExp]>([
    ['what is missing', [request('a', 0, DOWN)], /never arrived/],
    ['what was never stored', [request('a', 0, OK), request('b', 0, OK)], /never stored/],
    ['another event under the id', [request('a', 0, OK, { uuid: 'b' })], /not the id/],
    ['a repeat without a kill', [request('a', 0, OK), request('a', 9_000, OK)], /after it had been taken/],
    ['a retry too soon', [request('a', 0, DOWN), request('a', 900, OK)], /after 890 ms instead of 1000/],
    [
      'a second retry too soon',
      [request('a', 0, DOWN), request('a', 2_000, DOWN), request('a', 4_000, OK)],
      /instead of 5000/,
    ],
    [
      'Retry-After passed over',
      [request('a', 0, { status: 429 }), request('a', 1_500, OK)],
      /instead of 2000/,
    ],
  ])('%s', (_, requests, fault) => {
    expect(faultsOf(requests)).toEqual([expect.stringMatching(fault)])
  })
})
