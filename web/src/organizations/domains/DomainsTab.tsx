// Login domains: names that the organization has proved to be its own.
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
import { Time } from '../../ui/Values'
import { useAddress } from '../page'
import { DomainParts } from './DomainParts'
import { DomainState } from './DomainState'

type Domain = Schema<'Domain'>

const COLUMNS: readonly Column<Domain>[] = [
  { key: 'domain', title: 'Domain', width: 'minmax(130px, 2fr)', cell: ({ domain }) => domain },
  { key: 'state', title: 'State', width: '130px', cell: (domain) => <DomainState domain={domain} /> },
  {
    key: 'since',
    title: 'Verified',
    width: '140px',
    isExtra: true,
    cell: ({ verified_at }) => <Time value={verified_at} />,
  },
  {
    key: 'looked',
    title: 'Last looked for',
    width: '140px',
    isExtra: true,
    cell: ({ last_verification_retry }) => <Time value={last_verification_retry} />,
  },
]

export function DomainsTab() {
  const { id: organization_id } = useOrganization()
  const { search, open, close } = useAddress()
  const denial = useOrganizationDenial('admin')
  const pages = usePages(['domains', organization_id], (page, signal) =>
    answer(
      api.GET('/api/organizations/{organization_id}/domains/', {
        params: { path: { organization_id }, query: page },
        signal,
      }),
    ),
  )
  const opened = pages.rows?.find(({ id }) => id === search.open)
  const button = (
    <GuardedButton denial={denial} onClick={() => open('new')}>
      Add domain
    </GuardedButton>
  )
  return (
    <>
      {pages.rows?.length !== 0 && <Toolbar actions={button} />}
      <PagedTable
        label="Domains"
        pages={pages}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        onOpen={({ id }) => open(id)}
        openLabel={({ domain }) => `Open ${domain}`}
        openKey={search.open}
        failure="The domains could not be shown."
        empty={
          <Empty title="There is no login domain yet." action={button}>
            Once you have proved that a domain is yours, it decides how its addresses sign in, and who may
            join without an invite.
          </Empty>
        }
      />
      <Details
        isOpen={search.open !== undefined}
        onClose={close}
        title={search.open === 'new' ? 'Add domain' : (opened?.domain ?? 'Domain')}
      >
        {search.open === 'new' ? (
          <NewDomain onAdded={open} onCancel={close} />
        ) : opened ? (
          <DomainParts key={opened.id} domain={opened} onGone={close} />
        ) : pages.rows ? (
          <Empty title="This domain is gone." />
        ) : (
          <Loading rows={5} />
        )}
      </Details>
    </>
  )
}

function NewDomain({ onAdded, onCancel }: { onAdded: (id: string) => void; onCancel: () => void }) {
  const { id: organization_id } = useOrganization()
  const queries = useQueryClient()
  const form = useForm({
    initial: { domain: '' },
    draft: `new domain ${organization_id}`,
    async submit(body) {
      const params = { path: { organization_id } }
      const { id, domain } = await answer(
        api.POST('/api/organizations/{organization_id}/domains/', { params, body }),
      )
      await queries.invalidateQueries({ queryKey: ['domains', organization_id] })
      done(`${domain} was added. It has to be verified.`)
      onAdded(id)
    },
  })
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="lg">
        <FormProblem>{form.problem}</FormProblem>
        <TextInput
          label="Domain"
          description="What stands behind the @ of your addresses."
          placeholder="example.com"
          required
          data-autofocus
          {...form.field('domain')}
        />
        <Group gap="sm">
          <Button type="submit" loading={form.isBusy}>
            Add domain
          </Button>
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
