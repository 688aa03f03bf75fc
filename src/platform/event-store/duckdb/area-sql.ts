// The statement that measures areas of the plane of positions and times: one read of the rows for all of them.
import type { Area, ExportRows, Parameter } from '../event-store.ts'
import type { Statement } from './export-sql.ts'
import { columnAt } from './line-sql.ts'

/** Answers with one row: for each area how many rows it has, and its first and last time in milliseconds since 1970. */
export function areasSql({ sql, parameters }: ExportRows, areas: readonly Area[]): Statement {
  const bound: Parameter[] = [...parameters]
  const mark = (value: number) => `$${bound.push(value)}`
  const time = columnAt(0)
  const condition = ({ seq_from, seq_to, time_from, time_to }: Area) =>
    [
      `r.position > ${mark(seq_from)}`,
      `r.position <= ${mark(seq_to)}`,
      ...(time_from === null ? [] : [`${time} >= epoch_ms(${mark(time_from.getTime())}::BIGINT)`]),
      ...(time_to === null ? [] : [`${time} < epoch_ms(${mark(time_to.getTime())}::BIGINT)`]),
    ].join(' AND ')
  const figures = areas.map((area) => {
    const inArea = `FILTER (WHERE ${condition(area)})`
    return `count(*) ${inArea}, epoch_ms(min(${time}) ${inArea}), epoch_ms(max(${time}) ${inArea})`
  })
  // Blocks of the table outside of this are not read.
  const around = condition(hullOf(areas))
  return { sql: `SELECT ${figures.join(', ')} FROM (${sql}) AS r WHERE ${around}`, parameters: bound }
}

/** The smallest area around all of them. */
function hullOf(areas: readonly Area[]): Area {
  return areas.reduce((hull, area) => ({
    seq_from: Math.min(hull.seq_from, area.seq_from),
    seq_to: Math.max(hull.seq_to, area.seq_to),
    time_from: farther(hull.time_from, area.time_from, Math.min),
    time_to: farther(hull.time_to, area.time_to, Math.max),
  }))
}

function farther(
  one: Date | null,
  other: Date | null,
  choose: (one: number, other: number) => number,
): Date | null {
  return one && other && new Date(choose(one.getTime(), other.getTime()))
}
