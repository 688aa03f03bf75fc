import { describe, expect, it } from 'vitest'
import { StoreBusy, type ProjectWrite } from '../../../platform/event-store/event-store.ts'
import { storedEvent } from '../../../platform/event-store/fixture/suite.ts'
import { LateWrites } from './late-writes.ts'
import type { StoredRequest } from './split-by-text.ts'

const MB = 1024 * 1024
const PART = 'p'.repeat(8 * MB)

/** So many events that are a part each. */
function request(address: string | null, count: number, project_id = 1): StoredRequest {
  const event = storedEvent({
    event: `of ${address}`,
    properties: PART,
    person_properties: '',
    elements_chain: '',
  })
  return {
    project_id,
    address,
    events: Array.from({ length: count }, () => event),
    text: count * PART.length,
  }
}

function opened(fails: (write: ProjectWrite) => boolean = () => false) {
  const done: string[] = []
  const late = new LateWrites({
    write: async ([write]) => {
      await Promise.resolve()
      if (fails(write!)) throw new Error('disk full')
      done.push(write!.events[0]!.event)
      return [
        {
          project_id: write!.project_id,
          stored: write!.events.length,
          last_seq: done.length,
          inserted_at: 0n,
        },
      ]
    },
    caughtUp: async (project_id) => void done.push(`folded ${project_id}`),
  })
  return { late, done }
}

describe('late writes', () => {
  it('take turns, part by part', async () => {
    const { late, done } = opened()
    await Promise.all([late.write(request('a', 3)), late.write(request('b', 1, 2))])
    expect(done).toEqual(['of a', 'of b', 'of a', 'of a'])
  })

  it('tell what each part did, and whom others come behind', async () => {
    const { late } = opened()
    const written = late.write(request('a', 2))
    expect([late.has({ project_id: 1, address: 'a' }), late.has({ project_id: 2, address: 'a' })]).toEqual([
      true,
      false,
    ])
    expect((await written).map(({ stored, last_seq }) => [stored, last_seq])).toEqual([
      [1, 1],
      [1, 2],
    ])
    expect(late.has({ project_id: 1, address: 'a' })).toBe(false)
  })

  it('wait for the fold of a project that has much in the journal', async () => {
    const { late, done } = opened()
    await late.write(request('a', 5))
    expect(done).toEqual(['of a', 'of a', 'of a', 'of a', 'folded 1', 'of a'])
  })

  it('fail as a whole, and alone', async () => {
    const { late, done } = opened(({ project_id }) => project_id === 1)
    const [failed, other] = await Promise.allSettled([
      late.write(request('a', 3)),
      late.write(request('b', 1, 2)),
    ])
    expect(failed).toMatchObject({ status: 'rejected', reason: { message: 'disk full' } })
    expect(other.status).toBe('fulfilled')
    expect(done).toEqual(['of b'])
    expect(late.has({ project_id: 1, address: 'a' })).toBe(false)
  })

  it('are never filled by one address, and take what apps and imports bring', async () => {
    const { late } = opened()
    const first = late.write(request('a', 9))
    await expect(async () => late.write(request('a', 1))).rejects.toBeInstanceOf(StoreBusy)
    await Promise.all([first, late.write(request('b', 1)), late.write(request(null, 40, 3))])
    await late.write(request('a', 1))
  })

  it('are done once it is closed', async () => {
    const { late, done } = opened()
    const written = late.write(request('a', 3))
    await late.close()
    expect(done).toHaveLength(3)
    await written
  })
})
