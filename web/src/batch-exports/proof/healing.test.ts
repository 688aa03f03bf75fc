import { expect, it } from 'vitest'
import type { IntervalAccount } from '../queries.ts'
import { healingOf } from './healing.ts'

const FROM = '2026-11-17T10:00:00.000Z'
const TO = '2026-11-17T11:00:00.000Z'
const account = {
  run: 'a',
  runs: ['a', 'b'],
  data_interval_start: FROM,
  data_interval_end: TO,
} as unknown as IntervalAccount

it.each([
  [{ act: 'test' }, 'Test the destination: POST /api/…/run_test_step/.', null],
  [{ act: 'retry', run: 'a' }, 'Retry the run, which removes what it has left: POST …', 'a'],
  [{ act: 'repair', range: { from: FROM, to: TO } }, 'Repair the interval: POST …', 'b'],
  [
    { act: 'repair', range: { from: '1', to: '2' } },
    'Repair the interval: POST … with {"start_at":"1","end_at":"2"}.',
    'c',
  ],
  [null, 'Repair what the export has delivered: POST …', null],
  [null, 'Remove the rows by hand.', 'a'],
])('%j', (healing, what_to_do, run) => {
  expect(healingOf({ what_to_do, run }, [account])).toEqual(healing)
})
