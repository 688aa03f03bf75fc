// What an export would do, asked while it is being described.
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { answer, api, type Schema } from '../../api/client'
import type { Destination } from '../queries'
import { namesOfSecrets } from './fields'
import { isUnfinished } from './filters'
import { bodyOf, type Values } from './values'

export type PreviewFault = { code: string; detail: string; attr: string | null }
export type PreviewPart = 'columns' | 'rows' | 'files' | 'ddl' | 'next_runs'
type Preview = Omit<Schema<'BatchExportPreview'>, 'errors'> & {
  errors: Partial<Record<PreviewPart, PreviewFault>>
}
const TYPING_MS = 500

/** Secrets are not sent: nobody is called for a preview. */
export function usePreview(projectId: string, values: Values, kind: Destination | undefined) {
  const [settled] = useDebouncedValue(values, TYPING_MS)
  const body = kind === undefined ? null : withoutSecrets(bodyOf(previewed(settled), kind), kind)
  return useQuery({
    queryKey: ['export preview', projectId, body],
    enabled: body !== null && settled.type === kind?.type,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }): Promise<Preview> =>
      answer(
        api.POST('/api/projects/{project_id}/batch_exports/preview/', {
          params: { path: { project_id: projectId } },
          body: body!,
          signal,
        }),
      ),
  })
}

/** What is not typed to its end is left out: a complaint about it would come before anybody could type it. */
const previewed = (values: Values): Values => ({
  ...values,
  name: values.name || 'Preview',
  filters: values.filters.filter((filter) => !isUnfinished(filter)),
})

function withoutSecrets(body: ReturnType<typeof bodyOf>, kind: Destination) {
  const secrets = namesOfSecrets(kind.config)
  const config = Object.fromEntries(
    Object.entries(body.destination.config).filter(([name]) => !secrets.includes(name)),
  )
  return { ...body, destination: { ...body.destination, config } }
}
