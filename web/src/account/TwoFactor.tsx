// The second factor: whether there is one, setting it up, new backup codes, switching it off.
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../api/client'
import { meQuery } from '../api/me'
import { Confirm } from '../ui/Confirm'
import { done } from '../ui/notify'
import { Failed, Loading } from '../ui/States'
import { Status } from '../ui/Status'
import { BackupCodes } from './BackupCodes'
import { ME, useAddress } from './page'
import { TwoFactorSetup } from './TwoFactorSetup'

export function TwoFactor() {
  const { open, show, close } = useAddress()
  const queries = useQueryClient()
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  const [asking, setAsking] = useState<'codes' | 'off' | null>(null)
  const status = useQuery({
    queryKey: ['two-factor'],
    queryFn: ({ signal }) => answer(api.GET('/api/users/{uuid}/two_factor_status/', { params: ME, signal })),
  })
  const refresh = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: ['two-factor'] }),
      queries.invalidateQueries({ queryKey: meQuery.queryKey }),
    ])

  if (codes)
    return (
      <BackupCodes
        codes={codes}
        onClose={() => {
          setCodes(null)
          close()
        }}
      />
    )
  if (open === 'second-factor')
    return (
      <TwoFactorSetup
        onCancel={close}
        onDone={async (made) => {
          setCodes(made)
          done('The second factor is on.')
          await refresh()
          // What the organization kept from somebody without one is asked for anew.
          await queries.resetQueries({ predicate: ({ state }) => state.status === 'error' })
        }}
      />
    )
  if (status.isPending) return <Loading rows={2} />
  if (status.isError)
    return (
      <Failed
        error={status.error}
        what="The second factor could not be shown."
        onRetry={() => void status.refetch()}
      />
    )
  const { is_enabled, backup_codes_left } = status.data
  if (!is_enabled)
    return (
      <Stack gap="md" align="flex-start">
        <Status kind="waiting">off</Status>
        <Button variant="default" onClick={() => show('second-factor')}>
          Set up second factor
        </Button>
      </Stack>
    )
  return (
    <Stack gap="md" align="flex-start">
      <Status kind="delivered">on</Status>
      <Text size="sm">
        {backup_codes_left} backup {backup_codes_left === 1 ? 'code is' : 'codes are'} left. Each works once,
        in place of the authenticator.
      </Text>
      <Group gap="sm">
        <Button variant="default" onClick={() => setAsking('codes')}>
          New backup codes
        </Button>
        <Button variant="default" onClick={() => show('second-factor')}>
          Change authenticator
        </Button>
        <Button variant="default" onClick={() => setAsking('off')}>
          Switch off
        </Button>
      </Group>
      <Confirm
        isOpen={asking === 'codes'}
        onClose={() => setAsking(null)}
        title="Make new backup codes?"
        button="Make new codes"
        isHarmless
        onConfirm={async () => {
          const { backup_codes } = await answer(
            api.POST('/api/users/{uuid}/two_factor_backup_codes/', { params: ME }),
          )
          setCodes(backup_codes)
          done('There are ten new backup codes.')
          await refresh()
        }}
      >
        The codes you have stop working.
      </Confirm>
      <Confirm
        isOpen={asking === 'off'}
        onClose={() => setAsking(null)}
        title="Switch the second factor off?"
        button="Switch off"
        onConfirm={async () => {
          await answer(api.POST('/api/users/{uuid}/two_factor_disable/', { params: ME }))
          done('The second factor is off.')
          await refresh()
        }}
      >
        Your password alone signs you in then. The backup codes stop working.
      </Confirm>
    </Stack>
  )
}
