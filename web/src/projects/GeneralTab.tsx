import { Button, Group, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api, type Schema } from '../api/client'
import { meQuery, organizationQuery, projectQuery, useProject, useProjectDenial } from '../api/me'
import { Confirm } from '../ui/Confirm'
import { Facts } from '../ui/Facts'
import { useForm } from '../ui/form'
import { FormProblem } from '../ui/FormProblem'
import { GuardedButton } from '../ui/Guarded'
import { done } from '../ui/notify'
import { Section } from '../ui/Section'
import { Unsaved } from '../ui/Unsaved'
import { Copyable, Time } from '../ui/Values'
import { ZoneInput } from './ZoneInput'

type Project = Schema<'Project'>

export function GeneralTab() {
  const project = useProject()
  return (
    <>
      <Section
        title="Project token"
        text="Programs and web pages send events with it. It is no secret: whoever has it can send events, and read none."
      >
        <Token />
      </Section>
      <Section title="Settings" text="Every member of the project may change them.">
        <Settings key={project.updated_at} />
      </Section>
      <Section title="Delete project" text="Its events, people, exports and apps go with it.">
        <Deletion />
      </Section>
    </>
  )
}

/** The project as it is now, to everything that shows it. */
function useTellAll() {
  const queries = useQueryClient()
  const { id, organization } = useProject()
  return (changed: Project) => {
    queries.setQueryData(projectQuery(String(id)).queryKey, changed)
    return Promise.all([
      queries.invalidateQueries({ queryKey: meQuery.queryKey }),
      queries.invalidateQueries({ queryKey: organizationQuery(organization).queryKey }),
      queries.invalidateQueries({ queryKey: ['projects', organization] }),
    ])
  }
}

function Token() {
  const project = useProject()
  const denial = useProjectDenial('admin')
  const tellAll = useTellAll()
  const [isAsking, setAsking] = useState(false)
  return (
    <Stack gap="md" align="flex-start">
      <Facts
        facts={[
          ['Token', <Copyable key="token" value={project.api_token} />],
          ['Project id', <Copyable key="id" value={String(project.id)} />],
          ['Host', <Copyable key="host" value={location.origin} />],
          ['Made', <Time key="made" value={project.created_at} />],
        ]}
      />
      <GuardedButton variant="default" denial={denial} onClick={() => setAsking(true)}>
        Replace token
      </GuardedButton>
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title="Replace the token?"
        button="Replace token"
        onConfirm={async () => {
          await tellAll(
            await answer(
              api.PATCH('/api/projects/{id}/reset_token/', { params: { path: { id: String(project.id) } } }),
            ),
          )
          done('The project has a new token.')
        }}
      >
        Events sent with the token in use are refused from now on, until every program and page that sends
        them has the new one.
      </Confirm>
    </Stack>
  )
}

function Settings() {
  const { id, name, timezone, anonymize_ips, app_urls } = useProject()
  const tellAll = useTellAll()
  const form = useForm({
    initial: { name, timezone, anonymize_ips, app_urls: app_urls.join('\n') },
    draft: `project ${id}`,
    async submit(fields) {
      const body = {
        ...fields,
        app_urls: fields.app_urls
          .split('\n')
          .map((url) => url.trim())
          .filter((url) => url !== ''),
      }
      await tellAll(
        await answer(api.PATCH('/api/projects/{id}/', { params: { path: { id: String(id) } }, body })),
      )
      done('The settings were saved.')
    },
  })
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="lg">
        <FormProblem>{form.problem}</FormProblem>
        <TextInput label="Name" required {...form.field('name')} />
        <ZoneInput {...form.field('timezone')} />
        <Textarea
          label="Addresses of the product"
          description="One a line. For your own use; nothing is sent there."
          autosize
          minRows={2}
          maxRows={8}
          {...form.field('app_urls')}
        />
        <Switch
          label="Leave out IP addresses"
          description="Events that come in from now on are stored without them."
          checked={form.values.anonymize_ips}
          onChange={(event) => form.set('anonymize_ips', event.currentTarget.checked)}
        />
        <Group>
          <Button type="submit" loading={form.isBusy}>
            Save settings
          </Button>
          <Unsaved form={form} />
        </Group>
      </Stack>
    </form>
  )
}

function Deletion() {
  const project = useProject()
  const denial = useProjectDenial('admin')
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <GuardedButton variant="default" denial={denial} onClick={() => setAsking(true)}>
        Delete project
      </GuardedButton>
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={`Delete ${project.name}?`}
        button="Delete project"
        typed={project.name}
        onConfirm={async () => {
          await answer(api.DELETE('/api/projects/{id}/', { params: { path: { id: String(project.id) } } }))
          await queries.invalidateQueries({ queryKey: meQuery.queryKey })
          void queries.invalidateQueries({ queryKey: organizationQuery(project.organization).queryKey })
          done(`Project ${project.name} was deleted.`)
          await navigate({
            to: '/organization/$organizationId/$tab',
            params: { organizationId: project.organization, tab: 'projects' },
          })
        }}
      >
        All events, people, definitions, exports with their runs and proof, and apps of the project are gone.
        Files that exports have delivered stay where they are. This cannot be undone.
      </Confirm>
    </>
  )
}
