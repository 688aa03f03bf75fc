// `npm run crash` in short: server and PostgreSQL are killed under load, then PostgreSQL under the server.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runEventCrashes } from '../../scripts/crash/events/run.ts'
import { runCrashes } from '../../scripts/crash/run.ts'
import { buildProgram, type Program } from './program.ts'

// Its first two rounds: both killed, and PostgreSQL alone; each after more than a second of load.
const SEED = 20

let program: Program
beforeAll(async () => {
  program = await buildProgram()
})
afterAll(() => program.remove())

test(
  'killed at any moment, nothing answered is lost and nothing is half made',
  { timeout: 120_000 },
  async () => {
    const rounds = await runCrashes({ program, rounds: 2, seed: SEED })
    expect(rounds.map(({ killed, faults }) => ({ killed, faults }))).toEqual([
      { killed: 'server and PostgreSQL', faults: [] },
      { killed: 'PostgreSQL', faults: [] },
    ])
    // A load that was not under way when the axe fell would prove nothing.
    for (const { answered, open } of rounds) {
      expect(answered).toBeGreaterThan(0)
      expect(open).toBeGreaterThan(0)
    }
  },
)

test(
  'killed during ingestion, every acknowledged event is there once, with its person',
  { timeout: 120_000 },
  async () => {
    const rounds = await runEventCrashes({ program, rounds: 4, projects: 20, seed: 7 })
    expect(rounds.map(({ faults }) => faults)).toEqual([[], [], [], []])
    expect(new Set(rounds.map(({ is_power_cut }) => is_power_cut))).toEqual(new Set([true, false]))
    for (const { again, events } of rounds) {
      expect(again).toBeGreaterThan(0)
      expect(events).toBeGreaterThan(0)
    }
  },
)
