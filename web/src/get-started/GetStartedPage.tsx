// From an empty project to events that go somewhere: four steps that tick themselves.
import { Button, Group, Text } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { answer, api } from '../api/client'
import { useProject } from '../api/me'
import type { StoredEvent } from '../events/queries'
import { CodeBlock } from '../ui/CodeBlock'
import { Page } from '../ui/Page'
import { FirstEvent } from './FirstEvent'
import { useFirstEvent } from './first-event'
import classes from './GetStartedPage.module.css'
import { SampleData } from './SampleData'
import { snippets } from './snippets'
import { Step } from './Step'

const route = getRouteApi('/frame/project/$projectId/get-started')

export function GetStartedPage() {
  const { projectId } = route.useParams()
  const { sdk = 'web' } = route.useSearch()
  const { api_token: token } = useProject()
  const first = useFirstEvent(projectId)
  const [isCopied, setCopied] = useLocalStorage({ key: `snippet-copied:${projectId}`, defaultValue: false })
  const [isSeen, setSeen] = useLocalStorage({ key: `events-seen:${projectId}`, defaultValue: false })
  const hasExport = useHasExport(projectId)
  const all = snippets({ host: location.origin, token })
  const chosen = all.find(({ id }) => id === sdk) ?? all[0]!
  const hasEvents = first.event !== null
  const params = { projectId }

  return (
    <Page title="Get started">
      <ol className={classes.steps}>
        <Step
          number={1}
          title="Connect your product"
          isDone={isCopied || (first.event !== null && !isSample(first.event))}
        >
          <Text c="dimmed" size="sm">
            PostHog’s client libraries work unchanged. The address and the token of this project are filled
            in.
          </Text>
          <nav aria-label="Client libraries" className={classes.kinds}>
            {all.map(({ id, name }) => (
              <Link
                key={id}
                to="/project/$projectId/get-started"
                params={params}
                search={{ sdk: id }}
                replace
                resetScroll={false}
                className={classes.kind}
                aria-current={id === chosen.id ? 'true' : undefined}
              >
                {name}
              </Link>
            ))}
          </nav>
          {chosen.steps.map(({ title, code }) => (
            <CodeBlock
              key={`${chosen.id} ${title}`}
              label={title}
              code={code}
              onCopy={() => setCopied(true)}
            />
          ))}
        </Step>
        <Step number={2} title="Send the first event" isDone={hasEvents}>
          <FirstEvent projectId={projectId} first={first} outcome={chosen.outcome} />
          {!hasEvents && <SampleData projectId={projectId} />}
        </Step>
        <Step number={3} title="Look at what came" isDone={hasEvents && isSeen}>
          <Group gap="sm">
            <LinkButton
              to="/project/$projectId/events"
              projectId={projectId}
              onClick={() => setSeen(true)}
              isMain={hasEvents && !isSeen}
            >
              Open the events
            </LinkButton>
            <LinkButton to="/project/$projectId/sql" projectId={projectId} onClick={() => setSeen(true)}>
              Ask in SQL
            </LinkButton>
          </Group>
        </Step>
        <Step number={4} title="Export them somewhere" isDone={hasExport}>
          <Text c="dimmed" size="sm">
            To a bucket or a warehouse, on a schedule, each event once, with proof that none is missing.
          </Text>
          <Group gap="sm">
            <LinkButton
              to="/project/$projectId/exports/new"
              projectId={projectId}
              isMain={hasEvents && isSeen && !hasExport}
            >
              Create export
            </LinkButton>
          </Group>
        </Step>
      </ol>
    </Page>
  )
}

type LinkButtonProps = {
  to: '/project/$projectId/events' | '/project/$projectId/sql' | '/project/$projectId/exports/new'
  projectId: string
  onClick?: () => void
  /** The one that comes next. */
  isMain?: boolean
  children: string
}

function LinkButton({ to, projectId, onClick, isMain = false, children }: LinkButtonProps) {
  return (
    <Button
      component={Link}
      variant={isMain ? 'filled' : 'default'}
      onClick={onClick}
      {...({ to, params: { projectId } } as object)}
    >
      {children}
    </Button>
  )
}

/** Sample events come from a shop that does not exist (src/features/events/sample): nothing was connected for them. */
const isSample = ({ properties }: StoredEvent): boolean => properties.$host === 'shop.example.com'

function useHasExport(projectId: string): boolean {
  const { data } = useQuery({
    queryKey: ['has export', projectId],
    async queryFn({ signal }) {
      const params = { path: { project_id: projectId }, query: { limit: 1 } }
      return (
        (await answer(api.GET('/api/projects/{project_id}/batch_exports/', { params, signal }))).count > 0
      )
    },
  })
  return data ?? false
}
