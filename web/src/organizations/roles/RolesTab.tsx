// Roles of the organization: named groups of members, which access to projects is given to.
import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { answer, api, type Schema } from '../../api/client'
import { useOrganization, useOrganizationDenial } from '../../api/me'
import { usePages } from '../../api/pages'
import type { Column } from '../../ui/DataTable'
import { Details } from '../../ui/Details'
import { useForm } from '../../ui/form'
import { FormProblem } from '../../ui/FormProblem'
import { GuardedButton } from '../../ui/Guarded'
import { done } from '../../ui/notify'
import { PagedTable } from '../../ui/PagedTable'
import { Empty, Loading } from '../../ui/States'
import { Toolbar } from '../../ui/Toolbar'
import { Count, Time } from '../../ui/Values'
import { useAddress } from '../page'
import { RoleDetails } from './RoleDetails'

type Role = Omit<Schema<'Role'>, 'created_by'>

const COLUMNS: readonly Column<Role>[] = [
  { key: 'name', title: 'Name', width: 'minmax(140px, 2fr)', cell: ({ name }) => name },
  {
    key: 'members',
    title: 'Members',
    width: '100px',
    align: 'end',
    cell: ({ members }) => <Count value={members.length} />,
  },
  {
    key: 'since',
    title: 'Made',
    width: '150px',
    align: 'end',
    isExtra: true,
    cell: ({ created_at }) => <Time value={created_at} />,
  },
]

export function RolesTab() {
  const { id: organization_id } = useOrganization()
  const { search, open, close } = useAddress()
  const denial = useOrganizationDenial('admin')
  const pages = usePages(['roles', organization_id], (page, signal) =>
    answer(
      api.GET('/api/organizations/{organization_id}/roles/', {
        params: { path: { organization_id }, query: page },
        signal,
      }),
    ),
  )
  const opened = pages.rows?.find(({ id }) => id === search.open)
  const button = (
    <GuardedButton denial={denial} onClick={() => open('new')}>
      Create role
    </GuardedButton>
  )
  return (
    <>
      {pages.rows?.length !== 0 && <Toolbar actions={button} />}
      <PagedTable
        label="Roles"
        pages={pages}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        onOpen={({ id }) => open(id)}
        openLabel={({ name }) => `Open role ${name}`}
        openKey={search.open}
        failure="The roles could not be shown."
        empty={
          <Empty title="There is no role yet." action={button}>
            A role is a name for some of the members, such as Analysts. A project can be opened to a role, in
            its settings under Access, instead of to each of them.
          </Empty>
        }
      />
      <Details
        isOpen={search.open !== undefined}
        onClose={close}
        title={search.open === 'new' ? 'Create role' : (opened?.name ?? 'Role')}
      >
        {search.open === 'new' ? (
          <NewRole onMade={open} onClose={close} />
        ) : opened ? (
          <RoleDetails key={opened.id} role={opened} denial={denial} onGone={close} />
        ) : pages.rows ? (
          <Empty title="This role is gone." />
        ) : (
          <Loading rows={5} />
        )}
      </Details>
    </>
  )
}

function NewRole({ onMade, onClose }: { onMade: (id: string) => void; onClose: () => void }) {
  const { id: organization_id } = useOrganization()
  const queries = useQueryClient()
  const form = useForm({
    initial: { name: '' },
    async submit(body) {
      const params = { path: { organization_id } }
      const { id, name } = await answer(
        api.POST('/api/organizations/{organization_id}/roles/', { params, body }),
      )
      done(`The role ${name} was made.`)
      await queries.invalidateQueries({ queryKey: ['roles', organization_id] })
      onMade(id)
    },
  })
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="lg">
        <FormProblem>{form.problem}</FormProblem>
        <TextInput label="Name" required data-autofocus {...form.field('name')} />
        <Group gap="sm">
          <Button type="submit" loading={form.isBusy}>
            Create role
          </Button>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
