// What a list of persons can be narrowed by, and the conditions that follow (operators as in events.md §4.3).
import { z } from 'zod'
import { sql, type Statement } from '../../platform/db/sql.ts'
import { isStorableText } from '../../platform/http/body.ts'
import { invalid } from '../../platform/http/errors.ts'
import type { PersonQuery } from './schema.ts'

const MAX_FILTERS = 100
const MAX_DEPTH = 20
const POSITIVE = ['exact', 'icontains', 'regex', 'gt', 'gte', 'lt', 'lte', 'is_set'] as const
const NEGATIVE = {
  is_not: 'exact',
  not_icontains: 'icontains',
  not_regex: 'regex',
  is_not_set: 'is_set',
} as const
const OPERATORS = [...POSITIVE, ...(Object.keys(NEGATIVE) as (keyof typeof NEGATIVE)[])] as const

type Positive = (typeof POSITIVE)[number]

const PropertyFilter = z.object({
  key: z.string().min(1),
  value: z.unknown().optional(),
  operator: z.enum(OPERATORS).nullish(),
  type: z.literal('person').nullish(),
})
type PropertyFilter = z.output<typeof PropertyFilter>

// Numbers as PostgreSQL reads them too, short enough to be one.
const NUMBER = '^\\s*[+-]?(\\d{1,200}(\\.\\d{0,200})?|\\.\\d{1,200})([eE][+-]?\\d{1,3})?\\s*$'

/** The conditions on `person`, to be joined by AND. */
export function conditionsOf(query: PersonQuery): Statement[] {
  const { distinct_id, email, search, properties } = query
  return [
    ...(distinct_id === undefined ? [] : [hasDistinctId(distinct_id)]),
    ...(email === undefined ? [] : [hasEmail(email)]),
    ...(search === undefined ? [] : [isFoundBy(search)]),
    ...(properties === undefined ? [] : readFilters(properties).map(conditionOf)),
  ]
}

function hasDistinctId(distinct_id: string): Statement {
  return sql`person.uuid = (SELECT of_person.person FROM person_distinct_id AS of_person
    WHERE of_person.project_id = person.project_id AND distinct_id = ${distinct_id})`
}

/** The first half is what the index knows. */
function hasEmail(email: string): Statement {
  return sql`properties ->> 'email' IS NOT NULL
    AND left(lower(properties ->> 'email'), 200) = left(lower(${email}::text), 200)
    AND lower(properties ->> 'email') = lower(${email}::text)`
}

function isFoundBy(search: string): Statement {
  const pattern = containing(search)
  return sql`(properties ->> 'email' ILIKE ${pattern}::text OR properties ->> 'name' ILIKE ${pattern}::text
    OR EXISTS (SELECT FROM person_distinct_id AS of_person WHERE of_person.project_id = person.project_id
      AND of_person.person = person.uuid AND distinct_id ILIKE ${pattern}::text))`
}

function readFilters(text: string): PropertyFilter[] {
  const parsed = z.array(PropertyFilter).max(MAX_FILTERS).safeParse(parseJson(text))
  if (!parsed.success) throw invalidFilter('A list of {key, value, operator} is expected.')
  if (!isStorable(parsed.data)) throw invalidFilter('Text may not hold NUL or broken characters.')
  return parsed.data
}

function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    // Old clients send an empty object for no filter.
    return typeof value === 'object' && value !== null && Object.keys(value).length === 0 ? [] : value
  } catch {
    throw invalidFilter('This is not JSON.')
  }
}

/** PostgreSQL takes neither NUL nor half characters, and JSON can write both with plain ones. */
function isStorable(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return isStorableText(value)
  if (typeof value !== 'object' || value === null) return true
  return (
    depth < MAX_DEPTH &&
    Object.entries(value).every((entry) => entry.every((part) => isStorable(part, depth + 1)))
  )
}

function conditionOf({ key, value, operator }: PropertyFilter): Statement {
  const given = operator ?? 'exact'
  if (!(given in NEGATIVE)) return positive(given as Positive, key, value)
  // Also true where the property is missing.
  return sql`(${positive(NEGATIVE[given as keyof typeof NEGATIVE], key, value)}) IS NOT TRUE`
}

function positive(operator: Positive, key: string, value: unknown): Statement {
  const text = sql`(properties ->> ${key}::text)`
  if (operator === 'is_set') return sql`${text} IS NOT NULL`
  if (value === undefined || value === null) throw invalidFilter(`The filter on \`${key}\` needs a value.`)
  const values = [value].flat()
  switch (operator) {
    case 'exact':
      return isOneOf(key, text, values)
    case 'icontains':
      return sql`${text} ILIKE ANY(${values.map((each) => containing(textOf(each)))}::text[])`
    case 'regex':
      return sql`${text} ~ ANY(${values.map(textOf)}::text[])`
    case 'gt':
      return sql`${numberIn(text)} > ANY(${numbers(key, values)}::numeric[])`
    case 'gte':
      return sql`${numberIn(text)} >= ANY(${numbers(key, values)}::numeric[])`
    case 'lt':
      return sql`${numberIn(text)} < ANY(${numbers(key, values)}::numeric[])`
    case 'lte':
      return sql`${numberIn(text)} <= ANY(${numbers(key, values)}::numeric[])`
  }
}

/** As text, as a number where both sides are one, and as JSON where a list or an object is asked for. */
function isOneOf(key: string, text: Statement, values: readonly unknown[]): Statement {
  const texts = values.filter((value) => typeof value !== 'object').map(textOf)
  const asNumbers = texts.filter(isNumber).map((each) => each.trim())
  const json = values.filter((value) => typeof value === 'object' && value !== null).map(textOf)
  return sql`(${text} = ANY(${texts}::text[]) OR ${numberIn(text)} = ANY(${asNumbers}::numeric[])
    OR properties -> ${key}::text = ANY(${json}::text[]::jsonb[]))`
}

function numberIn(text: Statement): Statement {
  return sql`(CASE WHEN ${text} ~ ${NUMBER}::text THEN ${text}::numeric END)`
}

function numbers(key: string, values: readonly unknown[]): string[] {
  return values.map((value) => {
    const text = textOf(value)
    if (!isNumber(text)) throw invalidFilter(`The filter on \`${key}\` compares with numbers only.`)
    return text.trim()
  })
}

function isNumber(text: string): boolean {
  return new RegExp(NUMBER).test(text)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A pattern for ILIKE in which nothing of the text has a meaning of its own. */
function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}

function invalidFilter(detail: string) {
  return invalid('properties', 'invalid_input', detail)
}
