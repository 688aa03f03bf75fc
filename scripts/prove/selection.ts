// Which events a run's SQL means. The source compiles few forms of conditions for events; another form is an error here,
// so that none is passed over in silence.
import type { ExportRows, Parameter } from '../../src/platform/event-store/event-store.ts'
import type { SimulatedEvent } from './event-store.ts'

type Test = (event: SimulatedEvent) => boolean

const WITHIN =
  /^SELECT r\.position FROM \((.*)\) AS r WHERE r\.position > \$(\d+) AND r\.position <= \$(\d+)$/s
const WHERE = / WHERE \((\(.*\))\)\) AS r$/s

export function readSelection({ sql, parameters }: ExportRows): Test {
  const within = WITHIN.exec(sql)
  if (within) {
    const inner = readSelection({ sql: within[1]!, parameters } as ExportRows)
    const [from, to] = [numberAt(parameters, within[2]!), numberAt(parameters, within[3]!)]
    return (event) => event.seq > from && event.seq <= to && inner(event)
  }
  const where = WHERE.exec(sql)
  if (!where) throw new Error(`no condition in ${sql}`)
  const tests = where[1]!
    .slice(1, -1)
    .split(') AND (')
    .map((text) => readTest(text, parameters))
  return (event) => tests.every((test) => test(event))
}

function readTest(text: string, parameters: readonly Parameter[]): Test {
  const negated = /^NOT coalesce\(\((.*)\), false\)$/.exec(text)
  if (negated) {
    const test = readTest(negated[1]!, parameters)
    return (event) => !test(event)
  }
  const [, field, operator, rest] = /^t1\.(seq|timestamp|event) (\S+) (.*)$/.exec(text) ?? []
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

function numberAt(parameters: readonly Parameter[], place: string): number {
  return Number(parameters[Number(place) - 1])
}
