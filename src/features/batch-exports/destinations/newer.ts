// Which of two rows of one person or session is the newer one, in SQL that every database reads.
import type { Model } from '../definition.ts'

/**
 * Columns in the order in which they decide. A distinct id goes from person to person, and each person counts changes anew:
 * its own version comes first. Events that come late make a session larger, also when they do not move its end.
 */
export const VERSIONS: Record<Exclude<Model, 'events'>, readonly string[]> = {
  persons: ['person_distinct_id_version', 'person_version'],
  sessions: [
    'end_timestamp',
    'session_duration',
    'pageview_count',
    'autocapture_count',
    'screen_count',
    'num_uniq_urls',
  ],
}

/** Without these nothing tells. A repair goes by them alone: it heals the others. */
export const NEEDED_VERSIONS: Record<Exclude<Model, 'events'>, readonly string[]> = {
  persons: VERSIONS.persons,
  sessions: ['end_timestamp'],
}

/** Those of them that a table has. */
export function versionsIn(
  names: readonly string[],
  { model, is_repair }: { model: Exclude<Model, 'events'>; is_repair: boolean },
): string[] {
  return (is_repair ? NEEDED_VERSIONS : VERSIONS)[model].filter((name) => names.includes(name))
}

/** A condition; `columns` as SQL. It holds for no row that lacks a value. */
export function isNewer(columns: readonly string[], one: string, other: string): string {
  const ways = columns.map((column, index) =>
    [
      ...columns.slice(0, index).map((equal) => `${one}.${equal} = ${other}.${equal}`),
      `${one}.${column} > ${other}.${column}`,
    ].join(' AND '),
  )
  return `(${ways.join(' OR ')})`
}
