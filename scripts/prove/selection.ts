// Which events a compiled query lets through. Names of events are all that exports of the simulation choose by; another
// condition is an error here, so that none is passed over in silence.
import type { Parameter } from '../../src/platform/event-store/event-store.ts'
import type { EventQuery } from '../../src/platform/event-store/export-rows.ts'
import type { SimulatedEvent } from './event-store.ts'

type Test = (event: Pick<SimulatedEvent, 'event'>) => boolean

export function readSelection({ sql, parameters }: EventQuery): Test {
  const where = / WHERE (.*)$/s.exec(sql)
  if (!where) throw new Error(`no condition in ${sql}`)
  return readTest(where[1]!, parameters)
}

function readTest(text: string, parameters: readonly Parameter[]): Test {
  if (text === 'true') return () => true
  const bare = withoutBrackets(text)
  if (bare !== null) return readTest(bare, parameters)
  const parts = splitOutside(text, ' AND ')
  if (parts.length > 1) {
    const tests = parts.map((part) => readTest(part, parameters))
    return (event) => tests.every((test) => test(event))
  }
  const negated = /^NOT coalesce\((.*), false\)$/s.exec(text)
  if (negated) {
    const test = readTest(negated[1]!, parameters)
    return (event) => !test(event)
  }
  return readNames(text, parameters)
}

function readNames(text: string, parameters: readonly Parameter[]): Test {
  if (!text.startsWith('t1.event ')) throw new Error(`a condition not known: ${text}`)
  const names = [...text.matchAll(/\$(\d+)/g)].map(([, place]) => parameters[Number(place) - 1]!)
  return ({ event }) => names.includes(event)
}

/** What one pair of brackets holds; null when the text is not one. */
function withoutBrackets(text: string): string | null {
  if (!text.startsWith('(')) return null
  let depth = 0
  for (const [index, character] of [...text].entries()) {
    if (character === '(') depth++
    if (character === ')') depth--
    if (depth === 0) return index === text.length - 1 ? text.slice(1, -1) : null
  }
  return null
}

/** Where the word stands in no brackets. */
function splitOutside(text: string, word: string): string[] {
  const parts: string[] = []
  let [depth, from] = [0, 0]
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '(') depth++
    if (text[index] === ')') depth--
    if (depth > 0 || !text.startsWith(word, index)) continue
    parts.push(text.slice(from, index))
    from = index + word.length
  }
  return [...parts, text.slice(from)]
}
