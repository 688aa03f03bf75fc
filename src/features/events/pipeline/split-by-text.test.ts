import { describe, expect, it } from 'vitest'
import { storedEvent } from '../../../platform/event-store/fixture/suite.ts'
import { cutEvents, splitByText, writesOf, type StoredRequest } from './split-by-text.ts'

const event = (name: string, text: number) =>
  storedEvent({
    event: name,
    properties: 'p'.repeat(text / 2),
    person_properties: 'q'.repeat(text / 2),
    elements_chain: '',
  })
const person = { id: 'x', created_at: 0n, is_identified: true, properties: '{}', version: 1 }
const request = (
  name: string,
  text: number,
  address: string | null = name,
  project_id = 1,
): StoredRequest => ({
  project_id,
  address,
  events: [event(name, text)],
  text,
})
const names = (requests: readonly StoredRequest[]) =>
  requests.flatMap(({ events }) => events.map((each) => each.event))

describe('the requests of a batch', () => {
  it.each<[string, StoredRequest[], string[], string[]]>([
    ['go at once when they fit', [request('a', 40), request('b', 60)], ['a', 'b'], []],
    [
      'go at once by their size, in their order',
      [request('large', 90), request('b', 60), request('c', 20), request('d', 10)],
      ['b', 'c', 'd'],
      ['large'],
    ],
    ['are late when they are larger than a commit', [request('large', 102)], [], ['large']],
    [
      'are late behind one of the same sender to the same project',
      [
        request('large', 102, 'x'),
        request('after it', 2, 'x'),
        request('elsewhere', 2, 'x', 2),
        request('b', 2),
      ],
      ['elsewhere', 'b'],
      ['large', 'after it'],
    ],
    ['are late behind one of an earlier batch', [request('slow', 2), request('b', 2)], ['b'], ['slow']],
  ])('%s', (_, requests, at_once, late) => {
    const split = splitByText(requests, ({ address }) => address === 'slow', 100)
    expect([names(split.at_once), names(split.late)]).toEqual([at_once, late])
  })

  it('are written by project, with what each has besides events', () => {
    const requests = [request('a', 2), request('b', 2, 'b', 2), request('c', 2)]
    const copies = { persons: [person], deleted_persons: [], distinct_ids: [], groups: [] }
    const writes = writesOf(requests, new Map([1, 3].map((id) => [id, copies])))
    expect(
      writes.map(({ project_id, events, persons }) => [
        project_id,
        events.map((each) => each.event),
        persons,
      ]),
    ).toEqual([
      [1, ['a', 'c'], [person]],
      [2, ['b'], []],
      [3, [], [person]],
    ])
  })
})

describe('the events of a request', () => {
  it.each([
    ['that fit are one part', 60, [['a', 'b', 'c']]],
    ['are cut where the next one does not fit', 50, [['a', 'b'], ['c']]],
    ['that are larger than a part are one each', 10, [['a'], ['b'], ['c']]],
  ])('%s', (_, max_text, expected) => {
    const parts = cutEvents([event('a', 20), event('b', 20), event('c', 20)], max_text)
    expect(parts.map(({ events }) => events.map((each) => each.event))).toEqual(expected)
  })
})
