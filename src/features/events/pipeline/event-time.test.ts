import { describe, expect, it } from 'vitest'
import { formatMicros, parseMicros } from '../../../lib/microseconds.ts'
import { eventTime, readInstant, readSentMs } from './event-time.ts'

const NOW = parseMicros('2024-06-01T12:00:00Z')!

type Given = { timestamp?: unknown; sent_at?: string; offset?: unknown; ignore?: true }

const timeOf = ({ timestamp, sent_at, offset, ignore }: Given) =>
  formatMicros(
    eventTime({
      now: NOW,
      timestamp,
      sent_at: readInstant(sent_at),
      offset,
      ignore_sent_at: ignore ?? false,
    }),
  )

const NOW_TEXT = '2024-06-01T12:00:00Z'

describe('eventTime', () => {
  it.each<[string, Given, string]>([
    [
      'both',
      { timestamp: '2024-06-01T09:00:00.123456Z', sent_at: '2024-06-01T09:00:01Z' },
      '2024-06-01T11:59:59.123456Z',
    ],
    [
      'both, the clock ahead',
      { timestamp: '2030-01-01T00:00:00Z', sent_at: '2030-01-01T00:01:00Z' },
      '2024-06-01T11:59:00Z',
    ],
    [
      'both in different zones',
      { timestamp: '2024-06-01T11:00:00+02:00', sent_at: '2024-06-01T09:00:01Z' },
      '2024-06-01T11:59:59Z',
    ],
    [
      '$ignore_sent_at',
      { timestamp: '2024-06-01T09:00:00Z', sent_at: '2024-06-01T09:00:01Z', ignore: true },
      '2024-06-01T09:00:00Z',
    ],
    ['timestamp alone', { timestamp: '2024-05-01T09:00:00.5Z' }, '2024-05-01T09:00:00.500000Z'],
    ['timestamp without a zone', { timestamp: '2024-05-01T09:00:00' }, '2024-05-01T09:00:00Z'],
    ['a date by week', { timestamp: '2021-W43-5' }, '2021-10-29T00:00:00Z'],
    [
      'a date by week, with its time',
      { timestamp: '2021W435T10:20:30.5+02:00' },
      '2021-10-29T08:20:30.500000Z',
    ],
    ['a week', { timestamp: '2020-W53' }, '2020-12-28T00:00:00Z'],
    ['a week that begins in the year before', { timestamp: '2020-W01-1' }, '2019-12-30T00:00:00Z'],
    ['a week that ends in the year after', { timestamp: '2020-W53-7' }, '2021-01-03T00:00:00Z'],
    ['a week that the year has not', { timestamp: '2021-W53-1' }, NOW_TEXT],
    ['week 0', { timestamp: '2021-W00-1' }, NOW_TEXT],
    ['the eighth day of a week', { timestamp: '2021-W43-8' }, NOW_TEXT],
    ['a day of the year', { timestamp: '2021-302' }, '2021-10-29T00:00:00Z'],
    ['a day of the year, with its time', { timestamp: '2020366 23:59:59' }, '2020-12-31T23:59:59Z'],
    ['a day that the year has not', { timestamp: '2021-366' }, NOW_TEXT],
    ['day 0', { timestamp: '2021-000' }, NOW_TEXT],
    ['a day of an early year', { timestamp: '0050-060' }, '0050-03-01T00:00:00Z'],
    ['a week before the year 1', { timestamp: '0000-W01-1' }, NOW_TEXT],
    ['unreadable sent_at', { timestamp: '2024-05-01T09:00:00Z', sent_at: 'soon' }, '2024-05-01T09:00:00Z'],
    ['old is kept', { timestamp: '1970-01-01T00:00:00Z' }, '1970-01-01T00:00:00Z'],
    ['very old is kept', { timestamp: '0001-01-01T00:00:00Z' }, '0001-01-01T00:00:00Z'],
    ['offset', { offset: 1500 }, '2024-06-01T11:59:58.500000Z'],
    ['a fraction of a millisecond', { offset: 0.25 }, '2024-06-01T11:59:59.999750Z'],
    ['timestamp before offset', { timestamp: '2024-05-01T09:00:00Z', offset: 1500 }, '2024-05-01T09:00:00Z'],
    ['null or empty timestamp is none', { timestamp: null, offset: 1000 }, '2024-06-01T11:59:59Z'],
    ['empty timestamp is none', { timestamp: '', offset: 1000 }, '2024-06-01T11:59:59Z'],
    ['nothing', {}, NOW_TEXT],
    ['sent_at alone', { sent_at: '2024-06-01T09:00:01Z' }, NOW_TEXT],
    ['unreadable timestamp', { timestamp: 'yesterday' }, NOW_TEXT],
    ['unreadable timestamp with offset', { timestamp: 'yesterday', offset: 1000 }, NOW_TEXT],
    ['milliseconds', { timestamp: 1717236000000.25 }, '2024-06-01T10:00:00.000250Z'],
    [
      'milliseconds, with sent_at',
      { timestamp: 1717236000000, sent_at: '2024-06-01T10:00:01Z' },
      '2024-06-01T11:59:59Z',
    ],
    ['the first milliseconds', { timestamp: Date.UTC(1975, 0, 1) }, '1975-01-01T00:00:00Z'],
    ['seconds', { timestamp: 1717236000 }, NOW_TEXT],
    ['milliseconds of the far future', { timestamp: 1e300 }, NOW_TEXT],
    ['milliseconds before 1970', { timestamp: -1717236000000 }, NOW_TEXT],
    ['an object for timestamp', { timestamp: {} }, NOW_TEXT],
    ['text for offset', { offset: '1500' }, NOW_TEXT],
    ['infinite offset', { offset: Infinity }, NOW_TEXT],
    ['offset beyond the year 1', { offset: 1e15 }, NOW_TEXT],
    ['offset before the year 1', { offset: 8e13 }, NOW_TEXT],
    ['a little in the future', { timestamp: '2024-06-02T10:59:59Z' }, '2024-06-02T10:59:59Z'],
    ['exactly 23 h in the future', { timestamp: '2024-06-02T11:00:00Z' }, '2024-06-02T11:00:00Z'],
    ['more than 23 h in the future', { timestamp: '2024-06-02T11:00:00.000001Z' }, NOW_TEXT],
    [
      'far in the future by sent_at',
      { timestamp: '2024-06-01T13:30:00Z', sent_at: '2024-05-31T12:00:00Z' },
      '2024-06-01T13:30:00Z',
    ],
    [
      'far in the future by both',
      { timestamp: '2024-07-01T00:00:00Z', sent_at: '2024-05-31T12:00:00Z' },
      NOW_TEXT,
    ],
    ['negative offset, near', { offset: -1000 }, '2024-06-01T12:00:01Z'],
    ['negative offset, far', { offset: -24 * 3_600_000 }, NOW_TEXT],
    [
      'pushed before the year 1',
      { timestamp: '0001-01-02T00:00:00Z', sent_at: '2025-01-01T00:00:00Z' },
      NOW_TEXT,
    ],
    ['the year 10000 by its zone', { timestamp: '9999-12-31T23:59:59-01:00' }, NOW_TEXT],
  ])('%s', (_, given, expected) => {
    expect(timeOf(given)).toBe(expected)
  })
})

describe('readSentMs', () => {
  it.each<[string | undefined, string | null]>([
    ['1717236000000', '2024-06-01T10:00:00Z'],
    ['1717236000000.5', '2024-06-01T10:00:00.000500Z'],
    ['1609459200000', '2021-01-01T00:00:00Z'],
    ['1609459199999', null],
    ['1717236000', null],
    ['999999999999999', null],
    ['Infinity', null],
    ['now', null],
    ['', null],
    [undefined, null],
  ])('%s', (text, expected) => {
    const micros = readSentMs(text)
    expect(micros === null ? null : formatMicros(micros)).toBe(expected)
  })
})
