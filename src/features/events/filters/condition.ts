// What the parts of a property filter hand to each other: conditions that become trees once the query is known.
import type { Expr } from '../../../hogql/ast.ts'
import { invalid, type ApiError } from '../../../platform/http/errors.ts'
import { field } from '../tree.ts'

export type FilterContext = {
  now: Date
  /** The project's zone: relative dates are counted in it. */
  timezone: string
  /** How the query names its events; null when it may call them anything. `events` unless told. */
  table?: string | null
}

/** Waits for the query it is to stand in. */
export type Condition = (context: FilterContext) => Expr

/** What a filter looks at: an expression that may be NULL. */
export type Subject = {
  expr: Expr
  /** An instant in itself, not a text that may hold one. */
  is_time?: true
}

/** True where the subject passes; anything else, NULL included, where it does not. */
export type Test = (subject: Subject, context: FilterContext) => Expr

/** The error for something wrong with the filter: its sentence is the argument. */
export type Complain = (detail: string) => ApiError

export function complainAbout(attr: string): Complain {
  return (detail) => invalid(attr, 'invalid_input', detail)
}

/** A column of the events; a chain, since it may go on into an object. */
export function eventColumn({ table = 'events' }: FilterContext, ...chain: string[]): Expr {
  return table === null ? field(...chain) : field(table, ...chain)
}
