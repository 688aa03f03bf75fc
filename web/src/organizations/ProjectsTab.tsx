// The projects of the organization, and new ones.
import { useNavigate } from '@tanstack/react-router'
import { answer, api, type Schema } from '../api/client'
import { useOrganization, useOrganizationDenial } from '../api/me'
import { usePages } from '../api/pages'
import { NewProject } from '../projects/NewProject'
import type { Column } from '../ui/DataTable'
import { Details } from '../ui/Details'
import { GuardedButton } from '../ui/Guarded'
import { PagedTable } from '../ui/PagedTable'
import { Empty } from '../ui/States'
import { Status } from '../ui/Status'
import { Toolbar } from '../ui/Toolbar'
import { useAddress } from './page'

type Project = Schema<'BasicProject'>

const COLUMNS: readonly Column<Project>[] = [
  { key: 'name', title: 'Name', width: 'minmax(140px, 2fr)', cell: ({ name }) => name },
  { key: 'id', title: 'Id', width: '80px', cell: ({ id }) => <span className="mono">{id}</span> },
  { key: 'zone', title: 'Zone', width: '160px', isExtra: true, cell: ({ timezone }) => timezone },
  {
    key: 'events',
    title: 'Events',
    width: '130px',
    isExtra: true,
    cell: ({ ingested_event }) => (
      <Status kind={ingested_event ? 'delivered' : 'waiting'}>
        {ingested_event ? 'coming in' : 'none yet'}
      </Status>
    ),
  },
  {
    key: 'access',
    title: 'Access',
    width: '150px',
    isExtra: true,
    cell: ({ access_control }) => (access_control ? 'by rule' : 'every member'),
  },
]

export function ProjectsTab() {
  const { id: organization_id } = useOrganization()
  const { search, open, close } = useAddress()
  const navigate = useNavigate()
  const denial = useOrganizationDenial('admin')
  const pages = usePages(['projects', organization_id], (page, signal) =>
    answer(
      api.GET('/api/organizations/{organization_id}/projects/', {
        params: { path: { organization_id }, query: page },
        signal,
      }),
    ),
  )
  const button = (
    <GuardedButton denial={denial} onClick={() => open('new')}>
      Create project
    </GuardedButton>
  )
  return (
    <>
      {pages.rows?.length !== 0 && <Toolbar actions={button} />}
      <PagedTable
        label="Projects"
        pages={pages}
        columns={COLUMNS}
        rowKey={({ id }) => String(id)}
        onOpen={({ id }) => void navigate({ to: '/project/$projectId', params: { projectId: String(id) } })}
        openLabel={({ name }) => `Open ${name}`}
        failure="The projects could not be shown."
        empty={
          <Empty title="There is no project that you can reach." action={button}>
            A project has events of its own, and a token that programs send them with. Web shop and app, or
            test and live, are best kept apart.
          </Empty>
        }
      />
      <Details isOpen={search.open === 'new'} onClose={close} title="Create project">
        <NewProject onCancel={close} />
      </Details>
    </>
  )
}
