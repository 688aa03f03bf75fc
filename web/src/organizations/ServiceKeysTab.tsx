// Keys of the organization itself: they outlive whoever made them.
import { useQueryClient } from '@tanstack/react-query'
import { keyColumns } from '../api-keys/key-columns'
import { KeyDetails, NewKey, type KeyCalls } from '../api-keys/KeyDetails'
import { answer, api } from '../api/client'
import { useOrganization, useOrganizationDenial } from '../api/me'
import { usePages } from '../api/pages'
import { Details } from '../ui/Details'
import { GuardedButton } from '../ui/Guarded'
import { PagedTable } from '../ui/PagedTable'
import { Empty, Loading } from '../ui/States'
import { Toolbar } from '../ui/Toolbar'
import { useAddress } from './page'

const ABOUT =
  'Programs use service keys in place of a person’s: they belong to the organization and stay when somebody leaves. Only admins and owners see them.'

export function ServiceKeysTab() {
  const denial = useOrganizationDenial('admin')
  if (denial !== null) return <Empty title="Service keys are managed by admins.">{ABOUT}</Empty>
  return <ServiceKeys />
}

function ServiceKeys() {
  const { id: organization_id } = useOrganization()
  const { search, open, close } = useAddress()
  const calls = useServiceKeyCalls(organization_id)
  const pages = usePages(['service-keys', organization_id], (page, signal) =>
    answer(
      api.GET('/api/organizations/{organization_id}/service_keys/', {
        params: { path: { organization_id }, query: page },
        signal,
      }),
    ),
  )
  const opened = pages.rows?.find(({ id }) => id === search.open)
  const button = (
    <GuardedButton denial={null} onClick={() => open('new')}>
      Create service key
    </GuardedButton>
  )
  return (
    <>
      {pages.rows?.length !== 0 && <Toolbar actions={button} />}
      <PagedTable
        label="Service keys"
        pages={pages}
        columns={keyColumns()}
        rowKey={({ id }) => id}
        onOpen={({ id }) => open(id)}
        openLabel={({ label }) => `Open key ${label}`}
        openKey={search.open}
        failure="The service keys could not be shown."
        empty={
          <Empty title="There is no service key yet." action={button}>
            {ABOUT}
          </Empty>
        }
      />
      <Details
        isOpen={search.open !== undefined}
        onClose={close}
        title={search.open === 'new' ? 'Create service key' : (opened?.label ?? 'Key')}
      >
        {search.open === 'new' ? (
          <NewKey calls={calls} onClose={close} />
        ) : opened ? (
          <KeyDetails keyRow={opened} calls={calls} onClose={close} />
        ) : pages.rows ? (
          <Empty title="This key is gone." />
        ) : (
          <Loading rows={5} />
        )}
      </Details>
    </>
  )
}

function useServiceKeyCalls(organization_id: string): KeyCalls {
  const queries = useQueryClient()
  const one = '/api/organizations/{organization_id}/service_keys/{id}/'
  const path = (id: string) => ({ path: { organization_id, id } })
  const then = async <Answer,>(call: Promise<Answer>) => {
    const made = await call
    void queries.invalidateQueries({ queryKey: ['service-keys', organization_id] })
    return made
  }
  return {
    kind: 'service',
    create: ({ level, scoped_organizations: _none, ...fields }) =>
      then(
        answer(
          api.POST('/api/organizations/{organization_id}/service_keys/', {
            params: { path: { organization_id } },
            body: { ...fields, level: level as 1 | 8 },
          }),
        ),
      ),
    update: (id, { scoped_organizations: _none, ...fields }) =>
      then(answer(api.PATCH(one, { params: path(id), body: fields }))),
    roll: (id) => then(answer(api.POST(`${one}roll/`, { params: path(id) }))),
    remove: (id) => then(answer(api.DELETE(one, { params: path(id) }))),
  }
}
