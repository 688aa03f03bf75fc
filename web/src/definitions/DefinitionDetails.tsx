// One definition: what is known of it, what people say of it, and the way out of the catalogue.
import { Group, NativeSelect, Stack, Switch, TagsInput, Text, Textarea, Title, Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { eventIs } from '../events/filter'
import { Confirm } from '../ui/Confirm'
import { Facts } from '../ui/Facts'
import { useForm } from '../ui/form'
import { FormProblem } from '../ui/FormProblem'
import { done } from '../ui/notify'
import { TextLink } from '../ui/TextLink'
import { Unsaved } from '../ui/Unsaved'
import { Copyable, Count, Time } from '../ui/Values'
import {
  changeDefinition,
  definitionsKey,
  isEvent,
  listsKey,
  removeDefinition,
  type Definition,
  type PropertyDefinition,
} from './queries'
import type { Tab } from './search'

type Props = { projectId: string; tab: Tab; definition: Definition; onGone: () => void }

const TYPES = ['String', 'Numeric', 'Boolean', 'DateTime', 'Duration'] as const

export function DefinitionDetails({ projectId, tab, definition, onGone }: Props) {
  const { name, updated_at } = definition
  return (
    <Stack gap="xl">
      <Facts facts={factsOf(definition)} />
      {isEvent(definition) && (
        <TextLink
          to="/project/$projectId/events"
          params={{ projectId }}
          search={{ filters: [eventIs(name)] }}
        >
          Show these events
        </TextLink>
      )}
      <Notes key={String(updated_at)} projectId={projectId} tab={tab} definition={definition} />
      <Removal projectId={projectId} definition={definition} onGone={onGone} />
    </Stack>
  )
}

function factsOf(definition: Definition) {
  const { name, verified_by, verified_at, updated_by } = definition
  const facts: [string, ReactNode][] = [['Name', <Copyable key="name" value={name} />]]
  if (isEvent(definition))
    facts.push(
      ['Events', <Count key="volume" value={definition.volume} />],
      ['First seen', <Time key="first" value={definition.created_at} />],
      ['Last seen', <Time key="last" value={definition.last_seen_at} />],
    )
  if (verified_at !== null)
    facts.push([
      'Verified',
      <span key="verified">
        <Time value={verified_at} /> by {verified_by?.email ?? 'a key'}
      </span>,
    ])
  if (updated_by !== null) facts.push(['Last changed by', updated_by.email])
  return facts
}

function Notes({ projectId, tab, definition }: Omit<Props, 'onGone'>) {
  const queries = useQueryClient()
  const { id, name, description, tags, verified, hidden } = definition
  const form = useForm({
    initial: {
      description,
      tags: [...tags],
      verified,
      hidden,
      property_type: isEvent(definition) ? '' : (definition.property_type ?? ''),
    },
    draft: `definition ${id}`,
    async submit({ property_type, ...notes }) {
      const type = property_type === '' ? null : (property_type as PropertyDefinition['property_type'])
      await changeDefinition(projectId, definition, { ...notes, property_type: type })
      await queries.invalidateQueries({ queryKey: definitionsKey(projectId) })
      done(`What is said of ${name} was saved.`)
    },
  })
  const { values, set } = form
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="md">
        <FormProblem>{form.problem}</FormProblem>
        <Textarea
          label="Description"
          description="What it means, and when it is sent."
          autosize
          minRows={3}
          {...form.field('description')}
        />
        <TagsInput
          label="Tags"
          name="tags"
          placeholder={values.tags.length === 0 ? 'Type one, then Enter' : ''}
          value={values.tags}
          onChange={(next) => set('tags', next)}
          error={form.errors.tags}
        />
        {tab !== 'events' && (
          <NativeSelect
            label="Type"
            description="Found out from the first values. Filters offer what fits it."
            data={[{ value: '', label: 'Unknown' }, ...TYPES]}
            {...form.field('property_type')}
          />
        )}
        <Switch
          label="Verified"
          description="Others may rely on it."
          checked={values.verified}
          onChange={(event) => set('verified', event.currentTarget.checked)}
        />
        <Switch
          label="Hidden"
          description="Left out where names are suggested. Events with it are stored as before."
          checked={values.hidden}
          onChange={(event) => set('hidden', event.currentTarget.checked)}
        />
        <Group gap="sm">
          <Button type="submit" loading={form.isBusy} disabled={!form.isChanged}>
            Save definition
          </Button>
          <Unsaved form={form} />
        </Group>
      </Stack>
    </form>
  )
}

function Removal({ projectId, definition, onGone }: Omit<Props, 'tab'>) {
  const queries = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const { name } = definition
  return (
    <Stack gap="sm" align="flex-start">
      <Title order={2}>Remove from the catalogue</Title>
      <Text c="dimmed">
        Stored events stay. The next one with this name brings it back, without what is said here.
      </Text>
      <Button variant="default" onClick={() => setAsking(true)}>
        Remove definition
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={`Remove ${name} from the catalogue?`}
        button="Remove definition"
        onConfirm={async () => {
          await removeDefinition(projectId, definition)
          onGone()
          // What is gone is not asked for again.
          await queries.invalidateQueries({ queryKey: listsKey(projectId) })
          done(`${name} was removed from the catalogue.`)
        }}
      >
        Its description, tags and marks are lost. Stored events stay.
      </Confirm>
    </Stack>
  )
}
