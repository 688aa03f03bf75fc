// Sessions of a run: which of them, and what they are put together from.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { GivenEvent } from '../../events/listing/fixture/events.ts'
import { openSource, select, type Asked, type OpenedSource } from './fixture/store.ts'

const V7 = '01890000-0000-7000-8000-000000000001'

const event = (
  name: string,
  timestamp: string,
  properties: Record<string, unknown>,
  more: GivenEvent = {},
): GivenEvent => ({
  event: name,
  timestamp: `2026-${timestamp}Z`,
  properties,
  distinct_id: 'ann',
  ...more,
})
const inOf = (session: string) => ({ $session_id: session })
const page = (session: string, path: string) => ({
  ...inOf(session),
  $current_url: `https://x.org${path}`,
  $pathname: path,
  $host: 'x.org',
})

let source: OpenedSource

beforeAll(async () => {
  source = await openSource()
  await source.write([
    // Positions 1 to 5. The second session begins two days before the interval, with two events in the same instant.
    event('$pageview', '02-27T10:00:00', { ...inOf('old'), $current_url: 'https://too.old' }),
    event('$pageview', '03-01T10:00:00', {
      ...page(V7, '/b'),
      utm_source: 'news',
      utm_medium: 'mail',
      gclid: '',
      $referring_domain: 'ref.org',
    }),
    event('$pageview', '03-01T10:00:00', { ...page(V7, '/later'), utm_medium: 'other' }),
    event('$autocapture', '03-01T10:00:30.5', { ...inOf(V7), $external_click_url: 'https://out.org' }),
    event('$pageview', '03-01T09:00:00', {}),
  ])
  await source.write([
    // Positions 6 to 9.
    event('$pageview', '03-03T10:05:00', { ...page(V7, '/a'), gclid: 'g' }, { distinct_id: 'ann-2' }),
    event('$screen', '03-03T11:00:00', inOf('b')),
    event('custom', '03-03T11:00:09', { ...inOf('b'), $web_vitals_LCP_value: 1.5 }),
    event('custom', '03-03T12:00:00', inOf('old')),
  ])
  await source.write([
    // Position 10 and 11: after the run.
    event('$pageview', '03-03T12:00:00', page('b', '/after')),
    event('$pageview', '03-03T12:00:00', page('next', '/')),
  ])
})
afterAll(() => source.close())

const day = (number: number) => new Date(Date.UTC(2026, 2, number))
const ofRun: Asked = {
  definition: { model: 'sessions' },
  bounds: { seq_from: 5, seq_to: 9, interval: { start: day(3), end: day(4) } },
}

it('hold what their events say, first and last', async () => {
  const [session, b] = await source.read(ofRun)
  expect(session).toEqual({
    session_id: V7,
    session_id_v7: V7,
    team_id: 7,
    distinct_id: 'ann-2',
    start_timestamp: '2026-03-01T10:00:00Z',
    end_timestamp: '2026-03-03T10:05:00Z',
    urls: '["https://x.org/a","https://x.org/b","https://x.org/later"]',
    num_uniq_urls: 3,
    entry_current_url: 'https://x.org/b',
    entry_pathname: '/b',
    entry_hostname: 'x.org',
    end_current_url: 'https://x.org/a',
    end_pathname: '/a',
    end_hostname: 'x.org',
    entry_utm_source: 'news',
    entry_utm_campaign: null,
    entry_utm_medium: 'mail',
    entry_utm_term: null,
    entry_utm_content: null,
    entry_referring_domain: 'ref.org',
    entry_gclid: 'g',
    entry_fbclid: null,
    entry_gad_source: null,
    pageview_count: 3,
    autocapture_count: 1,
    screen_count: 0,
    session_duration: 173_100,
    duration: 173_100,
    is_bounce: false,
    last_external_click_url: 'https://out.org',
    page_screen_autocapture_count_up_to: 2,
    exit_current_url: 'https://x.org/a',
    exit_pathname: '/a',
    vitals_lcp: null,
  })
  expect(b).toMatchObject({
    session_id: 'b',
    session_id_v7: null,
    urls: '[]',
    num_uniq_urls: 0,
    screen_count: 1,
    session_duration: 9,
    is_bounce: true,
    page_screen_autocapture_count_up_to: 1,
    vitals_lcp: 1.5,
  })
})

async function ids(bounds: Asked['bounds']): Promise<unknown[]> {
  return (await source.read({ ...ofRun, bounds: { ...ofRun.bounds, ...bounds } })).map(
    ({ session_id }) => session_id,
  )
}

it('are those with an event among the positions of the run, in the order of their ids', async () => {
  expect(await ids({})).toEqual([V7, 'b', 'old'])
  expect(await ids({ seq_from: 6, seq_to: 7 })).toEqual(['b'])
  expect(await ids({ seq_from: 0, seq_to: 1000 })).toEqual([V7, 'b', 'next', 'old'])
})

it('know nothing that came after the run, nor from more than three days before it', async () => {
  const rows = await source.read(ofRun)
  expect(rows[1]).toMatchObject({ session_id: 'b', pageview_count: 0 })
  expect(rows[2]).toMatchObject({ session_id: 'old', pageview_count: 0, urls: '[]', session_duration: 0 })
  const later = { ...ofRun, bounds: { ...ofRun.bounds, interval: { start: day(5), end: day(6) } } }
  expect((await source.read(later))[0]).toMatchObject({
    session_id: V7,
    pageview_count: 1,
    start_timestamp: '2026-03-03T10:05:00Z',
  })
})

it('an event that comes late is part of its session, whatever its time', async () => {
  const late = {
    ...ofRun,
    bounds: { ...ofRun.bounds, seq_from: 1, seq_to: 4, interval: { start: day(20), end: day(21) } },
  }
  expect(await source.read(late)).toMatchObject([{ session_id: V7, pageview_count: 2 }])
})

it('a backfill chooses them by time', async () => {
  expect(await ids({ selection: 'timestamp' })).toEqual([V7, 'b', 'old'])
  expect(await ids({ selection: 'timestamp', seq_to: 7 })).toEqual([V7, 'b'])
  expect(
    await ids({ selection: 'timestamp', seq_to: 1000, interval: { start: day(1), end: day(2) } }),
  ).toEqual([V7])
  expect(await ids({ selection: 'timestamp', seq_to: 1000, interval: { start: null, end: day(2) } })).toEqual(
    [V7, 'old'],
  )
})

it('take the types of the destination', () => {
  const { columns } = select({ ...ofRun, set: 'postgres' })
  expect(columns.find(({ name }) => name === 'team_id')).toEqual({
    name: 'team_id',
    kind: 'integer',
    type: 'INTEGER',
  })
  expect(columns.find(({ name }) => name === 'urls')).toEqual({ name: 'urls', kind: 'json' })
  expect(columns.find(({ name }) => name === 'vitals_lcp')).toEqual({ name: 'vitals_lcp', kind: 'float' })
  expect(columns.some(({ max_characters }) => max_characters !== undefined)).toBe(false)
})
