// Names of exported files, compared with what readers of PostHog's exports expect.
import { describe, expect, test } from 'vitest'
import type { Encoding } from '../formats/encoding.ts'
import { fileName, manifestName, prefixFault, renderName, trialName } from './prefix.ts'

const EXPORT_ID = '01900000-0000-7000-8000-00000000000e'
const run = {
  model: 'events' as const,
  batch_export_id: EXPORT_ID,
  backfill_id: null,
  interval: { start: new Date('2023-07-19T23:00:00Z'), end: new Date('2023-07-20T00:05:09Z') },
}
const INTERVAL = '2023-07-19T23:00:00+00:00-2023-07-20T00:05:09+00:00'
const plain: Encoding = { format: 'JSONLines', compression: null, max_bytes: null, max_rows: null }

describe('a prefix', () => {
  test.each([
    ['', INTERVAL],
    ['/', INTERVAL],
    ['a', `a/${INTERVAL}`],
    ['a/', `a/${INTERVAL}`],
    ['//a//b', `a//b/${INTERVAL}`],
    // From the end of the interval, so a day's events are filed under the day after.
    ['{year}-{month}-{day}/{hour}/{minute}/{second}', `2023-07-20/00/05/09/${INTERVAL}`],
    ['{table}/dt={data_interval_end}', `events/dt=2023-07-20T00:05:09+00:00/${INTERVAL}`],
    ['{export_id}/x', `${EXPORT_ID}/x/${INTERVAL}`],
    ['{data_interval_start}', `2023-07-19T23:00:00+00:00/${INTERVAL}`],
  ])('%j is rendered as %j', (prefix, name) => {
    expect(prefixFault(prefix)).toBeNull()
    expect(renderName(prefix, run)).toBe(name)
  })

  test('of a run from the beginning of time says START', () => {
    const interval = { ...run.interval, start: null }
    expect(renderName('{data_interval_start}', { ...run, interval })).toBe(
      'START/START-2023-07-20T00:05:09+00:00',
    )
  })

  test('of a backfill bears its id, which no run of the schedule has', () => {
    const backfill_id = '01900000-0000-7000-8000-00000000000b'
    expect(renderName('a', { ...run, backfill_id })).toBe(`a/${INTERVAL}_backfill-${backfill_id}`)
  })

  test.each([
    '{unknown}',
    '{year',
    'year}',
    '{{year}}',
    '{Year}',
    '{constructor}',
    '..',
    'a/../b',
    './a',
    'a/.',
    'a\nb',
    'a\0b',
    'a\ud800b',
    'p'.repeat(801),
    'ü'.repeat(401),
  ])('%j is refused', (prefix) => {
    expect(prefixFault(prefix)).toEqual(expect.any(String))
  })

  test.each([
    ['', '.longshore-connection-test'],
    ['/a/b', 'a/b.longshore-connection-test'],
    ['a/{year}/b', 'a/.longshore-connection-test'],
    ['{table}', '.longshore-connection-test'],
  ])('%j is tried out as %j', (prefix, name) => {
    expect(trialName(prefix)).toBe(name)
  })
})

test.each([
  [plain, 'n.jsonl'],
  [{ ...plain, compression: 'gzip' }, 'n.jsonl.gz'],
  [{ ...plain, compression: 'brotli', max_bytes: 1 }, 'n-3.jsonl.br'],
  [{ ...plain, format: 'CSV' }, 'n.csv'],
  [{ ...plain, format: 'CSV', compression: 'gzip', max_bytes: 1 }, 'n-3.csv.gz'],
  [{ ...plain, format: 'CSV', compression: 'brotli' }, 'n.csv.br'],
  [{ ...plain, format: 'Parquet' }, 'n.parquet'],
  [{ ...plain, format: 'Parquet', compression: 'zstd' }, 'n.parquet.zst'],
  [{ ...plain, format: 'Parquet', compression: 'lz4' }, 'n.parquet.lz4'],
  [{ ...plain, format: 'Parquet', compression: 'snappy', max_bytes: 1 }, 'n-3.parquet.sz'],
] as const)('the fourth file of %j is %s', (encoding, name) => {
  expect(fileName('n', 3, encoding)).toBe(name)
})

test('the manifest stands beside its files', () => {
  expect(manifestName(`a/${INTERVAL}`)).toBe(`a/${INTERVAL}_manifest.json`)
})
