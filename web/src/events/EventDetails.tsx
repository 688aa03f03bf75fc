// One event whole: when, who, every property, what was clicked.
import { Button, Group, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { answer, api } from '../api/client'
import { Icon } from '../ui/Icon'
import { done } from '../ui/notify'
import { PropertyTable } from '../ui/PropertyTable'
import { Failed, Loading } from '../ui/States'
import { TextLink } from '../ui/TextLink'
import { Copyable, Time } from '../ui/Values'
import { personName } from './columns'
import classes from './EventDetails.module.css'
import type { Filter } from './filter'
import { eventQuery, type StoredEvent } from './queries'

type Props = {
  projectId: string
  id: string
  /** The event, where a list has it already. */
  known: StoredEvent | undefined
  onFilter?: (filter: Filter) => void
}

export function EventDetails({ projectId, id, known, onFilter }: Props) {
  const query = useQuery({ ...eventQuery(projectId, id), ...(known ? { initialData: known } : {}) })
  if (query.isPending) return <Loading />
  if (query.isError)
    return (
      <Failed error={query.error} what="The event could not be shown." onRetry={() => void query.refetch()} />
    )
  const event = query.data as StoredEvent
  const byProperty =
    onFilter &&
    ((key: string, value: string) => onFilter({ type: 'event', key, operator: 'exact', value: [value] }))
  return (
    <>
      <dl className={classes.facts}>
        <Fact name="Time">
          <Time value={event.timestamp} style="second" />
        </Fact>
        <Fact name="Person">
          <PersonLink projectId={projectId} event={event} />
        </Fact>
        <Fact name="Distinct id">
          <Copyable value={event.distinct_id} />
        </Fact>
        <Fact name="Id">
          <Copyable value={event.id} />
        </Fact>
      </dl>
      <Group gap="sm" className={classes.actions}>
        <CopyButtonWithWords
          label="Copy link"
          text={() => location.href}
          said="The link to this event is copied."
          icon="copy"
        />
        <CopyButtonWithWords
          label="Copy as JSON"
          text={() => JSON.stringify(event, null, 2)}
          said="The event is copied."
          icon="code"
        />
      </Group>
      <Title order={2} className={classes.title}>
        Properties
      </Title>
      <PropertyTable label="Properties of the event" properties={event.properties} onFilter={byProperty} />
      {event.elements.length > 0 && <Elements elements={event.elements} />}
    </>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={classes.fact}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function PersonLink({ projectId, event }: { projectId: string; event: StoredEvent }) {
  const { distinct_id, person } = event
  const found = useQuery({
    queryKey: ['person of', projectId, distinct_id],
    enabled: person !== null,
    async queryFn({ signal }) {
      const params = { path: { project_id: projectId }, query: { distinct_id, limit: 1 } }
      const { results } = await answer(api.GET('/api/projects/{project_id}/persons/', { params, signal }))
      return results[0]?.uuid ?? null
    },
  })
  if (person === null) return <span className="quiet">none: the event asked for no profile</span>
  if (typeof found.data !== 'string') return <>{personName(event)}</>
  return (
    <TextLink to="/project/$projectId/persons/$personId" params={{ projectId, personId: found.data }}>
      {personName(event)}
    </TextLink>
  )
}

type CopyProps = { label: string; text: () => string; said: string; icon: 'copy' | 'code' }

function CopyButtonWithWords({ label, text, said, icon }: CopyProps) {
  const copy = async () => {
    await navigator.clipboard.writeText(text())
    done(said)
  }
  return (
    <Button variant="default" leftSection={<Icon name={icon} size={14} />} onClick={() => void copy()}>
      {label}
    </Button>
  )
}

function Elements({ elements }: { elements: StoredEvent['elements'] }) {
  return (
    <>
      <Title order={2} className={classes.title}>
        What was clicked
      </Title>
      <ol className={classes.elements}>
        {elements.map((element) => (
          <li key={element.order} className="mono">
            {element.tag_name}
            {element.attr_id ? `#${element.attr_id}` : ''}
            {(element.attr_class ?? []).map((name) => `.${name}`).join('')}
            {element.text ? <span className="quiet"> {element.text}</span> : null}
          </li>
        ))}
      </ol>
    </>
  )
}
