// What the proof asks the API.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { answer, api } from '../../api/client'
import { exportKey, pathOf, type Export, type ExportPath, type Verification } from '../queries'
import { PAGE_SIZES } from './lines'

const REFRESH_MS = 10_000
const WATCH_MS = 1_000

export const reconciliationQuery = (path: ExportPath, interval: Export['interval']) =>
  infiniteQueryOptions({
    queryKey: [...exportKey(path), 'reconciliation', interval],
    initialPageParam: 0,
    refetchInterval: REFRESH_MS,
    queryFn: ({ signal, pageParam }) =>
      answer(
        api.GET('/api/projects/{project_id}/batch_exports/{batch_export_id}/reconciliation/', {
          params: { path: pathOf(path), query: { limit: PAGE_SIZES[interval], offset: pageParam } },
          signal,
        }),
      ),
    getNextPageParam: ({ next, results }, _all, offset) =>
      next === null ? undefined : offset + results.length,
  })

export const isVerifying = ({ status }: Pick<Verification, 'status'>): boolean =>
  status === 'Waiting' || status === 'Running'

/** The newest: the one at work, if there is one. */
export const verificationsQuery = (path: ExportPath) =>
  queryOptions({
    queryKey: [...exportKey(path), 'verifications'],
    queryFn: ({ signal }): Promise<{ results: Verification[] }> =>
      answer(
        api.GET('/api/projects/{project_id}/batch_exports/{batch_export_id}/verifications/', {
          params: { path: pathOf(path) },
          signal,
        }),
      ),
    refetchInterval: ({ state }) => (state.data?.results.some(isVerifying) ? WATCH_MS : REFRESH_MS),
  })

export const verificationQuery = (path: ExportPath, id: string) =>
  queryOptions({
    queryKey: [...exportKey(path), 'verification', id],
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/projects/{project_id}/batch_exports/{batch_export_id}/verifications/{id}/', {
          params: { path: { ...pathOf(path), id } },
          signal,
        }),
      ),
  })
