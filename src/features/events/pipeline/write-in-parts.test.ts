import { describe, expect, it } from 'vitest'
import type { Written } from '../../../platform/event-store/event-store.ts'
import { copiesOf, eventsOf, storedEvent } from '../../../platform/event-store/fixture/suite.ts'
import { cutWrites, writeInParts } from './write-in-parts.ts'

const event = (name: string, text: number) =>
  storedEvent({
    event: name,
    properties: 'p'.repeat(text / 2),
    person_properties: 'q'.repeat(text / 2),
    elements_chain: '',
  })
const person = { id: 'x', created_at: 0n, is_identified: true, properties: '{}', version: 1 }
const names = (parts: ReturnType<typeof cutWrites>) =>
  parts.map((part) => part.map(({ project_id, events }) => [project_id, events.map((each) => each.event)]))

describe('a batch', () => {
  it.each([
    [
      'that fits is one write',
      110,
      [
        [
          [1, ['a', 'b', 'c']],
          [2, ['d', 'e']],
        ],
      ],
    ],
    [
      'is cut where the next event does not fit',
      50,
      [
        [[1, ['a', 'b']]],
        [
          [1, ['c']],
          [2, ['d']],
        ],
        [[2, ['e']]],
      ],
    ],
    [
      'of events that are larger than a part each has one in each',
      10,
      [[[1, ['a']]], [[1, ['b']]], [[1, ['c']]], [[2, ['d']]], [[2, ['e']]]],
    ],
  ])('%s', (_, max_text, expected) => {
    const first = eventsOf(1, event('a', 20), event('b', 20), event('c', 20))
    const second = eventsOf(2, event('d', 20), event('e', 30))
    expect(names(cutWrites([first, second], max_text))).toEqual(expected)
  })

  it('brings what a project has besides events with the last of them', () => {
    const writes = [{ ...eventsOf(1, event('a', 20), event('b', 20)), persons: [person] }]
    expect(cutWrites(writes, 20).map(([write]) => write!.persons)).toEqual([[], [person]])
    expect(cutWrites([copiesOf(1, { persons: [person] })], 20)).toEqual([
      [copiesOf(1, { persons: [person] })],
    ])
    expect(cutWrites([], 20)).toEqual([[]])
  })

  it('says with its last part alone that copies are complete', async () => {
    const large = 20 * 1024 * 1024
    const copied = { until: 7n, owed: [7n] }
    const told: unknown[] = []
    const write = async (_: unknown, __: Date, given?: unknown): Promise<Written[]> => {
      told.push(given)
      return [{ project_id: 1, stored: 1, last_seq: told.length, inserted_at: 0n }]
    }
    const writes = [eventsOf(1, event('a', large), event('b', large))]
    expect(await writeInParts({ write }, writes, new Date(), copied)).toHaveLength(2)
    expect(told).toEqual([null, copied])
  })
})
