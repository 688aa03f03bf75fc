// `npm run prove -- restarts` in short: the server is ended three times while apps guard what comes in.
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { checkProject, type StoredRow } from '../../scripts/prove/restarts/check.ts'
import { runRestarts } from '../../scripts/prove/restarts/run.ts'
import { buildProgram, type Program } from './program.ts'

// Its rounds end by both signals.
const SEED = 7

let program: Program
beforeAll(async () => {
  program = await buildProgram()
})
afterAll(() => program.remove())

test(
  'no restart lets an event past its app, loses one or stores one twice',
  { timeout: 240_000 },
  async () => {
    const signals = new Set<string>()
    const onRound = ({ signal }: { signal: string }) => void signals.add(signal)
    const proof = await runRestarts({ program, rounds: 3, seed: SEED, onRound })
    expect(proof.faults).toEqual([])
    expect(proof.stored).toBeGreaterThan(0)
    expect(signals).toEqual(new Set(['SIGKILL', 'SIGTERM']))
  },
)

describe('the check notices', () => {
  const row = (fields: Partial<StoredRow> = {}): StoredRow => ({
    uuid: 'a',
    event: 'seen',
    properties: { kept: true },
    ...fields,
  })
  const check = (stored: StoredRow[], on_failure: 'hold' | 'drop' = 'hold') =>
    checkProject({ on_failure }, [{ uuid: 'a', event: 'seen' }], stored)

  it('nothing where all is well', () => {
    expect(check([row()])).toEqual({ faults: [], dropped: 0 })
    expect(check([], 'drop')).toEqual({ faults: [], dropped: 1 })
  })

  it.each<[string, StoredRow[], string]>([
    ['the field', [row({ properties: { kept: true, ssn: '1' } })], 'hold: 1 events carry the field'],
    [
      'an app passed by',
      [row({ properties: { kept: true, $plugins_failed: [] } })],
      'hold: 1 events were stored without an app',
    ],
    [
      'what should not be there',
      [row(), row({ uuid: 'b', event: 'unwanted' })],
      'hold: 1 events should have been dropped',
    ],
    ['a repeat', [row(), row()], 'hold: 1 events are there twice'],
    ['what is not as sent', [row({ properties: {} })], 'hold: 1 events are not as they were sent'],
    ['a loss', [], 'hold: 1 events are lost'],
  ])('%s', (_, stored, fault) => {
    expect(check(stored).faults).toEqual([fault])
  })
})
