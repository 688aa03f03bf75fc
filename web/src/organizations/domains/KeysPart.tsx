// Personal API keys of the domain's people. They go on working whatever is demanded of those who sign in, so admins can end
// them.
import { Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api, type Schema } from '../../api/client'
import { useOrganization, useOrganizationDenial } from '../../api/me'
import { usePages } from '../../api/pages'
import { Confirm } from '../../ui/Confirm'
import type { Column } from '../../ui/DataTable'
import { GuardedButton } from '../../ui/Guarded'
import { done } from '../../ui/notify'
import { PagedTable } from '../../ui/PagedTable'
import { Empty } from '../../ui/States'
import { Time } from '../../ui/Values'
import type { PartProps } from './queries'

type Key = Schema<'DomainKey'>

const ABOUT =
  'API keys go on working when sign-on is demanded, because programs do not sign in. Whose key is ended here is told by mail.'

export function KeysPart(props: PartProps) {
  const denial = useOrganizationDenial('admin')
  if (denial !== null) return <Empty title="Admins see the keys of the domain’s people.">{ABOUT}</Empty>
  return <Keys {...props} />
}

function Keys({ domain }: PartProps) {
  const { id: organization_id } = useOrganization()
  const queries = useQueryClient()
  const [ending, setEnding] = useState<Key | null>(null)
  const path = { organization_id, domain_id: domain.id }
  const list = ['domain-keys', domain.id] as const
  const pages = usePages(list, (page, signal) =>
    answer(
      api.GET('/api/organizations/{organization_id}/domains/{domain_id}/keys/', {
        params: { path, query: page },
        signal,
      }),
    ),
  )
  const columns: Column<Key>[] = [
    { key: 'who', title: 'Whose', width: 'minmax(110px, 2fr)', cell: ({ email }) => email },
    { key: 'label', title: 'Key', width: 'minmax(80px, 1fr)', cell: ({ label }) => label },
    {
      key: 'used',
      title: 'Last used',
      width: '110px',
      isExtra: true,
      cell: ({ last_used_at }) => <Time value={last_used_at} />,
    },
    {
      key: 'end',
      title: <span className="aloud">End</span>,
      width: '84px',
      align: 'end',
      cell: (key) => (
        <GuardedButton
          variant="default"
          size="compact-sm"
          denial={null}
          aria-label={`End key ${key.label} of ${key.email}`}
          onClick={() => setEnding(key)}
        >
          End key
        </GuardedButton>
      ),
    },
  ]
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        {ABOUT}
      </Text>
      <PagedTable
        label="Keys"
        pages={pages}
        columns={columns}
        rowKey={({ id }) => id}
        failure="The keys could not be shown."
        empty={<Empty title="Nobody of this domain has a personal API key." />}
      />
      <Confirm
        isOpen={ending !== null}
        onClose={() => setEnding(null)}
        title="End this key?"
        button="End key"
        onConfirm={async () => {
          await answer(
            api.DELETE('/api/organizations/{organization_id}/domains/{domain_id}/keys/{id}/', {
              params: { path: { ...path, id: ending!.id } },
            }),
          )
          done(`Key ${ending!.label} of ${ending!.email} was ended.`)
          await queries.invalidateQueries({ queryKey: list })
        }}
      >
        {ending && `${ending.label} (${ending.mask_value}) of ${ending.email} `}
        stops working at once, everywhere. Programs that use it fail.
      </Confirm>
    </Stack>
  )
}
