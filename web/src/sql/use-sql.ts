// The state of the page: the text being typed, the query of the address with its answer, and what is wrong with either.
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useLocation } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { answer, api, type Schema } from '../api/client'
import { toFailure, type Failure } from '../api/failure'
import { useMe } from '../api/me'
import { addressOf, askedIn, type SqlSearch } from './address'
import { historyKey, remember } from './history'
import type { Result } from './result'

const route = getRouteApi('/frame/project/$projectId/sql')
const CHECK_AFTER_MS = 350

export type Answered = Result & { ms: number; hasMore: boolean; limit: number }

/** What is wrong with a text, and where. */
export type Fault = { message: string; from: number; to: number; instead: string | null }

export function useSql() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const hash = useLocation({ select: (location) => location.hash })
  const { projectId } = route.useParams()
  const queries = useQueryClient()
  const past = historyKey(useMe().uuid, projectId)
  const asked = askedIn(search, hash)
  const [text, setText] = useDraft(projectId, asked)

  const queryKey = ['sql', projectId, asked]
  const run = useQuery({
    queryKey,
    enabled: asked !== undefined,
    staleTime: Infinity,
    retry: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    queryFn: ({ signal }) => runQuery(projectId, asked!, past, signal),
  })
  const check = useCheck(projectId, text)
  const failure = run.error === null ? null : toFailure(run.error)
  // While it runs, what it answered before is not what is asked.
  const isRunning = run.isFetching
  // What was asked needs no second opinion.
  const fault = text !== asked ? check : failure === null ? null : faultOf(failure)

  return {
    search,
    projectId,
    pastKey: past,
    text,
    setText,
    asked,
    fault,
    result: isRunning ? undefined : run.data,
    /** What has no place in the text. */
    failure: isRunning || (failure !== null && faultOf(failure) !== null) ? null : failure,
    isRunning,
    isRefused: !isRunning && failure !== null && faultOf(failure) !== null,
    runText(next: string) {
      if (next.trim() === '') return
      setText(next)
      if (next === asked) void run.refetch()
      else void navigate(addressOf(next))
    },
    cancel: () => void queries.cancelQueries({ queryKey }),
    /** Changes beside the query stay in the entry of the browser's history. */
    show: (change: Partial<Record<keyof SqlSearch, unknown>>, isNewEntry = false) =>
      void navigate({
        search: (before) => cleaned({ ...before, ...change }),
        hash: true,
        replace: !isNewEntry,
      }),
  }
}

export type Sql = ReturnType<typeof useSql>

const cleaned = (search: Record<string, unknown>): SqlSearch =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined))

async function runQuery(
  project_id: string,
  query: string,
  past: string,
  signal: AbortSignal,
): Promise<Answered> {
  const started = performance.now()
  let rows: number | null = null
  try {
    const answered = await answer(
      api.POST('/api/projects/{project_id}/query/', {
        params: { path: { project_id } },
        body: { query: { kind: 'HogQLQuery', query } },
        signal,
      }),
    )
    // Only insights are answered otherwise.
    const { columns, types, results, hasMore, limit } = answered as Schema<'QueryAnswer'>
    rows = results.length
    const typeNames = types.map((type) => (Array.isArray(type) ? String(type[1]) : type))
    return { columns, types: typeNames, rows: results, hasMore, limit, ms: performance.now() - started }
  } finally {
    const ms = Math.round(performance.now() - started)
    if (!signal.aborted) remember(past, { text: query, at: new Date().toISOString(), rows, ms })
  }
}

/** What was typed and not yet run survives a reload; what the address asks goes before. */
function useDraft(projectId: string, asked: string | undefined) {
  const key = `draft:sql:${projectId}`
  const [draft, setDraft] = useState(() => {
    const stored = readDraft(key)
    return stored !== null && stored.asked === asked ? stored.text : (asked ?? '')
  })
  const [shown, setShown] = useState(asked)
  if (shown !== asked) {
    setShown(asked)
    if (asked !== undefined) setDraft(asked)
  }
  useEffect(() => sessionStorage.setItem(key, JSON.stringify({ asked, text: draft })), [key, asked, draft])
  return [draft, setDraft] as const
}

function readDraft(key: string): { asked?: string; text: string } | null {
  try {
    const stored = JSON.parse(sessionStorage.getItem(key) ?? 'null') as {
      asked?: string
      text?: unknown
    } | null
    return typeof stored?.text === 'string' ? { ...stored, text: stored.text } : null
  } catch {
    return null
  }
}

/** While somebody types: of the last text that was checked. */
function useCheck(project_id: string, text: string): Fault | null {
  const [query] = useDebouncedValue(text, CHECK_AFTER_MS)
  const { data } = useQuery({
    queryKey: ['sql-check', project_id, query],
    enabled: query.trim() !== '',
    staleTime: Infinity,
    gcTime: 30_000,
    retry: false,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      answer(
        api.POST('/api/projects/{project_id}/query/check/', {
          params: { path: { project_id } },
          body: { query: { kind: 'HogQLQuery', query } },
          signal,
        }),
      ),
  })
  const error = text.trim() === '' ? undefined : data?.errors[0]
  return useMemo(
    () => (error === undefined ? null : toFault(error.detail, error.start, error.end, error.did_you_mean)),
    [error],
  )
}

function faultOf({ attr, message, extra }: Failure): Fault | null {
  if (attr !== 'query__query') return null
  const { start, end, did_you_mean } = extra as {
    start?: number | null
    end?: number | null
    did_you_mean?: string | null
  }
  return toFault(message, start ?? null, end ?? null, did_you_mean ?? null)
}

function toFault(detail: string, start: number | null, end: number | null, instead: string | null): Fault {
  const from = start ?? 0
  return {
    message: detail.replace(/ \(at character \d+\)(?=\.( |$))/, ''),
    from,
    to: end ?? from + 1,
    instead,
  }
}
