import { afterEach, describe, expect, it } from 'vitest'
import { StoreBusy, type ProjectWrite } from '../../../platform/event-store/event-store.ts'
import { storedEvent } from '../../../platform/event-store/fixture/suite.ts'
import { LateWrites, type LateOptions } from './late-writes.ts'
import type { StoredRequest } from './split-by-text.ts'

const MB = 1024 * 1024
const PART = 'p'.repeat(8 * MB)

/** So many events that are a part each. */
function request(address: string | null, count: number, project_id = 1, properties = PART): StoredRequest {
  const event = storedEvent({
    event: `of ${address}`,
    properties,
    person_properties: '',
    elements_chain: '',
  })
  return {
    project_id,
    address,
    events: Array.from({ length: count }, () => event),
    text: count * properties.length,
  }
}

const nothing: LateOptions['lookUp'] = (_, events) => Promise.resolve({ events, end() {} })

/** Writes with their events' names. */
function opened(fails: (write: ProjectWrite) => boolean = () => false, lookUp = nothing) {
  const done: string[] = []
  const late = new LateWrites({
    lookUp,
    write: async (writes) => {
      await Promise.resolve()
      if (writes.some(fails)) throw new Error('disk full')
      done.push(writes.flatMap(({ events }) => events.map(({ event }) => event)).join(', '))
    },
    caughtUp: async (project_id) => {
      await folding.get(project_id)
      done.push(`folded ${project_id}`)
    },
  })
  return { late, done }
}

/** What the folds of a project wait for. */
const folding = new Map<number, Promise<void>>()
afterEach(() => folding.clear())

function gate() {
  let open = () => {}
  const opens = new Promise<void>((resolve) => (open = resolve))
  return { open, opens }
}

describe('late writes', () => {
  it('take turns, part by part', async () => {
    const { late, done } = opened()
    await Promise.all([late.write(request('a', 3)), late.write(request('b', 1, 2))])
    expect(done).toEqual(['of a', 'of b', 'of a', 'of a'])
  })

  it('share commits as far as they fit', async () => {
    const { late, done } = opened()
    const small = (address: string) => late.write(request(address, 1, 1, 'x'.repeat(3 * MB)))
    await Promise.all(['a', 'b', 'c', 'd'].map(small))
    // The first goes as soon as it is there.
    expect(done).toEqual(['of a', 'of b, of c', 'of d'])
  })

  it('tell whom others come behind', async () => {
    const { late } = opened()
    const written = late.write(request('a', 2))
    expect([late.has({ project_id: 1, address: 'a' }), late.has({ project_id: 2, address: 'a' })]).toEqual([
      true,
      false,
    ])
    expect(await written).toEqual({ left: 0, error: null })
    expect(late.has({ project_id: 1, address: 'a' })).toBe(false)
  })

  it('wait for the fold of a project that has much in the journal', async () => {
    const { late, done } = opened()
    await late.write(request('a', 5))
    expect(done).toEqual(['of a', 'of a', 'of a', 'of a', 'folded 1', 'of a'])
  })

  it('of others wait neither for that fold nor for a look into files', async () => {
    const [fold, look] = [gate(), gate()]
    folding.set(1, fold.opens)
    const { late, done } = opened(undefined, async (project_id, events) => {
      if (project_id === 2) await look.opens
      return { events, end() {} }
    })
    const held = [late.write(request('a', 5)), late.write(request('b', 1, 2))]
    await late.write(request('c', 1, 3))
    await late.write(request('c', 2, 4))
    expect(done.filter((each) => each !== 'of a')).toEqual(['of c', 'of c', 'of c'])
    fold.open()
    look.open()
    await Promise.all(held)
    expect(done.slice(-3).sort()).toEqual(['folded 1', 'of a', 'of b'])
  })

  it('of all projects are folded before they fill the journal', async () => {
    const { late, done } = opened()
    for (const project_id of [1, 2, 3, 4, 5, 6]) await late.write(request('a', 3, project_id))
    // A hundred and twenty-eight megabytes: the largest of them goes first.
    expect(done.indexOf('folded 1')).toBe(16)
  })

  it('are in the order in which their sender sent them, however long it takes to look for some', async () => {
    const look = gate()
    let looks = 0
    const { late, done } = opened(undefined, async (_, events) => {
      if (++looks === 1) await look.opens
      return { events, end() {} }
    })
    const [first, second] = ['first', 'second'].map((properties) =>
      late.write({ ...request(properties, 1, 1, 'x'), address: 'a' }),
    )
    look.open()
    await Promise.all([first, second])
    expect(done).toEqual(['of first', 'of second'])
  })

  it('of what is stored already are no commit, and the look ends when it is over', async () => {
    let open = 0
    const { late, done } = opened(undefined, async () => {
      open += 1
      return { events: [], end: () => (open -= 1) }
    })
    expect(await late.write(request('a', 2))).toEqual({ left: 0, error: null })
    expect([done.join(''), open]).toEqual(['', 0])
  })

  it('fail when nobody can look', async () => {
    const { late, done } = opened(undefined, () => Promise.reject(new Error('closed')))
    expect(await late.write(request('a', 2))).toMatchObject({ left: 2, error: { message: 'closed' } })
    expect(done).toEqual([])
  })

  it('fail alone, and say how much was not written', async () => {
    let writes = 0
    const { late, done } = opened(({ project_id }) => project_id === 1 && ++writes === 2)
    const [failed, other] = await Promise.all([late.write(request('a', 3)), late.write(request('b', 1, 2))])
    expect(failed).toMatchObject({ left: 2, error: { message: 'disk full' } })
    expect(other.left).toBe(0)
    expect(done).toEqual(['of a', 'of b'])
    expect(late.has({ project_id: 1, address: 'a' })).toBe(false)
  })

  it('are never filled by one address, and take what apps and imports bring', async () => {
    const { late } = opened()
    const first = late.write(request('a', 17))
    expect(await late.write(request('a', 1))).toMatchObject({ left: 1, error: expect.any(StoreBusy) })
    await Promise.all([first, late.write(request('b', 1)), late.write(request(null, 40, 3))])
    expect(await late.write(request('a', 1))).toEqual({ left: 0, error: null })
  })

  it('of no events are over at once', async () => {
    const { late, done } = opened()
    expect(await late.write(request('a', 0))).toEqual({ left: 0, error: null })
    expect(done).toEqual([])
  })

  it('are done once it is closed', async () => {
    const { late, done } = opened()
    const written = late.write(request('a', 3))
    await late.close()
    expect(done).toHaveLength(3)
    await written
  })
})
