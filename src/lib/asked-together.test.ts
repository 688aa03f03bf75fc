import { describe, expect, it } from 'vitest'
import { AskedTogether } from './asked-together.ts'

/** Answers what it is told to, when it is told to. */
function open(most = 100) {
  const asked: (readonly string[])[] = []
  const answers: PromiseWithResolvers<ReadonlyMap<string, number>>[] = []
  const together = new AskedTogether<string, number>((keys) => {
    asked.push(keys)
    const answer = withResolvers<ReadonlyMap<string, number>>()
    answers.push(answer)
    return answer.promise
  }, most)
  return { together, asked, answers }
}

type PromiseWithResolvers<Value> = {
  promise: Promise<Value>
  resolve(value: Value): void
  reject(error: unknown): void
}

function withResolvers<Value>(): PromiseWithResolvers<Value> {
  let resolve!: (value: Value) => void
  let reject!: (error: unknown) => void
  const promise = new Promise<Value>((yes, no) => ((resolve = yes), (reject = no)))
  return { promise, resolve, reject }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

describe('AskedTogether', () => {
  it('asks once for all of one turn, each key once, and tells everybody what was found', async () => {
    const { together, asked, answers } = open()
    const found = Promise.all(['a', 'b', 'a', 'none'].map((key) => together.find(key)))
    await nextTurn()
    expect(asked).toEqual([['a', 'b', 'none']])
    answers[0]!.resolve(
      new Map([
        ['a', 1],
        ['b', 2],
      ]),
    )
    expect(await found).toEqual([1, 2, 1, undefined])
  })

  it('asks anew for a key that comes while its answer is under way: that answer may be too old', async () => {
    const { together, asked, answers } = open()
    const first = together.find('a')
    await nextTurn()
    const second = together.find('a')
    await nextTurn()
    expect(asked).toHaveLength(1)
    answers[0]!.resolve(new Map([['a', 1]]))
    expect(await first).toBe(1)
    await nextTurn()
    expect(asked).toEqual([['a'], ['a']])
    answers[1]!.resolve(new Map([['a', 2]]))
    expect(await second).toBe(2)
  })

  it('tells a failure to those who were part of the question, and goes on', async () => {
    const { together, answers } = open()
    const first = together.find('a')
    await nextTurn()
    const second = together.find('b')
    answers[0]!.reject(new Error('gone'))
    await expect(first).rejects.toThrow('gone')
    await nextTurn()
    answers[1]!.resolve(new Map([['b', 2]]))
    expect(await second).toBe(2)
  })

  it('asks for so many at most', async () => {
    const { together, asked, answers } = open(2)
    const found = Promise.all(['a', 'b', 'c'].map((key) => together.find(key)))
    await nextTurn()
    answers[0]!.resolve(new Map([['a', 1]]))
    await nextTurn()
    answers[1]!.resolve(new Map([['c', 3]]))
    expect(await found).toEqual([1, undefined, 3])
    expect(asked).toEqual([['a', 'b'], ['c']])
  })
})
