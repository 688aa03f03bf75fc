import { describe, expect, it } from 'vitest'
import type { Config } from './queries.ts'
import { problemOf, rateText, stateOf } from './states.ts'

const fine = {
  enabled: true,
  error: null,
  held_events: 0,
  failures_24h: 0,
  version: null,
  latest_version: null,
} as Config
const noErrors = { errors: [] }

describe('the state of an app', () => {
  it.each([
    [fine, 'On'],
    [{ ...fine, enabled: false }, 'Off'],
    [{ ...fine, version: 'a', latest_version: 'b' }, 'New version to accept'],
    [{ ...fine, version: 'a', latest_version: 'a' }, 'On'],
    [{ ...fine, failures_24h: 1 }, '1 failure in 24 h'],
    [{ ...fine, failures_24h: 1200, version: 'a', latest_version: 'b' }, '1,200 failures in 24 h'],
    [{ ...fine, failures_24h: 3, enabled: false }, 'Off'],
    [{ ...fine, failures_24h: 3, error: { message: 'no', time: '' } }, 'Stopped'],
    [{ ...fine, held_events: 1 }, '1 event held'],
    [{ ...fine, held_events: 1200 }, '1,200 events held'],
    [{ ...fine, error: { message: 'no', time: '' } }, 'Stopped'],
    [{ ...fine, held_events: 2, error: { message: 'no', time: '' } }, '2 events held'],
  ])('%#', (config, text) => expect(stateOf(config, noErrors).text).toBe(text))

  it('code that does not run comes first', () => {
    const errors = [{ file: 'index.ts', line: 1, column: 1, message: 'Unexpected end' }]
    expect(problemOf({ ...fine, error: { message: 'no', time: '' } }, { errors })).toEqual({
      kind: 'failed',
      text: 'Code does not run',
      detail: 'Unexpected end',
    })
    expect(problemOf(fine, undefined)).toBeNull()
  })
})

describe('rates', () => {
  it.each([
    [0, '0'],
    [0.03, '< 0.1'],
    [0.44, '0.4'],
    [12.4, '12'],
    [1203.2, '1,203'],
  ])('%d', (rate, text) => expect(rateText(rate)).toBe(text))
})
