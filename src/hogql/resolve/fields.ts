// From a dotted name to a value: lambda names, aliases, columns of the tables in FROM, column CTEs.
import type { Field } from '../ast.ts'
import { queryError } from '../errors.ts'
import { HOT_PROPERTIES, hotColumn, mayHaveColumn } from '../../platform/event-store/layout.ts'
import { estimateInLambda, estimateOfColumn } from '../size-estimate.ts'
import { withCertainty } from '../functions/certainty.ts'
import type { Type, Value } from '../value.ts'
import { access, type Key } from './access.ts'
import { findNamedQuery, type Scope, type Source } from './scope.ts'
import { unknownName } from './suggest.ts'
import { mayBeRead, sessionColumn } from './table-sql.ts'
import { TABLES } from './tables.ts'

const HOT = new Map<string, string>(HOT_PROPERTIES.map((property) => [property, hotColumn(property)]))

/** Before these are known to be grouped or not, an alias that aggregates cannot be meant. */
const WITHOUT_AGGREGATES: ReadonlySet<Scope['place']> = new Set(['from', 'on', 'where', 'group'])

/** Window functions are made after all else. */
const WITH_WINDOWS: ReadonlySet<Scope['place']> = new Set(['select', 'qualify', 'order'])

export function resolveField(field: Field, scope: Scope): Value {
  const [first] = field.chain
  if (typeof first !== 'string') throw queryError('A name cannot start with a number', field)
  const lambdaName = scope.lambda_names.get(first)
  if (lambdaName) return walk(lambdaName, field.chain.slice(1), field, scope)
  const value =
    fromAlias(first, field, scope, scope.aliases_before) ??
    fromSources(field, scope) ??
    fromAlias(first, field, scope, Infinity) ??
    fromRow(field, scope)
  if (!value) return fromColumnCte(first, field, scope) ?? unknownField(field, scope)
  if (scope.lambda_names.size === 0) return value
  return { ...value, estimate: estimateInLambda(value.estimate, value.type) }
}

/** The column with this name in one source, with the rest of the chain followed into it. */
function fromSource(source: Source, chain: readonly Key[], field: Field, scope: Scope): Value | undefined {
  const found = findColumn(source, chain, scope)
  if (!found) return undefined
  if (!scope.in_aggregate) scope.grouping.loose.push(field)
  return walk(found.value, chain.slice(found.used), field, scope)
}

/** `columnOf(source, ['person', 'id'])`: the longest name that is a column, and how much of the chain it took. */
function findColumn(source: Source, chain: readonly Key[], scope: Scope) {
  const [first, second, third] = chain
  if (typeof first !== 'string') return undefined
  const read = joinedProperty(source, chain, scope)
  if (read) return { value: read, used: chain.length }
  const deep = third === undefined ? undefined : sourceColumn(source, `${first}.${second}.${third}`, scope)
  if (deep) return { value: deep, used: 3 }
  const nested = typeof second === 'string' ? sourceColumn(source, `${first}.${second}`, scope) : undefined
  if (nested) return { value: nested, used: 2 }
  // `person.email` is no short form of anything: only what is listed of a joined object exists.
  if (chain.length > 1 && isObject(source, first)) return undefined
  const plain = sourceColumn(source, first, scope)
  if (!plain) return undefined
  if (first !== 'properties' || chain.length !== 2 || typeof second !== 'string')
    return { value: plain, used: 1 }
  const value = propertyColumn(source, second, plain, scope)
  return value ? { value, used: 2 } : { value: plain, used: 1 }
}

/** A property of events as a column; undefined when it is to be read out of the JSON here. */
function propertyColumn(source: Source, property: string, json: Value, scope: Scope): Value | undefined {
  if (!isEvents(source) || !('table' in source.from)) return undefined
  const { dialect, hot, in_json, askFor } = scope.compilation
  const value = (column: string): Value => ({
    sql: `${source.alias}.${column}`,
    type: { kind: 'property' },
    path: { json: json.sql, keys: [property] },
  })
  const stored = HOT.get(property)
  if (stored !== undefined) {
    hot.add(property)
    return value(stored)
  }
  if (dialect.asked_events === null || !mayHaveColumn(property)) {
    in_json.add(property)
    return undefined
  }
  source.from.asked.isUsed = true
  const only = (values: readonly string[]) => `${source.alias}.${askFor(property, values)}`
  return { ...value(askFor(property, null)), only }
}

/**
 * A property of an event's person or group as a column. It is read once for each of them, before the join: there are far
 * more events, and their JSON stays out of the join. Undefined where it is to be read out of the JSON here.
 */
function joinedProperty(source: Source, chain: readonly Key[], scope: Scope): Value | undefined {
  const [name, key] = [chain.slice(0, -1).join('.'), chain.at(-1)]
  const { dialect } = scope.compilation
  if (dialect.engine !== 'duckdb' || !('table' in source.from) || typeof key !== 'string') return undefined
  const column = TABLES[source.from.table].columns.get(name)
  if (!column || !('joined' in column) || !mayBeRead(column.joined)) return undefined
  const { read } = source.from
  const known = [...read].find(([, one]) => one.joined === column.joined && one.key === key)
  const sql_name = known?.[0] ?? `${column.joined}_${read.size + 1}`
  read.set(sql_name, { joined: column.joined, key })
  const json = sourceColumn(source, name, scope)!.sql
  return {
    sql: `${source.alias}.${sql_name}`,
    type: { kind: 'property' },
    path: { json, keys: [key] },
    estimate: 1,
  }
}

const isEvents = ({ from }: Source) => 'table' in from && TABLES[from.table].physical === 'events'
const isObject = ({ from }: Source, name: string) =>
  'table' in from && [...TABLES[from.table].columns.keys()].some((column) => column.startsWith(`${name}.`))

export function sourceColumn(source: Source, name: string, scope: Scope): Value | undefined {
  const { from, alias } = source
  if ('sql' in from) {
    const column = from.columns.get(name)
    return (
      column && {
        sql: `${alias}.${column.column}`,
        type: certainIn(scope, column.type),
        estimate: column.estimate,
      }
    )
  }
  const column = TABLES[from.table].columns.get(name)
  if (!column) return undefined
  if ('column' in column)
    return {
      sql: `${alias}.${column.column}`,
      type: certainIn(scope, withCertainty(column.type, column.type.kind !== 'property')),
      estimate: estimateOfColumn(column.type),
    }
  if ('session' in column) {
    from.session.add(column.session)
    return { sql: `${alias}.${sessionColumn(column.session)}`, type: column.type }
  }
  if ('joined' in column) {
    from.joined.add(column.joined)
    return { sql: `${alias}.${column.joined}`, type: column.type, estimate: estimateOfColumn(column.type) }
  }
  const { context, resolve } = scope.compilation
  if ('is_project_id' in column) return resolve({ node: 'Constant', value: context.project_id }, scope)
  const nothing = { aliases: new Map(), names: new Map(), lambda_names: new Map() }
  // Its parts are no loose columns beside the one that was named.
  const own = { ...scope, ...nothing, sources: [source], in_aggregate: true }
  const value = resolve(column.derived, own)
  return column.type ? { ...value, type: column.type } : value
}

/** Joins leave NULL where they find nothing. */
const certainIn = ({ sources }: Scope, type: Type): Type =>
  sources.length > 1 ? withCertainty(type, false) : type

export const starOf = ({ from }: Source): Iterable<string> =>
  'sql' in from ? from.columns.keys() : TABLES[from.table].star

function fromSources(field: Field, scope: Scope): Value | undefined {
  const [first, ...rest] = field.chain
  const qualified = scope.sources.find(({ name }) => name !== null && name === first)
  if (qualified && rest.length > 0) {
    const value = fromSource(qualified, rest, field, scope)
    if (value) return value
  }
  const name = scope.names.get(String(first))
  if (name) {
    if (!scope.in_aggregate) scope.grouping.loose.push(field)
    return walk(name, rest, field, scope)
  }
  const holders = scope.sources.filter((source) => findColumn(withoutJoins(source), field.chain, scope))
  if (holders.length > 1) {
    const names = holders.flatMap((source) => source.name ?? []).join(', ')
    throw queryError(
      `'${field.chain.join('.')}' is ambiguous: it could be of ${names || 'several tables'}`,
      field,
    )
  }
  return holders[0] && fromSource(holders[0], field.chain, field, scope)
}

/** A column of the query round this one, in whose row the subquery is asked. */
function fromRow(field: Field, scope: Scope): Value | undefined {
  for (let at = scope.row; at; at = at.row) {
    const { keys, loose } = at.grouping
    const before = loose.length
    const value = fromSources(field, at)
    if (value && keys.has(value.sql)) loose.length = before
    if (value) return value
  }
  return undefined
}

const NOTHING_JOINED = () => ({
  joined: new Set<string>(),
  session: new Set<string>(),
  read: new Map<string, never>(),
  asked: { isUsed: false },
})

/** For looking only: nothing is joined because of it. */
const withoutJoins = (source: Source): Source =>
  'table' in source.from ? { ...source, from: { ...source.from, ...NOTHING_JOINED() } } : source

function fromAlias(name: string, field: Field, scope: Scope, before: number): Value | undefined {
  const alias = scope.aliases.get(name)
  const isSource = field.chain.length > 1 && scope.sources.some((source) => source.name === name)
  if (!alias || alias.index >= before || alias.busy || isSource) return undefined
  if (!alias.done) {
    alias.busy = true
    const grouping = { keys: scope.grouping.keys, loose: [], aggregates: 0, windows: 0 }
    const value = scope.compilation.resolve(alias.expr, {
      ...scope,
      grouping,
      lambda_names: new Map(),
      place: 'select',
      aliases_before: alias.index,
      in_aggregate: false,
    })
    alias.busy = false
    alias.done = {
      value,
      loose: grouping.loose,
      aggregated: grouping.aggregates > 0,
      windowed: grouping.windows > 0,
    }
  }
  const { value, loose, aggregated, windowed } = alias.done
  const isTooEarly = windowed && !WITH_WINDOWS.has(scope.place)
  if (isTooEarly || (aggregated && (scope.in_aggregate || WITHOUT_AGGREGATES.has(scope.place)))) {
    const column = fromSources(field, scope)
    if (column) return column
    throw queryError(
      `'${name}' is ${aggregated ? 'an aggregate' : 'a window function'} and cannot be used here`,
      field,
    )
  }
  if (!scope.in_aggregate) scope.grouping.loose.push(...loose)
  if (aggregated) scope.grouping.aggregates++
  if (windowed) scope.grouping.windows++
  return walk(value, field.chain.slice(1), field, scope)
}

function fromColumnCte(name: string, field: Field, scope: Scope): Value | undefined {
  const cte = findNamedQuery(scope, name)
  if (cte?.kind !== 'column' || scope.expanding.has(name)) return undefined
  const expanding = new Set([...scope.expanding, name])
  const value = scope.compilation.resolve(cte.expr, { ...scope, expanding })
  return walk(value, field.chain.slice(1), field, scope)
}

const walk = (value: Value, keys: readonly Key[], field: Field, scope: Scope): Value =>
  keys.reduce((at, key) => access(at, key, scope.compilation.dialect, field), value)

function unknownField(field: Field, scope: Scope): never {
  const name = field.chain.join('.')
  const [first, ...rest] = field.chain
  const isIn = (source: Source, at: Scope) =>
    findColumn(withoutJoins(source), source.name === first ? rest : field.chain, at) !== undefined
  const isOuter = (at: Scope | null): boolean =>
    at !== null && (at.sources.some((source) => isIn(source, at)) || isOuter(at.outer))
  if (field.chain[0] !== 'team_id' && isOuter(scope.outer)) {
    throw queryError(
      `Unknown field '${name}': a query in FROM, WITH, ON or IN cannot use the columns of the query round it`,
      field,
    )
  }
  const known = scope.sources.flatMap(({ from }) =>
    'sql' in from ? [...from.columns.keys()] : [...TABLES[from.table].columns.keys()],
  )
  // A column may be called by the name that nobody knows.
  const others = [...known, ...scope.aliases.keys()].filter((other) => other !== name)
  const properties = others
    .filter((other) => rest.length > 0 && /(?:^|\.)properties$/.test(other))
    .map((other) => `${other}.${field.chain.at(-1)}`)
  throw unknownName('field', name, [...others, ...properties], field)
}
