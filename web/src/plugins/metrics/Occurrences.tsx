// One error each time it happened: the line of the source, what was thrown, and the event it happened on.
import { Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { answer, api } from '../../api/client'
import { useProject } from '../../api/me'
import { Empty, Failed, Loading } from '../../ui/States'
import { Time } from '../../ui/Values'
import { keepTriedEvent } from '../code/tried-event'
import { filesQuery, type App } from '../queries'
import { linesAround, positionIn, type Calls } from './categories'
import classes from './MetricsTab.module.css'

const SHOWN = 20
type Details = {
  error?: { name?: string; message?: string; stack?: string }
  event?: Record<string, unknown> | null
}

export function Occurrences({
  projectId,
  app,
  calls,
  type,
}: {
  projectId: string
  app: App
  calls: Calls
  type: string
}) {
  const { organization } = useProject()
  const isOwn = app.plugin_info.organization_id === organization
  const query = useQuery({
    queryKey: ['apps', projectId, String(app.id), 'errors', calls, type],
    queryFn({ signal }) {
      const path = '/api/projects/{project_id}/app_metrics/{plugin_config_id}/error_details/' as const
      const params = {
        path: { project_id: projectId, plugin_config_id: String(app.id) },
        query: { category: calls, error_type: type },
      }
      return answer(api.GET(path, { params, signal }))
    },
  })
  const files = useQuery({ ...filesQuery(organization, app.plugin), enabled: isOwn })
  if (query.isPending) return <Loading />
  if (query.isLoadingError)
    return (
      <Failed
        what="The errors could not be loaded"
        error={query.error}
        onRetry={() => void query.refetch()}
      />
    )
  if (query.data.result.length === 0) return <Empty title="No error of this name is kept" />
  return query.data.result
    .slice(0, SHOWN)
    .map(({ error_uuid, timestamp, error_details }) => (
      <Occurrence
        key={error_uuid}
        projectId={projectId}
        app={app}
        at={timestamp}
        details={error_details as Details}
        source={files.data?.['index.ts']}
      />
    ))
}

type Props = { projectId: string; app: App; at: string; details: Details; source: string | undefined }

function Occurrence({ projectId, app, at, details: { error = {}, event = null }, source }: Props) {
  const navigate = useNavigate()
  const position = positionIn(error.stack ?? '')
  const code = {
    to: '/project/$projectId/apps/$configId/$tab',
    params: { projectId, configId: String(app.id), tab: 'code' },
  } as const
  return (
    <article className={classes.occurrence}>
      <Text size="sm" c="dimmed">
        <Time value={at} style="second" />
      </Text>
      <Text>{error.message}</Text>
      {position !== null && (
        <>
          <Link
            {...code}
            search={{ file: 'index.ts', at: `${position.line}:${position.column}` }}
            className={`mono ${classes.place}`}
          >
            index.ts:{position.line}:{position.column}
          </Link>
          {source !== undefined && (
            <pre className={`${classes.source} mono`} tabIndex={0} aria-label="The line of the source">
              {linesAround(source, position.line).map(({ number, text }) => (
                <div key={number} data-guilty={number === position.line || undefined}>
                  <span className={classes.number}>{number}</span>
                  {text}
                </div>
              ))}
            </pre>
          )}
        </>
      )}
      {event !== null && (
        <>
          <pre className={`${classes.block} mono`} tabIndex={0} aria-label="The event">
            {JSON.stringify(event, null, 2)}
          </pre>
          <Button
            variant="default"
            onClick={() => {
              keepTriedEvent(app.id, JSON.stringify(event, null, 2))
              void navigate(code)
            }}
          >
            Try the code on this event
          </Button>
        </>
      )}
    </article>
  )
}
