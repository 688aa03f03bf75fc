// Which events a run's SQL means. The source compiles few forms of conditions for events; another form is an error here,
// so that none is passed over in silence.
import type { ExportRows, Parameter } from '../../src/platform/event-store/event-store.ts'
import type { SimulatedEvent } from './event-store.ts'

type Test = (event: SimulatedEvent) => boolean

const WHERE = / WHERE (.*)\) AS r$/s

export function readSelection({ sql, parameters }: ExportRows): Test {
  const where = WHERE.exec(sql)
  if (!where) throw new Error(`no condition in ${sql}`)
  return readTest(where[1]!, parameters)
}

function readTest(text: string, parameters: readonly Parameter[]): Test {
  if (text === 'true' || text === 'false') return () => text === 'true'
  const bare = withoutBrackets(text)
  if (bare !== null) return readTest(bare, parameters)
  for (const [word, joined] of [
    [
      ' AND ',
      (tests: Test[]): Test =>
        (event) =>
          tests.every((test) => test(event)),
    ],
    [
      ' OR ',
      (tests: Test[]): Test =>
        (event) =>
          tests.some((test) => test(event)),
    ],
  ] as const) {
    const parts = splitOutside(text, word)
    if (parts.length > 1) return joined(parts.map((part) => readTest(part, parameters)))
  }
  const negated = /^NOT coalesce\((.*), false\)$/s.exec(text)
  if (negated) {
    const test = readTest(negated[1]!, parameters)
    return (event) => !test(event)
  }
  return readComparison(text, parameters)
}

function readComparison(text: string, parameters: readonly Parameter[]): Test {
  const [, field, operator, rest] = /^t1\.(seq|timestamp|event) (\S+) (.*)$/s.exec(text) ?? []
  const values = [...(rest ?? '').matchAll(/\$(\d+)/g)].map(([, place]) => parameters[Number(place) - 1]!)
  if (field === 'event') return ({ event }) => values.includes(event)
  if (field === undefined || values.length !== 1) throw new Error(`a condition not known: ${text}`)
  const limit = field === 'seq' ? Number(values[0]) : Date.parse(String(values[0]))
  const read: (event: SimulatedEvent) => number =
    field === 'seq' ? ({ seq }) => seq : ({ timestamp }) => timestamp.getTime()
  return compared(operator!, read, limit)
}

function compared(operator: string, read: (event: SimulatedEvent) => number, limit: number): Test {
  switch (operator) {
    case '>':
      return (event) => read(event) > limit
    case '>=':
      return (event) => read(event) >= limit
    case '<':
      return (event) => read(event) < limit
    case '<=':
      return (event) => read(event) <= limit
    default:
      throw new Error(`an operator not known: ${operator}`)
  }
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
