// `npm run prove -- crash` in short: three kills while exports are at work.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runExportCrashes } from '../../scripts/prove/crash/run.ts'
import { buildProgram, type Program } from './program.ts'

// Its rounds: thousands of events come in; the server is killed in the middle of their delivery to S3; everything
// settles, and it is killed during a backfill.
const SEED = 1453

let program: Program
beforeAll(async () => {
  program = await buildProgram()
})
afterAll(() => program.remove())

test(
  'killed at work, exports deliver every acknowledged event exactly once',
  { timeout: 240_000 },
  async () => {
    const { rounds, proof } = await runExportCrashes({ program, rounds: 3, seed: SEED })
    expect(rounds.map(({ faults }) => faults)).toEqual([[], [], []])
    expect(proof.faults).toEqual([])
    expect(rounds.some(({ is_settled }) => is_settled)).toBe(true)
    // A kill that hit nothing, or no event to look for, would prove nothing.
    expect(rounds.some(({ at_work }) => at_work > 0)).toBe(true)
    expect(proof.attempts).toBeGreaterThan(proof.runs)
    expect(proof.events).toBeGreaterThan(0)
    expect(proof.rows_in_table).toBe(proof.events)
    expect(proof.repeated).toBeGreaterThan(0)
  },
)
