// GET …/events/: from its parameters to a page of events, or to the rows that `select` asks for.
import { formatMicros } from '../../../lib/microseconds.ts'
import type { Db } from '../../../platform/db/database.ts'
import { callerId, type Caller } from '../../../platform/http/caller.ts'
import type { RequestFacts } from '../../../platform/http/route.ts'
import type { Services } from '../../../platform/services.ts'
import { namingField, type AskedProject } from '../run-query.ts'
import { answerCsv, answerJsonList } from '../answer.ts'
import { cellsOfRecord } from './csv.ts'
import { assertConditions, conditionsOf, readFilters, type AskedFilters } from './filters.ts'
import { findPage, nextPlace, placeOf, type EventsPage, type PageQuestion } from './page.ts'
import {
  assertNearOffset,
  fixedEnds,
  questionIn,
  readDirection,
  readFormat,
  readLimit,
  readOffset,
  readOrder,
  readRange,
  readTexts,
  type Format,
  type GivenQuery,
} from './parameters.ts'
import { recordCells, recordText, SCALAR_FIELDS, weightOfRow } from './record.ts'
import { findPersonsOfRows } from './rows.ts'
import { selectEvents, weightOfValues, type SelectedEvents } from './select.ts'
import type { Range } from './window.ts'

export type ListContext = {
  services: Services
  db: Db
  caller: Caller
  project: AskedProject
  request: RequestFacts
  query: GivenQuery
  now: Date
}

/** What both kinds of list take. */
type Asked = AskedFilters & { range: Range; limit: number; offset: number }

const DEFAULT_LIMITS = { json: 100, csv: 3500 }

export async function listEvents(context: ListContext, suffix: Format | null) {
  const { query, request } = context
  const format = readFormat(query, request.headers, suffix)
  const asked = readAsked(context, format)
  const select = readTexts(query, 'select')
  return select === null ? listRecords(context, asked, format) : listSelected(context, asked, select, format)
}

function readAsked({ query, project, now }: ListContext, format: Format): Asked {
  const clock = { now, timezone: project.timezone }
  const range = readRange(query, clock)
  const limit = readLimit(query, DEFAULT_LIMITS[format])
  const offset = readOffset(query)
  return { range, limit, offset, ...readFilters(query, clock) }
}

async function listRecords(context: ListContext, asked: Asked, format: Format) {
  const { services, db, project, request, query } = context
  const direction = readDirection(query)
  const conditions = await conditionsOf(db, project.id, asked)
  const question = { ...asked, conditions, direction, signal: request.signal }
  const { rows, has_more } = await namingField(
    () => findOwnPage(context, question),
    () => assertConditions(services, project, asked),
  )
  const persons = await findPersonsOfRows(db, project.id, rows)
  if (format === 'csv') {
    return answerCsv({
      rows,
      weightOf: weightOfRow,
      cellsOf: (row) => [recordCells(row, persons)],
      header_of_nothing: SCALAR_FIELDS,
    })
  }
  const last = has_more ? rows.at(-1) : undefined
  const next = last && { ...fixedEnds(query, asked.range), ...nextPlace(last, direction) }
  return answerJsonList({
    rows,
    weightOf: weightOfRow,
    textOf: (row) => recordText(row, persons),
    beside: { next: next ? request.urlWith(next) : null },
  })
}

/** The caller's next page by offset begins where this one ends, whatever comes in meanwhile. */
async function findOwnPage(context: ListContext, question: PageQuestion): Promise<EventsPage> {
  const { services, project, query, now } = context
  const caller = callerId(context.caller)
  const asked = [project.id, questionIn(query)]
  const { offset } = question
  const place = offset > 0 ? services.pagePlaces.find(caller, asked, offset, now) : undefined
  const page = await findPage(services, project, { ...question, place })
  const last = page.rows.at(-1)
  if (last) services.pagePlaces.keep(caller, asked, offset + page.rows.length, placeOf(last), now)
  return page
}

/** Rows of values have no place in time, so their pages go by offset; the end of the range stays where it was. */
async function listSelected(context: ListContext, asked: Asked, select: readonly string[], format: Format) {
  const { services, project, request, query } = context
  const { range, filters, ...rest } = asked
  assertNearOffset(asked.offset)
  const selection = {
    ...rest,
    select,
    orderBy: readOrder(query),
    attr_prefix: '' as const,
    signal: request.signal,
  }
  const selected = await selectEvents(services, project, range, filters, selection)
  if (format === 'csv') return answerCsv(csvOf(selected))
  const { columns, types, results, hasMore, limit, offset } = selected
  const next = {
    before: formatMicros(range.before.micros),
    ...fixedEnds(query, range),
    offset: String(offset + limit),
  }
  return answerJsonList({
    rows: results,
    weightOf: weightOfValues,
    textOf: (row) => JSON.stringify(row),
    beside: { next: hasMore ? request.urlWith(next) : null, columns, types, hasMore },
  })
}

/** Columns in the order asked for; what is nested in one is spread out beside it. */
function csvOf({ columns, results }: SelectedEvents) {
  return {
    rows: results,
    weightOf: weightOfValues,
    header_of_nothing: columns,
    cellsOf: (row: readonly unknown[]) =>
      row.map((value, index) => cellsOfRecord({ [columns[index]!]: value })),
  }
}
