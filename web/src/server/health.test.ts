import { expect, it } from 'vitest'
import { busyQueues, healthOf } from './health'

const store = (what: string, state: 'ok' | 'note' | 'wrong', detail = '') => ({ what, state, detail })

it('is as well as its worst part', () => {
  expect(healthOf({ stores: [store('database', 'ok')], failed: [] })).toEqual({
    kind: 'delivered',
    text: 'everything answers',
  })
  expect(healthOf({ stores: [store('migrations', 'note', 'one is due')], failed: [] })).toEqual({
    kind: 'held',
    text: 'one is due',
  })
  expect(
    healthOf({ stores: [store('events', 'wrong'), store('migrations', 'note', 'due')], failed: [] }),
  ).toMatchObject({
    kind: 'failed',
    text: 'not well: events',
  })
  expect(healthOf({ stores: null, failed: [{ part: 'disk', reason: 'gone' }] })).toMatchObject({
    text: 'not well: disk',
  })
})

it('names the queues that hold something', () => {
  expect(busyQueues({ mail: 2, export: 9, idle: 0 })).toEqual([
    ['export', 9],
    ['mail', 2],
  ])
})
