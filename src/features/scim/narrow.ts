// The part of a filter that PostgreSQL can try. Directories ask who has a name, an id or an address, and who is active; the
// rest of a filter is tried on what is left.
import { isUuid } from '../../lib/uuid.ts'
import { joinSql, sql, type Statement } from '../../platform/db/sql.ts'
import type { ResourceType } from './protocol/attributes.ts'
import type { Filter, Path } from './protocol/filter.ts'
import { findPlace } from './protocol/lookup.ts'

/** Conditions by the name of the attribute that is compared with `value`. */
export type Conditions = Record<string, (value: string) => Statement>

/** Every match fulfils `where`; if it is exact, nothing else does. */
export type Narrowed = { where: Statement; is_exact: boolean }

const EVERYTHING = sql`TRUE`

export function narrow(type: ResourceType, filter: Filter | null, conditions: Conditions): Narrowed {
  if (filter === null) return { where: EVERYTHING, is_exact: true }
  if (filter.op === 'and') {
    const parts = filter.filters.map((each) => narrow(type, each, conditions))
    return {
      where: joinSql(
        parts.map(({ where }) => where),
        ' AND ',
      ),
      is_exact: parts.every(({ is_exact }) => is_exact),
    }
  }
  if (filter.op === 'some') return { ...narrowElement(type, filter, conditions), is_exact: false }
  const condition = filter.op === 'eq' ? equality(type, filter.path, filter.value, conditions) : null
  return condition ? { where: condition, is_exact: true } : { where: EVERYTHING, is_exact: false }
}

/** `emails[type eq "work" and value eq "…"]`: one element has to fulfil all of it, so each part has to be there. */
function narrowElement(
  type: ResourceType,
  { path, filter }: Extract<Filter, { op: 'some' }>,
  conditions: Conditions,
): Pick<Narrowed, 'where'> {
  const terms = filter.op === 'and' ? filter.filters.flatMap(termsOf) : [filter]
  const found = terms.flatMap((term) =>
    term.op === 'eq'
      ? (equality(type, { ...path, sub: term.path.attribute }, term.value, conditions) ?? [])
      : [],
  )
  return { where: found.length === 0 ? EVERYTHING : joinSql(found, ' AND ') }
}

function termsOf(filter: Filter): Filter[] {
  return filter.op === 'and' ? filter.filters.flatMap(termsOf) : [filter]
}

/** Null where PostgreSQL cannot tell. */
function equality(
  type: ResourceType,
  path: Path,
  value: string | number | boolean | null,
  conditions: Conditions,
): Statement | null {
  const place = findPlace(type, path)
  if (!place || place.extension !== null || typeof value === 'number' || value === null) return null
  const { attribute, sub } = place
  const inner = sub?.name ?? (attribute.type === 'complex' ? 'value' : null)
  const name = inner === null ? attribute.name : `${attribute.name}.${inner}`
  const text = String(value)
  // Ids are compared with case, which PostgreSQL does not do.
  if (name === 'id' && (!isUuid(text) || text !== text.toLowerCase())) return sql`FALSE`
  return conditions[name]?.(text) ?? null
}
