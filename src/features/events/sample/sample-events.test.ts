// Sample data: the same for the same seed, and such as a real shop would send.
import { describe, expect, it } from 'vitest'
import { isUuid } from '../../../lib/uuid.ts'
import type { PipelineEvent } from '../pipeline-event.ts'
import { sampleEvents, type SampleOptions } from './sample-events.ts'

const END = new Date('2026-01-01T12:00:00Z')
const DAY = 86_400_000_000n
const make = (options: Partial<SampleOptions> = {}) => [
  ...sampleEvents({ count: 20_000, seed: 7, end: END, days: 90, ...options }),
]
const events = make()
const bySession = groupBy(events, ({ properties }) => properties.$session_id as string)

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}

function shares(valueOf: (event: PipelineEvent) => unknown): Map<string, number> {
  const counts = groupBy(events, (event) => String(valueOf(event)))
  return new Map([...counts].map(([value, list]) => [value, list.length / events.length]))
}

describe('sample events', () => {
  it('are the same for the same options, and others for another seed', () => {
    expect(make({ count: 500 })).toEqual(make({ count: 500 }))
    expect(make({ count: 500, seed: 8 })[0]!.uuid).not.toBe(make({ count: 500 })[0]!.uuid)
  })

  it.each([1, 2, 13, 999])('are exactly as many as asked for: %i', (count) => {
    expect(make({ count })).toHaveLength(count)
  })

  it('have ids of their own, valid and in the order of time', () => {
    expect(new Set(events.map(({ uuid }) => uuid)).size).toBe(events.length)
    expect(events.every(({ uuid }) => isUuid(uuid) && uuid[14] === '7')).toBe(true)
  })

  it('go from the beginning of the period to its end, never backwards and never beyond', () => {
    const end = BigInt(END.getTime()) * 1000n
    const times = events.map(({ timestamp }) => timestamp)
    expect(times.every((time, index) => index === 0 || time >= times[index - 1]!)).toBe(true)
    expect(times[0]! >= end - 90n * DAY && times[0]! < end - 88n * DAY).toBe(true)
    expect(times.at(-1)! <= end && times.at(-1)! > end - DAY).toBe(true)
  })

  it('have about 700 bytes of properties', () => {
    const bytes = events.reduce((sum, { properties }) => sum + JSON.stringify(properties).length, 0)
    expect(bytes / events.length).toBeGreaterThan(600)
    expect(bytes / events.length).toBeLessThan(800)
  })

  it('are views, clicks, purchases and sign-ups in likely shares', () => {
    const found = shares(({ event }) => event)
    const between = (name: string) => found.get(name) ?? 0
    expect(between('$pageview')).toBeGreaterThan(0.3)
    expect(between('$autocapture')).toBeGreaterThan(0.08)
    expect(between('order completed')).toBeGreaterThan(0.004)
    expect(between('order completed')).toBeLessThan(between('product added to cart'))
    expect(between('product added to cart')).toBeLessThan(between('product viewed'))
    expect(between('$identify')).toBe(between('signed up'))
    expect(between('$groupidentify')).toBeGreaterThan(0)
  })

  it('come from phones and desktops, and from many browsers', () => {
    const devices = shares(({ properties }) => properties.$device_type)
    expect(devices.get('Mobile')).toBeGreaterThan(0.3)
    expect(devices.get('Desktop')).toBeGreaterThan(0.35)
    expect(shares(({ properties }) => properties.$browser).get('Chrome')).toBeGreaterThan(0.35)
    const campaigns = shares(({ properties }) => properties.utm_source)
    expect(campaigns.get('undefined')).toBeGreaterThan(0.5)
    expect([...campaigns.keys()]).toEqual(expect.arrayContaining(['google', 'newsletter', 'instagram']))
  })

  it('belong to visits: one device each, short, begun by a page view', () => {
    for (const visit of bySession.values()) {
      expect(new Set(visit.map(({ properties }) => properties.$device_id)).size).toBe(1)
      expect(visit[0]!.event).toBe('$pageview')
      expect(visit.at(-1)!.timestamp - visit[0]!.timestamp).toBeLessThan(DAY)
    }
    expect(events.length / bySession.size).toBeGreaterThan(5)
    expect(events.length / bySession.size).toBeLessThan(15)
  })

  it('clicks have elements, purchases have revenue', () => {
    const clicks = events.filter(({ event }) => event === '$autocapture')
    expect(clicks.every(({ properties }) => (properties.$elements as unknown[]).length > 1)).toBe(true)
    const orders = events.filter(({ event }) => event === 'order completed')
    expect(orders.every(({ properties }) => (properties.revenue as number) > 0)).toBe(true)
  })

  it('a person is known by their device until they sign up, and by their account from then on', () => {
    const accounts = new Map<string, string>()
    for (const { event, distinct_id, properties } of events) {
      const device = properties.$device_id as string
      if (event === '$identify') {
        expect(accounts.has(device)).toBe(false)
        expect(properties.$anon_distinct_id).toBe(device)
        expect(properties.$set).toMatchObject({ email: expect.stringMatching(/@example\.com$/) as string })
        accounts.set(device, distinct_id)
      }
      expect(distinct_id).toBe(accounts.get(device) ?? device)
    }
    expect(accounts.size).toBeGreaterThan(50)
  })

  it.each([1, 10, 300])('about as many people as wanted: %i', (users) => {
    const people = new Set(make({ users }).map(({ properties }) => properties.$device_id))
    expect(people.size).toBeLessThanOrEqual(users)
    expect(people.size).toBeGreaterThan(users * 0.8)
  })

  it('fewer come by night and at weekends, more from month to month', () => {
    const inHour = (hours: number[]) =>
      events.filter(({ timestamp }) => hours.includes(new Date(Number(timestamp / 1000n)).getUTCHours()))
        .length
    expect(inHour([14, 15, 16])).toBeGreaterThan(2 * inHour([2, 3, 4]))
    const middle = BigInt(END.getTime()) * 1000n - 45n * DAY
    const late = events.filter(({ timestamp }) => timestamp > middle).length
    expect(late).toBeGreaterThan(events.length * 0.52)
  })

  it('need no more memory for many: they are made as they are taken', () => {
    const iterator = sampleEvents({ count: 2_000_000, seed: 1, end: END, days: 90 })
    const before = process.memoryUsage().heapUsed
    expect(iterator.next().done).toBe(false)
    for (let taken = 0; taken < 1000; taken += 1) iterator.next()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(150 * 1024 * 1024)
  })
})
