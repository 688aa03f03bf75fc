// Whatever the description names can be written, and what is in the compiler's lists is in it.
import { describe, expect, it } from 'vitest'
import { compileQuery } from './compile.ts'
import { describeHogql } from './describe.ts'
import { HogqlError } from './errors.ts'
import { parseSelect } from './parser.ts'

const context = { project_id: 1, timezone: 'UTC', now: new Date(), placeholders: new Map() }
const compile = (text: string) => compileQuery(parseSelect(text), context, 'duckdb')
const language = describeHogql()
const calls = language.functions.flatMap((entry) =>
  [entry.name, ...entry.aliases].map((name) => ({ ...entry, name })),
)

describe('describeHogql', () => {
  it('every column of every table can be selected', () => {
    expect(language.tables.map(({ name }) => name)).toEqual([
      'events',
      'persons',
      'person_distinct_ids',
      'groups',
      'sessions',
    ])
    for (const { name, columns } of language.tables) {
      for (const column of columns) expect(() => compile(`select ${column.name} from ${name}`)).not.toThrow()
    }
  })

  it('types are those that come out, of computed columns too', () => {
    const columns = language.tables.find(({ name }) => name === 'events')!.columns
    const typeOf = (name: string) => columns.find((column) => column.name === name)?.type
    expect(typeOf('timestamp')).toBe('datetime')
    expect(typeOf('properties')).toBe('json')
    expect(typeOf('person.properties')).toBe('json')
    expect(typeOf('$window_id')).toBe('property')
    expect(typeOf('elements_chain_texts')).toBe('array(text)')
    // The column that fences projects off, and what only exports see.
    expect(columns.filter(({ name }) => ['team_id', 'seq', '_inserted_at'].includes(name))).toEqual([])
  })

  it.each(calls.map((call) => [call.name, call] as const))('%s is known, with these counts', (name, call) => {
    const { kind, min_args, max_args, min_params } = call
    const messageOf = (args: number) => {
      const list = (count: number) => `(${Array(count).fill('1').join(', ')})`
      const params = min_params > 0 ? list(min_params) : ''
      try {
        compile(`select ${name}${params}${list(args)}${kind === 'window' ? ' over ()' : ''}`)
        return ''
      } catch (error) {
        expect(error).toBeInstanceOf(HogqlError)
        return (error as Error).message
      }
    }
    expect(messageOf(min_args)).not.toMatch(/Unknown function|takes .* arguments?, not/)
    if (max_args !== null) expect(messageOf(max_args + 1)).not.toBe('')
  })

  it('names with a condition are aggregates too', () => {
    const named = language.functions.flatMap(({ with_condition }) => with_condition ?? [])
    expect(named).toContain('countIf')
    expect(() => compile('select countIf(event = 1) from events')).not.toThrow()
    expect(language.functions.find(({ name }) => name === 'arrayJoin')).toMatchObject({ max_args: 1 })
    expect(language.functions.filter(({ name }) => name.startsWith('_'))).toEqual([])
  })

  it('keywords are those of the parser', () => {
    expect(language.keywords).toEqual(expect.arrayContaining(['select', 'from', 'where', 'interval']))
  })
})
