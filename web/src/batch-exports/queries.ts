// What the pages about exports ask the API, and how often they ask again.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { answer, api, type Schema } from '../api/client'

export type Export = Omit<Schema<'BatchExport'>, 'destination'> & {
  destination: Pick<Schema<'BatchExport'>['destination'], 'type' | 'config'>
}
export type ExportStatus = Schema<'BatchExportStatus'>
export type Run = Schema<'BatchExportRun'>
export type Backfill = Schema<'BatchExportBackfill'>
export type Verification = Schema<'BatchExportVerification'>
export type IntervalAccount = Schema<'BatchExportIntervalAccount'>
export type Destination = Schema<'BatchExportDestinationDescription'>
export type LogEntry = Schema<'BatchExportLogEntry'>

/** As many as the strip of an export shows. */
export const STRIP_RUNS = 24
const REFRESH_MS = 10_000
const CALENDAR_MONTHS = 3

export type ExportPath = { projectId: string; exportId: string }
export const pathOf = ({ projectId, exportId }: ExportPath) => ({
  project_id: projectId,
  batch_export_id: exportId,
})
export const itemOf = ({ projectId, exportId }: ExportPath) => ({ project_id: projectId, id: exportId })

/** Everything about the exports of a project starts with this key, so that a change refreshes all of it. */
export const exportsKey = (projectId: string) => ['exports', projectId] as const
export const exportKey = ({ projectId, exportId }: ExportPath) =>
  [...exportsKey(projectId), exportId] as const

export const statusQuery = (projectId: string) =>
  queryOptions({
    queryKey: [...exportsKey(projectId), 'status'],
    refetchInterval: REFRESH_MS,
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/projects/{project_id}/batch_exports/status/', {
          params: { path: { project_id: projectId }, query: { recent_runs: STRIP_RUNS } },
          signal,
        }),
      ),
  })

export const destinationsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['destinations', projectId],
    staleTime: Infinity,
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/projects/{project_id}/batch_exports/destinations/', {
          params: { path: { project_id: projectId } },
          signal,
        }),
      ),
  })

export const exportQuery = (path: ExportPath) =>
  queryOptions({
    queryKey: [...exportKey(path), 'export'],
    refetchInterval: REFRESH_MS,
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/projects/{project_id}/batch_exports/{id}/', { params: { path: itemOf(path) }, signal }),
      ),
  })

export type RunFilter = { status: readonly string[]; after: string }

/** Pages are found by the cursor that the one before ends with. */
export const runsQuery = (path: ExportPath, { status, after }: RunFilter) =>
  infiniteQueryOptions({
    queryKey: [...exportKey(path), 'runs', status, after],
    initialPageParam: undefined as string | undefined,
    refetchInterval: REFRESH_MS,
    queryFn: ({ signal, pageParam }) =>
      answer(
        api.GET('/api/projects/{project_id}/batch_exports/{batch_export_id}/runs/', {
          params: {
            path: pathOf(path),
            query: {
              after,
              ...(status.length === 0 ? {} : { status: [...status] as Run['status'][] }),
              ...(pageParam === undefined ? {} : { cursor: pageParam }),
            },
          },
          signal,
        }),
      ),
    getNextPageParam: ({ next }) => cursorOf(next),
  })

export const runQuery = (path: ExportPath, runId: string) =>
  queryOptions({
    queryKey: [...exportKey(path), 'run', runId],
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/projects/{project_id}/batch_exports/{batch_export_id}/runs/{id}/', {
          params: { path: { ...pathOf(path), id: runId } },
          signal,
        }),
      ),
  })

export const backfillsQuery = (path: ExportPath) =>
  infiniteQueryOptions({
    queryKey: [...exportKey(path), 'backfills'],
    initialPageParam: undefined as string | undefined,
    refetchInterval: REFRESH_MS / 2,
    queryFn: ({ signal, pageParam }) =>
      answer(
        api.GET('/api/projects/{project_id}/batch_exports/{batch_export_id}/backfills/', {
          params: { path: pathOf(path), query: pageParam === undefined ? {} : { cursor: pageParam } },
          signal,
        }),
      ),
    getNextPageParam: ({ next }) => cursorOf(next),
  })

/** What is exported of each day, as far back as a calendar shows. */
export const daysQuery = (path: ExportPath) =>
  queryOptions({
    queryKey: [...exportKey(path), 'days'],
    staleTime: REFRESH_MS,
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/projects/{project_id}/batch_exports/{batch_export_id}/reconciliation/days/', {
          params: { path: pathOf(path), query: { after: firstDayOfCalendar(new Date()) } },
          signal,
        }),
      ),
  })

function firstDayOfCalendar(today: Date): string {
  return new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - CALENDAR_MONTHS + 1, 1))
    .toISOString()
    .slice(0, 10)
}

export const nextRunsQuery = (path: ExportPath) =>
  queryOptions({
    queryKey: [...exportKey(path), 'next runs'],
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/projects/{project_id}/batch_exports/{batch_export_id}/next_runs/', {
          params: { path: pathOf(path) },
          signal,
        }),
      ),
  })

/** What a backfill of the range would deliver. */
export const estimateQuery = (path: ExportPath, range: { start_at: string | null; end_at: string | null }) =>
  queryOptions({
    queryKey: [...exportKey(path), 'estimate', range],
    queryFn: ({ signal }) =>
      answer(
        api.POST('/api/projects/{project_id}/batch_exports/{batch_export_id}/backfills/estimate/', {
          params: { path: pathOf(path) },
          body: range,
          signal,
        }),
      ),
  })

/** Where the newest interval with a run ended, or now: nothing later can be asked for. */
export function lastEndOf({ latest_runs }: Pick<Export, 'latest_runs'>): string {
  const ends = latest_runs.map(({ data_interval_end }) => data_interval_end).sort()
  return ends.at(-1) ?? new Date().toISOString()
}

/** A link of the API to its next page, as what the console asks for. */
export function cursorOf(next: string | null): string | undefined {
  return next === null ? undefined : (new URL(next).searchParams.get('cursor') ?? undefined)
}
