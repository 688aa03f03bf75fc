// Where you belong, who has invited you, and an organization of your own.
import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { answer, api, type Schema } from '../api/client'
import { meQuery, useMe } from '../api/me'
import { levelName } from '../organizations/rights'
import { DataTable } from '../ui/DataTable'
import { Details } from '../ui/Details'
import { useForm } from '../ui/form'
import { FormProblem } from '../ui/FormProblem'
import { done } from '../ui/notify'
import { Section } from '../ui/Section'
import { Empty } from '../ui/States'
import { Toolbar } from '../ui/Toolbar'
import { Time } from '../ui/Values'
import { ME, useAddress } from './page'

type Organization = Schema<'Account'>['organizations'][number]

export function OrganizationsTab() {
  const { organizations } = useMe()
  const navigate = useNavigate()
  const { open, show, close } = useAddress()
  const button = <Button onClick={() => show('new')}>Create organization</Button>
  return (
    <>
      <PendingInvites />
      {organizations.length === 0 ? (
        <Empty title="You belong to no organization." action={button}>
          An organization holds projects and the people who use them. Somebody can invite you to theirs, or
          you make your own.
        </Empty>
      ) : (
        <>
          <Toolbar actions={button} />
          <DataTable<Organization>
            label="Your organizations"
            columns={[
              { key: 'name', title: 'Name', width: '2fr', cell: ({ name }) => name },
              {
                key: 'level',
                title: 'Your level',
                width: '110px',
                cell: ({ membership_level }) => levelName(membership_level),
              },
            ]}
            rows={organizations}
            rowKey={({ id }) => id}
            openLabel={({ name }) => `Open ${name}`}
            onOpen={({ id }) =>
              void navigate({
                to: '/organization/$organizationId/$tab',
                params: { organizationId: id, tab: 'general' },
              })
            }
          />
        </>
      )}
      <Details isOpen={open === 'new'} onClose={close} title="Create organization">
        <NewOrganization onCancel={close} />
      </Details>
    </>
  )
}

function PendingInvites() {
  const { email } = useMe()
  const invites = useQuery({
    queryKey: ['pending-invites'],
    queryFn: ({ signal }) => answer(api.GET('/api/users/{uuid}/pending_invites/', { params: ME, signal })),
  }).data
  if (!invites || invites.length === 0) return null
  return (
    <Section
      title="You are invited"
      text={`The link to join is in the mail to ${email}, or whoever invited you has it.`}
    >
      <Stack gap="xs">
        {invites.map(({ id, organization_name, created_at }) => (
          <div key={id}>
            {organization_name}, since <Time value={created_at} />
          </div>
        ))}
      </Stack>
    </Section>
  )
}

function NewOrganization({ onCancel }: { onCancel: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const form = useForm({
    initial: { name: '' },
    draft: 'new organization',
    async submit(body) {
      const { id, name, teams } = await answer(api.POST('/api/organizations/', { body }))
      await queries.invalidateQueries({ queryKey: meQuery.queryKey })
      done(`${name} was made, with a first project.`)
      const [project] = teams
      if (project) await navigate({ to: '/project/$projectId', params: { projectId: String(project.id) } })
      else
        await navigate({
          to: '/organization/$organizationId/$tab',
          params: { organizationId: id, tab: 'projects' },
        })
    },
  })
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="lg">
        <FormProblem>{form.problem}</FormProblem>
        <TextInput
          label="Name"
          description="You become its owner. A first project is made with it."
          required
          data-autofocus
          {...form.field('name')}
        />
        <Group gap="sm">
          <Button type="submit" loading={form.isBusy}>
            Create organization
          </Button>
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
