// Which events an insight is about: those of a series, and what holds for all of them.
import type { Expr } from '../../../hogql/ast.ts'
import { fillPlaceholders } from '../../../hogql/resolve/placeholders.ts'
import { filterExpression, readPropertyFilters } from '../property-filters.ts'
import { explained } from '../run-query.ts'
import { allOf, compare, constant, eventField } from '../tree.ts'
import type { EventsNode } from './schema.ts'

export type Clock = { now: Date; timezone: string }

/** `given` is the value of the field `attr`. */
export function filtersOf(given: unknown, clock: Clock, attr: string): Expr[] {
  const filters = filterExpression(readPropertyFilters(given ?? [], attr), clock)
  return filters === null ? [] : [withoutNames(filters, attr)]
}

/** Names between braces are those of our own statements: what users write may hold none. */
export const withoutNames = (expr: Expr, attr: string): Expr =>
  explained(attr, () => fillPlaceholders(expr, new Map()))

type Node = Pick<EventsNode, 'event' | 'properties'> & { fixedProperties?: unknown }

/** True for events of the series; `attr` is the series, for errors. */
export function isOf(node: Node, clock: Clock, attr: string): Expr {
  const conditions = [
    ...(node.event ? [compare(eventField('event'), '==', constant(node.event))] : []),
    ...filtersOf(node.properties, clock, `${attr}__properties`),
    ...filtersOf(node.fixedProperties, clock, `${attr}__fixedProperties`),
  ]
  return allOf(conditions) ?? constant(true)
}
