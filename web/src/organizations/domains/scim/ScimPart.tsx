// The directory that says who belongs to the organization: switched on, its address and token, its groups, and what it
// asked for.
import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api, type Schema } from '../../../api/client'
import { useOrganization, useOrganizationDenial } from '../../../api/me'
import { Confirm } from '../../../ui/Confirm'
import { Facts } from '../../../ui/Facts'
import { countText } from '../../../ui/format'
import { GuardedButton } from '../../../ui/Guarded'
import { done, refused } from '../../../ui/notify'
import { ShownOnce } from '../../../ui/ShownOnce'
import { Empty, Failed, Loading } from '../../../ui/States'
import { Status } from '../../../ui/Status'
import { Copyable, Time } from '../../../ui/Values'
import type { PartProps } from '../queries'
import { DirectoryGroups } from './DirectoryGroups'
import { DirectoryRequests } from './DirectoryRequests'

type Scim = Schema<'Scim'>

const BASE = '/api/organizations/{organization_id}/domains/{domain_id}/scim/'
const ABOUT =
  'Your directory (Okta, Entra ID, Google …) adds people over SCIM, changes them, and takes their access away when they leave.'

export function ScimPart(props: PartProps) {
  const denial = useOrganizationDenial('admin')
  if (denial !== null) return <Empty title="Admins connect the directory.">{ABOUT}</Empty>
  return <Directory {...props} />
}

function Directory({ domain }: PartProps) {
  const { id: organization_id } = useOrganization()
  const queries = useQueryClient()
  const [token, setToken] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const params = { path: { organization_id, domain_id: domain.id } }
  const queryKey = ['scim', domain.id] as const
  const scim = useQuery({
    queryKey,
    queryFn: ({ signal }) => answer(api.GET(BASE, { params, signal })),
  })
  const take = async (asked: Promise<Scim>) => {
    const { scim_bearer_token, ...changed } = await asked
    queries.setQueryData(queryKey, { ...changed, scim_bearer_token: null })
    setToken(scim_bearer_token)
    await queries.invalidateQueries({ queryKey: ['domains', organization_id] })
  }
  const set = (scim_enabled: boolean) => take(answer(api.POST(BASE, { params, body: { scim_enabled } })))
  const switchOn = async () => {
    setBusy(true)
    try {
      await set(true)
      done('SCIM is on.')
    } catch (error) {
      refused(error)
    } finally {
      setBusy(false)
    }
  }

  if (scim.isPending) return <Loading rows={5} />
  if (scim.isLoadingError)
    return (
      <Failed
        error={scim.error}
        what="The directory could not be shown."
        onRetry={() => void scim.refetch()}
      />
    )
  if (!scim.data.scim_enabled)
    return (
      <Empty
        title="No directory is connected."
        action={
          <GuardedButton
            denial={domain.is_verified ? null : 'Verify the domain first.'}
            loading={isBusy}
            onClick={() => void switchOn()}
          >
            Switch SCIM on
          </GuardedButton>
        }
      >
        {ABOUT}
      </Empty>
    )
  return (
    <Stack gap="xl">
      {token !== null && (
        <ShownOnce
          key={token}
          value={token}
          copy="Copy token"
          actions={
            <Button variant="default" onClick={() => setToken(null)}>
              I have copied it
            </Button>
          }
        >
          This is the token for the directory. It is shown once: copy it now.
        </ShownOnce>
      )}
      <SetUp
        scim={scim.data}
        onRoll={() => take(answer(api.POST(`${BASE}token/`, { params })))}
        onOff={() => set(false)}
      />
      <div>
        <Title order={3}>Groups</Title>
        <Text size="sm" c="dimmed" mb="sm">
          What members of a group get here. The highest that fits somebody counts.
        </Text>
        <DirectoryGroups domainId={domain.id} />
      </div>
      <div>
        <Title order={3}>Requests</Title>
        <Text size="sm" c="dimmed" mb="sm">
          The last thousand that the directory sent: the first thing to look at when it does not sync.
        </Text>
        <DirectoryRequests domainId={domain.id} />
      </div>
    </Stack>
  )
}

type SetUpProps = { scim: Scim; onRoll: () => Promise<void>; onOff: () => Promise<void> }

function SetUp({ scim, onRoll, onOff }: SetUpProps) {
  const [asking, setAsking] = useState<'roll' | 'off' | null>(null)
  return (
    <Stack gap="md">
      <Facts
        facts={[
          [
            'State',
            <Status key="state" kind="delivered">
              on
            </Status>,
          ],
          ['Base address', <Copyable key="base" value={scim.scim_base_url ?? ''} />],
          [
            'Token',
            <span key="token">
              <span className="mono">{scim.mask_value}</span> made <Time value={scim.token_made_at} />
            </span>,
          ],
          ['Last request', <Time key="last" value={scim.last_request_at} />],
          ...(scim.last_refused_at === null
            ? []
            : [
                [
                  'Wrong token',
                  <Status key="wrong" kind="held">
                    sent <Time value={scim.last_refused_at} />
                  </Status>,
                ] as const,
              ]),
          ['People', countText(scim.users)],
        ]}
      />
      <Group gap="sm">
        <GuardedButton variant="default" denial={null} onClick={() => setAsking('roll')}>
          Replace token
        </GuardedButton>
        <GuardedButton variant="default" denial={null} onClick={() => setAsking('off')}>
          Switch SCIM off
        </GuardedButton>
      </Group>
      <Confirm
        isOpen={asking === 'roll'}
        onClose={() => setAsking(null)}
        title="Replace the token?"
        button="Replace token"
        onConfirm={async () => {
          await onRoll()
          done('The directory has a new token.')
        }}
      >
        The token that the directory has stops working at once. It syncs again when it has the new one.
      </Confirm>
      <Confirm
        isOpen={asking === 'off'}
        onClose={() => setAsking(null)}
        title="Switch SCIM off?"
        button="Switch SCIM off"
        onConfirm={async () => {
          await onOff()
          done('SCIM is off.')
        }}
      >
        The token ends. Everybody keeps their membership, but nobody loses it by the directory any more.
      </Confirm>
    </Stack>
  )
}
