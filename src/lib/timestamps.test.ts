import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseTimestamp } from './timestamps.ts'

describe('parseTimestamp', () => {
  it.each([
    ['2024-05-06', '2024-05-06T00:00:00.000Z'],
    ['2024-05-06T07:08', '2024-05-06T07:08:00.000Z'],
    ['2024-05-06 07:08', '2024-05-06T07:08:00.000Z'],
    ['2024-05-06T07:08:09', '2024-05-06T07:08:09.000Z'],
    ['2024-05-06T07:08:09Z', '2024-05-06T07:08:09.000Z'],
    ['2024-05-06T07:08:09z', '2024-05-06T07:08:09.000Z'],
    ['  2024-05-06T07:08:09Z  ', '2024-05-06T07:08:09.000Z'],
    ['2024-05-06T07:08:09.1Z', '2024-05-06T07:08:09.100Z'],
    ['2024-05-06T07:08:09,25Z', '2024-05-06T07:08:09.250Z'],
    ['2024-05-06T07:08:09.123456Z', '2024-05-06T07:08:09.123Z'],
    ['2024-05-06T07:08:09.999999999Z', '2024-05-06T07:08:09.999Z'],
    ['2024-05-06T07:08:09+02:00', '2024-05-06T05:08:09.000Z'],
    ['2024-05-06T07:08:09-0330', '2024-05-06T10:38:09.000Z'],
    ['2024-05-06T07:08:09+05', '2024-05-06T02:08:09.000Z'],
    ['2024-05-06T07:08:09 +02:00', '2024-05-06T05:08:09.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['0099-12-31T23:59:59Z', '0099-12-31T23:59:59.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is %s', (text, instant) => {
    expect(parseTimestamp(text)?.toISOString()).toBe(instant)
  })

  it.each([
    ['', 'nothing'],
    ['yesterday', 'a word'],
    ['1714979289', 'a number of seconds'],
    ['2024', 'a year alone'],
    ['2024-05', 'a month alone'],
    ['2024-5-6', 'without leading zeros'],
    ['06/05/2024', 'another order'],
    ['2024-02-30', '30 February'],
    ['2023-02-29', '29 February of a common year'],
    ['2024-00-10', 'month 0'],
    ['2024-13-10', 'month 13'],
    ['2024-05-00', 'day 0'],
    ['2024-05-06T24:00', 'hour 24'],
    ['2024-05-06T23:60', 'minute 60'],
    ['2024-05-06T23:59:60', 'second 60'],
    ['2024-05-06T07', 'an hour alone'],
    ['2024-05-06T07:08:09.', 'a dot without digits'],
    ['2024-05-06T07:08:09.1234567890Z', 'more than nanoseconds'],
    ['2024-05-06T07:08:09+24:00', 'an offset of a day'],
    ['2024-05-06T07:08:09+01:60', 'an offset of 60 minutes'],
    ['2024-05-06T07:08:09 UTC', 'a named zone'],
    ['0000-01-01', 'the year 0'],
    ['12024-05-06', 'five digits of a year'],
    ['2024-05-06T07:08:09Z; DROP TABLE', 'more behind it'],
    ['\u0662\u0660\u0662\u0664-05-06', 'digits of another script'],
  ])('%s is refused: %s', (text) => {
    expect(parseTimestamp(text)).toBeNull()
  })

  it('reads back every instant that ISO 8601 writes with four digits of year', () => {
    const instants = fc.date({
      min: new Date('0001-01-01'),
      max: new Date('9999-12-31'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(instants, (date) => {
        expect(parseTimestamp(date.toISOString())).toEqual(date)
      }),
    )
  })

  it('answers any text with an instant or null', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const date = parseTimestamp(text)
        expect(date === null || Number.isFinite(date.getTime())).toBe(true)
      }),
    )
  })
})
