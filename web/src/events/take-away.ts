// Events taken elsewhere: as a CSV file, or as a statement for the SQL page.
import { answer, api } from '../api/client'
import { columnExpression } from './columns'
import type { EventsQuestion } from './queries'
import { filterQuery } from './search'

/** What one file holds at most; the API gives no more at once. */
export const MOST_IN_FILE = 50_000
const SHOWN_IN_SQL = 100

const selected = (columns: readonly string[]) => [
  'timestamp',
  'event',
  'distinct_id',
  ...columns.map(columnExpression),
]

/** Without columns whole events, with a column for each property. */
export async function eventsFile(question: EventsQuestion, columns: readonly string[] | null): Promise<Blob> {
  const { projectId, filters, personId, after, before } = question
  const query = {
    ...filterQuery(filters, personId),
    limit: MOST_IN_FILE,
    ...(after === undefined ? {} : { after }),
    ...(before === undefined ? {} : { before }),
    ...(columns === null ? {} : { select: JSON.stringify(selected(columns)) }),
  }
  const path = { project_id: projectId }
  return answer(
    api.GET('/api/projects/{project_id}/events.csv', { params: { path, query }, parseAs: 'blob' }),
  )
}

export function save(file: Blob, name: string): void {
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has taken hold of it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** The server knows best how its filters read in HogQL. */
export async function eventsStatement(question: EventsQuestion, columns: readonly string[]): Promise<string> {
  const { projectId, filters, personId, after, before } = question
  const { hogql } = await answer(
    api.POST('/api/projects/{project_id}/query/', {
      params: { path: { project_id: projectId } },
      body: {
        query: {
          kind: 'EventsQuery',
          select: selected(columns),
          properties: filters,
          orderBy: ['timestamp DESC'],
          limit: SHOWN_IN_SQL,
          ...(personId === undefined ? {} : { personId }),
          ...(after === undefined ? {} : { after }),
          ...(before === undefined ? {} : { before }),
        },
      },
    }),
  )
  return hogql ?? ''
}
