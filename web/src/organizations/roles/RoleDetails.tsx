// One role: its name, who has it, and its end.
import { Group, NativeSelect, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api, type Schema } from '../../api/client'
import { useOrganization } from '../../api/me'
import { Confirm } from '../../ui/Confirm'
import { DataTable, type Column } from '../../ui/DataTable'
import { useForm } from '../../ui/form'
import { FormProblem } from '../../ui/FormProblem'
import { GuardedButton } from '../../ui/Guarded'
import { done, refused } from '../../ui/notify'
import { Time } from '../../ui/Values'

type Role = Omit<Schema<'Role'>, 'created_by'>
type Membership = Schema<'RoleMembership'>
type Part = { role: Role; denial: string | null }

const ONE = '/api/organizations/{organization_id}/roles/{id}/'
const MEMBERSHIPS = '/api/organizations/{organization_id}/roles/{role_id}/role_memberships/'

export function RoleDetails({ role, denial, onGone }: Part & { onGone: () => void }) {
  return (
    <Stack gap="xl">
      <NameForm key={role.name} role={role} denial={denial} />
      <Stack gap="sm">
        <Title order={3}>Who has it</Title>
        <Members role={role} denial={denial} />
        <NewMember role={role} denial={denial} />
      </Stack>
      <Removal role={role} denial={denial} onGone={onGone} />
    </Stack>
  )
}

function useChanged() {
  const { id: organization_id } = useOrganization()
  const queries = useQueryClient()
  return {
    organization_id,
    changed: async () => {
      await queries.invalidateQueries({ queryKey: ['roles', organization_id] })
      await queries.invalidateQueries({ queryKey: ['subjects', organization_id] })
    },
  }
}

function NameForm({ role, denial }: Part) {
  const { organization_id, changed } = useChanged()
  const form = useForm({
    initial: { name: role.name },
    async submit(body) {
      await answer(api.PATCH(ONE, { params: { path: { organization_id, id: role.id } }, body }))
      done('The role was renamed.')
      await changed()
    },
  })
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="md" align="flex-start">
        <FormProblem>{form.problem}</FormProblem>
        <TextInput label="Name" required disabled={denial !== null} {...form.field('name')} />
        <GuardedButton
          type="submit"
          variant="default"
          denial={denial}
          loading={form.isBusy}
          disabled={form.values.name === role.name}
        >
          Rename role
        </GuardedButton>
      </Stack>
    </form>
  )
}

function Members({ role, denial }: Part) {
  const { organization_id, changed } = useChanged()
  const takeAway = async ({ id, user }: Membership) => {
    try {
      const params = { path: { organization_id, role_id: role.id, id } }
      await answer(api.DELETE(`${MEMBERSHIPS}{id}/`, { params }))
      done(`${user.email} no longer has the role.`)
      await changed()
    } catch (error) {
      refused(error)
    }
  }
  const columns: Column<Membership>[] = [
    { key: 'who', title: 'Member', width: 'minmax(120px, 2fr)', cell: ({ user }) => user.email },
    {
      key: 'since',
      title: 'Since',
      width: '140px',
      isExtra: true,
      cell: ({ joined_at }) => <Time value={joined_at} />,
    },
    {
      key: 'remove',
      title: <span className="aloud">Remove</span>,
      width: '90px',
      align: 'end',
      cell: (membership) => (
        <GuardedButton
          variant="default"
          size="compact-sm"
          denial={denial}
          aria-label={`Remove ${membership.user.email} from the role`}
          onClick={() => void takeAway(membership)}
        >
          Remove
        </GuardedButton>
      ),
    },
  ]
  if (role.members.length === 0) return <Text c="dimmed">Nobody yet.</Text>
  return (
    <DataTable label="Members with the role" columns={columns} rows={role.members} rowKey={({ id }) => id} />
  )
}

function NewMember({ role, denial }: Part) {
  const { organization_id, changed } = useChanged()
  const members = useQuery({
    queryKey: ['members', organization_id, 'all'],
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/organizations/{organization_id}/members/', {
          params: { path: { organization_id }, query: { limit: 1000 } },
          signal,
        }),
      ),
  })
  const having = new Set(role.members.map(({ user }) => user.uuid))
  const others = members.data?.results.filter(({ user }) => !having.has(user.uuid)) ?? []
  const form = useForm({
    initial: { user_uuid: '' },
    async submit({ user_uuid }) {
      const params = { path: { organization_id, role_id: role.id } }
      const { user } = await answer(api.POST(MEMBERSHIPS, { params, body: { user_uuid } }))
      done(`${user.email} has the role.`)
      form.set('user_uuid', '')
      await changed()
    },
  })
  if (members.isSuccess && others.length === 0) return <Text c="dimmed">Every member has it.</Text>
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="md" align="flex-start">
        <FormProblem>{form.problem}</FormProblem>
        <NativeSelect
          label="Give it to"
          data={[
            { value: '', label: 'Choose a member' },
            ...others.map(({ user }) => ({ value: user.uuid, label: user.email })),
          ]}
          disabled={denial !== null}
          {...form.field('user_uuid')}
        />
        <GuardedButton
          type="submit"
          variant="default"
          denial={denial}
          loading={form.isBusy}
          disabled={form.values.user_uuid === ''}
        >
          Give role
        </GuardedButton>
      </Stack>
    </form>
  )
}

function Removal({ role, denial, onGone }: Part & { onGone: () => void }) {
  const { organization_id, changed } = useChanged()
  const [isAsking, setAsking] = useState(false)
  return (
    <Group>
      <GuardedButton variant="default" denial={denial} onClick={() => setAsking(true)}>
        Delete role
      </GuardedButton>
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={`Delete the role ${role.name}?`}
        button="Delete role"
        onConfirm={async () => {
          await answer(api.DELETE(ONE, { params: { path: { organization_id, id: role.id } } }))
          done(`The role ${role.name} was deleted.`)
          onGone()
          await changed()
        }}
      >
        {role.members.length === 1 ? 'One member loses' : `${role.members.length} members lose`} the access to
        projects that it gave.
      </Confirm>
    </Group>
  )
}
