import { describe, expect, it } from 'vitest'
import { FairQueue } from './fair-queue.ts'
import { SharedQueue } from './shared-queue.ts'

const drain = (queue: { shift(): string | undefined }, count = Infinity) => {
  const taken: string[] = []
  while (taken.length < count) {
    const next = queue.shift()
    if (next === undefined) break
    taken.push(next)
  }
  return taken
}

describe('FairQueue', () => {
  it('is first come, first served for one sender', () => {
    const queue = new FairQueue<string>()
    for (const [name, cost] of [
      ['a', 9],
      ['b', 1],
      ['c', 5],
    ] as const)
      queue.push(name, 'one', cost)
    expect(drain(queue)).toEqual(['a', 'b', 'c'])
    expect(queue.length).toBe(0)
  })

  it('lets a newcomer go before the rest of a flood', () => {
    const queue = new FairQueue<string>()
    for (let n = 0; n < 100; n++) queue.push(`flood ${n}`, 'flood', 10)
    expect(drain(queue, 3)).toEqual(['flood 0', 'flood 1', 'flood 2'])
    queue.push('small', 'neighbour', 1)
    expect(drain(queue, 1)).toEqual(['small'])
    expect(queue.length).toBe(97)
  })

  it('shares by cost, not by number', () => {
    const queue = new FairQueue<string>()
    for (let n = 0; n < 3; n++) queue.push(`large ${n}`, 'a', 100)
    for (let n = 0; n < 20; n++) queue.push(`small ${n}`, 'b', 10)
    const taken = drain(queue)
    expect(taken.indexOf('large 1')).toBeGreaterThan(9)
    expect(taken.filter((name) => name.startsWith('small')).at(-1)).toBe('small 19')
  })

  it('holds only the last of the past against a sender', () => {
    const queue = new FairQueue<string>()
    for (let n = 0; n < 50; n++) queue.push(`early ${n}`, 'a', 1000)
    drain(queue)
    queue.push('b', 'b', 1000)
    queue.push('b again', 'b', 1000)
    queue.push('b once more', 'b', 1000)
    queue.push('a', 'a', 1000)
    expect(drain(queue)).toEqual(['b', 'b again', 'a', 'b once more'])
  })

  it('passes over those who may not go, and they keep their place', () => {
    const queue = new FairQueue<string>()
    queue.push('a', 'a', 1)
    queue.push('b', 'b', 1)
    expect(queue.shift((sender) => sender !== 'a')).toBe('b')
    expect(queue.shift(() => false)).toBe(undefined)
    expect(queue.shift()).toBe('a')
  })
})

describe('SharedQueue', () => {
  it('keeps the order of one sender', () => {
    const queue = new SharedQueue<string>()
    const names = Array.from({ length: 30 }, (_, n) => `${n}`)
    for (const name of names) queue.push(name, ['address', 'project'], 3)
    expect(drain(queue)).toEqual(names)
  })

  it.each<[string, (n: number) => [string, string]]>([
    ['one address over many projects', (n) => ['attacker', `project ${n}`]],
    ['many addresses over one project', (n) => [`address ${n}`, 'attacked']],
  ])('lets a neighbour go within two turns: %s', (_, senders) => {
    const queue = new SharedQueue<string>()
    for (let n = 0; n < 500; n++) queue.push(`flood ${n}`, senders(n), 10)
    drain(queue, 20)
    queue.push('neighbour', ['home', 'own'], 10)
    expect(drain(queue, 3)).toContain('neighbour')
  })

  it('a flood over all projects does not hold up the owner of one', () => {
    const queue = new SharedQueue<string>()
    for (let n = 0; n < 500; n++) queue.push(`flood ${n}`, ['attacker', `project ${n % 50}`], 10)
    drain(queue, 20)
    queue.push('owner', ['home', 'project 7'], 10)
    expect(drain(queue, 3)).toContain('owner')
  })

  it('keeps what does not fit for the next time', () => {
    const queue = new SharedQueue<string>()
    queue.push('large', ['a', 'p'], 1)
    queue.push('small', ['b', 'q'], 1)
    expect(queue.shift((item) => item !== 'large')).toBe(undefined)
    expect(queue.length).toBe(2)
    expect(drain(queue)).toEqual(['large', 'small'])
  })

  it('gives everything once, whatever was taken in the other order', () => {
    const queue = new SharedQueue<number>()
    const taken: number[] = []
    for (let n = 0; n < 3000; n++) {
      queue.push(n, [`a${n % 7}`, `p${n % 500}`], 1 + (n % 5))
      if (n % 3 > 0) taken.push(queue.shift()!)
    }
    while (queue.length > 0) taken.push(queue.shift()!)
    expect(queue.shift()).toBe(undefined)
    expect(taken.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 3000 }, (_, n) => n))
  })
})
