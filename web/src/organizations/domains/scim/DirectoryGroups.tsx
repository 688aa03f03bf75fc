// Groups of the directory, and what their members get.
import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { answer, api, type Schema } from '../../../api/client'
import { useOrganization } from '../../../api/me'
import { usePages } from '../../../api/pages'
import type { Column } from '../../../ui/DataTable'
import { Dialog } from '../../../ui/Dialog'
import { useForm } from '../../../ui/form'
import { FormProblem } from '../../../ui/FormProblem'
import { done } from '../../../ui/notify'
import { PagedTable } from '../../../ui/PagedTable'
import { Empty } from '../../../ui/States'
import { useAddress } from '../../page'
import { mappingOf, mappingText, NO_ACCESS, type Access } from './mapping'

type DirectoryGroup = Schema<'DirectoryGroup'>

const GROUPS = '/api/organizations/{organization_id}/domains/{domain_id}/scim/groups/'

const COLUMNS: readonly Column<DirectoryGroup>[] = [
  { key: 'name', title: 'Group', width: 'minmax(110px, 1fr)', cell: ({ display_name }) => display_name },
  { key: 'members', title: 'People', width: '70px', align: 'end', cell: ({ member_count }) => member_count },
  { key: 'mapping', title: 'Gets', width: 'minmax(120px, 1fr)', cell: mappingText },
]

export function DirectoryGroups({ domainId }: { domainId: string }) {
  const { id: organization_id } = useOrganization()
  const { search, showGroup } = useAddress()
  const close = () => showGroup(undefined)
  const path = { organization_id, domain_id: domainId }
  const pages = usePages(['scim-groups', domainId], (page, signal) =>
    answer(api.GET(GROUPS, { params: { path, query: page }, signal })),
  )
  const opened = pages.rows?.find(({ id }) => id === search.group)
  return (
    <>
      <PagedTable
        label="Groups"
        pages={pages}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        onOpen={({ id }) => showGroup(id)}
        openLabel={({ display_name }) => `Open group ${display_name}`}
        failure="The groups could not be shown."
        empty={<Empty title="The directory has sent no group yet." />}
      />
      <Dialog
        opened={search.group !== undefined && pages.rows !== undefined}
        onClose={close}
        title={opened ? `What members of ${opened.display_name} get` : 'Group'}
      >
        {opened ? (
          <Mapping key={opened.id} group={opened} domainId={domainId} onClose={close} />
        ) : search.group === undefined ? null : (
          <Empty title="This group is not in the list.">
            The directory may have removed it. If the list is long, scroll further down.
          </Empty>
        )}
      </Dialog>
    </>
  )
}

type MappingProps = { group: DirectoryGroup; domainId: string; onClose: () => void }

function Mapping({ group, domainId, onClose }: MappingProps) {
  const { id: organization_id, teams } = useOrganization()
  const queries = useQueryClient()
  const form = useForm({
    initial: {
      level: group.level === null ? '' : String(group.level),
      projects: Object.fromEntries(group.projects.map(({ id, level }) => [id, level])) as Record<
        string,
        Access
      >,
    },
    async submit(values) {
      const params = { path: { organization_id, domain_id: domainId, id: group.id } }
      await answer(api.PATCH(`${GROUPS}{id}/`, { params, body: mappingOf(values) }))
      done(`What members of ${group.display_name} get was saved.`)
      onClose()
      await queries.invalidateQueries({ queryKey: ['scim-groups', domainId] })
    },
  })
  const { projects } = form.values
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="md">
        <FormProblem>{form.problem}</FormProblem>
        <NativeSelect
          label="Level in the organization"
          data={[
            { value: '', label: 'The group says nothing about it' },
            { value: '1', label: 'Member' },
            { value: '8', label: 'Admin' },
          ]}
          {...form.field('level')}
        />
        <Text size="sm" c="dimmed">
          Projects that nobody is kept from are open to every member anyway.
        </Text>
        {teams.map(({ id, name }) => (
          <NativeSelect
            key={id}
            label={`Project ${name}`}
            data={[
              { value: NO_ACCESS, label: 'Nothing by this group' },
              { value: 'member', label: 'Uses it' },
              { value: 'admin', label: 'Manages it' },
            ]}
            value={projects[id] ?? NO_ACCESS}
            onChange={(event) =>
              form.set('projects', { ...projects, [id]: event.currentTarget.value as Access })
            }
          />
        ))}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={form.isBusy}>
            Save group
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
