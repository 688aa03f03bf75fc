// Cases asked of a real ClickHouse, which the environment names (scripts/clickhouse/with-chdb.sh). Many expressions go into one statement:
// where ClickHouse is emulated, each statement takes a second.
import { HOT_PROPERTIES, hotColumn } from '../../platform/event-store/layout.ts'
import type { Parameter } from '../../platform/event-store/event-store.ts'
import { compileQuery, type CompiledQuery } from '../compile.ts'
import { DISTINCT_IDS, EVENTS, GROUPS, OTHER_PROJECT, PERSONS, PROJECT } from '../fixture/rows.ts'
import { eventRow, NOW as QUERY_NOW } from '../fixture/store.ts'
import { NOW as EXPRESSION_NOW, PROPERTIES } from '../functions/fixture/evaluate.ts'
import { parseSelect } from '../parser.ts'
import type { Answer, Case } from './cases.ts'
import { partsOf } from './same.ts'

const DATABASE = 'longshore_hogql'
const SETTINGS = {
  default_format: 'JSONCompact',
  join_use_nulls: '1',
  output_format_json_quote_64bit_integers: '0',
  // Where ClickHouse is emulated, the stack of an exception takes ten seconds.
  calculate_text_stack_trace: '0',
  // Rows of a query within another keep their order, and tuples have no names.
  query_plan_remove_redundant_sorting: '0',
  optimize_duplicate_order_by_and_distinct: '0',
  enable_named_columns_in_function_tuple: '0',
  max_threads: '1',
}
const EXPRESSION_PROJECT = 1
/** Parameters travel in the address, which must stay short. */
const MOST_ADDRESS = 12_000
const MOST_EXPRESSIONS = 40
const MOST_QUERIES = 12
const PARTS = 6

type Literal = string | number | boolean | bigint | null | readonly string[]

const TIME = `DateTime64(6, 'UTC')`
const TABLES: Readonly<Record<string, string>> = {
  events: `seq Int64, inserted_at ${TIME}, uuid UUID, event String, distinct_id String, timestamp ${TIME}, created_at ${TIME},
    elements_chain String, person_mode UInt8, person_id UUID, person_properties String, properties String,
    ${HOT_PROPERTIES.map((property) => `${hotColumn(property)} Nullable(String)`).join(', ')}`,
  persons: `id UUID, created_at ${TIME}, is_identified Bool, properties String`,
  person_distinct_ids: 'distinct_id String, person_id UUID',
  groups: `"index" UInt8, key String, created_at ${TIME}, properties String`,
}

const EVENT: readonly Literal[] = [
  1,
  '2024-03-10 14:35:28',
  '01890000-0000-7000-8000-000000000001',
  'buy',
  'ann',
  '2024-03-10 14:35:27.123456',
  '2024-03-10 14:35:28',
  '',
  0,
  '00000000-0000-0000-0000-000000000000',
  '{}',
  JSON.stringify(PROPERTIES),
  ...HOT_PROPERTIES.map(() => null),
]

function rowsOf(table: string): readonly (readonly Literal[])[] {
  switch (table) {
    case 'events': {
      const secret = { event: 'secret', distinct_id: 'ann', timestamp: '2024-06-01 00:00:00' }
      return [
        [EXPRESSION_PROJECT, ...EVENT],
        ...EVENTS.map((event, index) => [PROJECT, ...eventRow(event, index)]),
        [OTHER_PROJECT, ...eventRow(secret, 98)],
      ]
    }
    case 'persons':
      return PERSONS.map((row) => [
        PROJECT,
        row.id,
        row.created_at,
        row.is_identified,
        JSON.stringify(row.properties),
      ])
    case 'person_distinct_ids':
      return DISTINCT_IDS.map(({ distinct_id, person_id }) => [PROJECT, distinct_id, person_id])
    default:
      return GROUPS.map((row) => [
        PROJECT,
        row.index,
        row.key,
        row.created_at,
        JSON.stringify(row.properties),
      ])
  }
}

const literal = (value: Literal): string => {
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  return value === null ? 'NULL' : String(value)
}

/** ClickHouse reads parameters as it reads a field of a file. */
const escaped = (value: unknown) =>
  String(value).replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\t', '\\t')

function statementOf(hogql: string, { timezone, is_query }: Pick<Case, 'timezone' | 'is_query'>) {
  const [project_id, now] = is_query ? [PROJECT, QUERY_NOW] : [EXPRESSION_PROJECT, EXPRESSION_NOW]
  const query = parseSelect(is_query ? hogql : `select ${hogql} from events`)
  return compileQuery(query, { project_id, timezone, now, placeholders: new Map() }, 'clickhouse')
}

type Reply = { meta: { type: string }[]; data: unknown[][] }

export async function openClickhouse(address: string) {
  const user = process.env.CLICKHOUSE_USER ?? 'default'
  const password = process.env.CLICKHOUSE_PASSWORD ?? ''
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

  async function send(body: string, search: Readonly<Record<string, string>>): Promise<string> {
    const url = `${address}/?${new URLSearchParams(search).toString()}`
    if (url.length > MOST_ADDRESS) throw new Error('too many parameters')
    const answer = await fetch(url, { method: 'POST', headers: { authorization }, body })
    const text = await answer.text()
    if (!answer.ok) throw new Error(text)
    return text
  }

  async function ask(hogql: string, setting: Pick<Case, 'timezone' | 'is_query'>): Promise<Reply> {
    return run(statementOf(hogql, setting))
  }

  async function run({ sql, parameters }: Pick<CompiledQuery, 'sql' | 'parameters'>): Promise<Reply> {
    const values = parameters.map((value, index) => [`param_p${index + 1}`, escaped(value)] as const)
    const text = await send(sql, { database: DATABASE, ...SETTINGS, ...Object.fromEntries(values) })
    return JSON.parse(text) as Reply
  }

  async function askOne({ hogql, ...setting }: Case): Promise<Answer> {
    try {
      const { meta, data } = await ask(hogql, setting)
      return { types: meta.map(({ type }) => type), rows: data }
    } catch (error) {
      return { error: errorOf(error) }
    }
  }

  /** As columns of one query. */
  async function askExpressions(cases: readonly Case[]): Promise<Answer[]> {
    const columns = cases.map(({ hogql }, index) => `(${hogql}) as case_${index}`)
    const { meta, data } = await ask(columns.join(', '), {
      timezone: cases[0]?.timezone ?? 'UTC',
      is_query: false,
    })
    if (data.length !== 1) throw new Error('not one row')
    return meta.map(({ type }, index) => ({ types: [type], rows: [[data[0]?.[index]]] }))
  }

  /** As rows of one UNION, each with all rows of its query as JSON. */
  async function askQueries(cases: readonly Case[]): Promise<Answer[]> {
    const parameters: Parameter[] = []
    const parts = cases.map(({ hogql, ...setting }, index) => {
      const compiled = statementOf(hogql, setting)
      const before = parameters.length
      parameters.push(...compiled.parameters)
      const sql = compiled.sql.replaceAll(
        /\{p(\d+):/g,
        (_, number: string) => `{p${before + Number(number)}:`,
      )
      const rows = `groupArray(tuple(${compiled.outputs.map(({ column }) => column).join(', ')}))`
      return `SELECT ${index} AS place, toTypeName(${rows}) AS type, toJSONString(${rows}) AS made FROM (${sql})`
    })
    const { data } = await run({ sql: parts.join(' UNION ALL '), parameters })
    const answers: Answer[] = []
    for (const [place, type, made] of data) {
      const types = partsOf(String(type).replace(/^Array\(Tuple\((.*)\)\)$/s, '$1'))
      answers[Number(place)] = { types, rows: JSON.parse(String(made)) as unknown[][] }
    }
    return answers
  }

  /** In ever smaller parts as long as there is an error, so that each expression gets its own. */
  async function askTogether(
    cases: readonly Case[],
    told: (one: Case, answer: Answer) => void,
  ): Promise<void> {
    const [first, ...others] = cases
    if (!first) return
    if (others.length === 0) return told(first, await askOne(first))
    try {
      const answers = first.is_query ? await askQueries(cases) : await askExpressions(cases)
      for (const [index, one] of cases.entries()) told(one, answers[index] ?? { error: 'no answer' })
    } catch (error) {
      if (process.env.ORACLE_DEBUG) process.stderr.write(`${cases.length}: ${String(error).slice(0, 300)}\n`)
      const size = Math.ceil(cases.length / PARTS)
      for (let at = 0; at < cases.length; at += size) await askTogether(cases.slice(at, at + size), told)
    }
  }

  await send(`CREATE DATABASE IF NOT EXISTS ${DATABASE}`, {})
  for (const [table, columns] of Object.entries(TABLES)) {
    await send(`DROP TABLE IF EXISTS ${DATABASE}.${table}`, {})
    await send(`CREATE TABLE ${DATABASE}.${table} (project_id Int64, ${columns}) ENGINE = Memory`, {})
    const rows = rowsOf(table).map((row) => `(${row.map(literal).join(', ')})`)
    await send(`INSERT INTO ${DATABASE}.${table} VALUES ${rows.join(', ')}`, {})
  }

  return {
    async ask(cases: readonly Case[], told: (one: Case, answer: Answer) => void): Promise<void> {
      const known = cases.filter((one) => !isRefused(one))
      const queries = known.filter(({ is_query }) => is_query)
      for (let at = 0; at < queries.length; at += MOST_QUERIES)
        await askTogether(queries.slice(at, at + MOST_QUERIES), told)
      for (const zone of new Set(known.map(({ timezone }) => timezone))) {
        const expressions = known.filter(({ is_query, timezone }) => !is_query && timezone === zone)
        for (let at = 0; at < expressions.length; at += MOST_EXPRESSIONS)
          await askTogether(expressions.slice(at, at + MOST_EXPRESSIONS), told)
      }
    },
  }
}

/** What our compiler does not take is no case: it stays without an answer. */
function isRefused({ hogql, ...setting }: Case): boolean {
  try {
    statementOf(hogql, setting)
    return false
  } catch {
    return true
  }
}

/** Without the statement, which is long, and the version. */
function errorOf(error: unknown): string {
  const text = String(error instanceof Error ? error.message : error)
  return text.slice(0, 300).split('\n')[0]?.split(': In scope ')[0]?.split(': while executing')[0] ?? ''
}
