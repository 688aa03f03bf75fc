// Keys that act in your name.
import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { keyColumns } from '../api-keys/key-columns'
import { KeyDetails, NewKey, type KeyCalls } from '../api-keys/KeyDetails'
import { answer, api, type Schema } from '../api/client'
import { DataTable } from '../ui/DataTable'
import { Details } from '../ui/Details'
import { Empty, Failed, Loading } from '../ui/States'
import { Toolbar } from '../ui/Toolbar'
import { useAddress } from './page'

const LIST = ['personal-keys'] as const

export function KeysTab() {
  const keys = useQuery({
    queryKey: LIST,
    queryFn: ({ signal }) => answer(api.GET('/api/personal_api_keys/', { signal })),
  })
  const { open, show, close } = useAddress()
  const calls = usePersonalKeyCalls()
  if (keys.isPending) return <Loading />
  if (keys.isLoadingError)
    return (
      <Failed error={keys.error} what="Your keys could not be shown." onRetry={() => void keys.refetch()} />
    )
  const opened = keys.data.find(({ id }) => id === open)
  const button = <Button onClick={() => show('new')}>Create key</Button>
  return (
    <>
      {keys.data.length === 0 ? (
        <Empty title="You have no personal API key yet." action={button}>
          Programs act in your name with such a key, as far as its scopes let them. For what should outlive
          your membership, make a service key of the organization.
        </Empty>
      ) : (
        <>
          <Toolbar actions={button} />
          <DataTable<Schema<'PersonalApiKey'>>
            label="Personal API keys"
            columns={keyColumns()}
            rows={keys.data}
            rowKey={({ id }) => id}
            onOpen={({ id }) => show(id)}
            openLabel={({ label }) => `Open key ${label}`}
            openKey={open}
          />
        </>
      )}
      <Details
        isOpen={open !== undefined}
        onClose={close}
        title={open === 'new' ? 'Create key' : (opened?.label ?? 'Key')}
      >
        {open === 'new' ? (
          <NewKey calls={calls} onClose={close} />
        ) : opened ? (
          <KeyDetails keyRow={opened} calls={calls} onClose={close} />
        ) : (
          <Empty title="This key is gone." />
        )}
      </Details>
    </>
  )
}

function usePersonalKeyCalls(): KeyCalls {
  const queries = useQueryClient()
  const path = (id: string) => ({ path: { id } })
  const then = async <Answer,>(call: Promise<Answer>) => {
    const made = await call
    void queries.invalidateQueries({ queryKey: LIST })
    return made
  }
  return {
    kind: 'personal',
    create: ({ level: _level, ...fields }) =>
      then(answer(api.POST('/api/personal_api_keys/', { body: fields }))),
    update: (id, fields) =>
      then(answer(api.PATCH('/api/personal_api_keys/{id}/', { params: path(id), body: fields }))),
    roll: (id) => then(answer(api.POST('/api/personal_api_keys/{id}/roll/', { params: path(id) }))),
    remove: (id) => then(answer(api.DELETE('/api/personal_api_keys/{id}/', { params: path(id) }))),
  }
}
