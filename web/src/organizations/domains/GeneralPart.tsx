// One domain in general: whether it is proved, who may join by it, and how its people have to sign in.
import { Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { answer, api } from '../../api/client'
import { useOrganizationDenial } from '../../api/me'
import { Confirm } from '../../ui/Confirm'
import { Facts } from '../../ui/Facts'
import { GuardedButton } from '../../ui/Guarded'
import { GuardedSwitch } from '../../ui/GuardedSwitch'
import { done, refused } from '../../ui/notify'
import { Time } from '../../ui/Values'
import { DomainState } from './DomainState'
import { Enforcement } from './Enforcement'
import { Proof } from './Proof'
import { ONE, useDomainChange, type PartProps } from './queries'

export function GeneralPart({ domain, onGone }: PartProps) {
  const denial = useOrganizationDenial('admin')
  const { change, refresh, refreshList, params } = useDomainChange(domain)
  const [isAsking, setAsking] = useState(false)

  const letJoin = async (jit_provisioning_enabled: boolean) => {
    try {
      await change({ jit_provisioning_enabled })
      done(
        jit_provisioning_enabled
          ? `Everybody of ${domain.domain} may join.`
          : `People of ${domain.domain} need an invite.`,
      )
    } catch (error) {
      refused(error)
    }
  }

  return (
    <Stack gap="xl">
      <Facts
        facts={[
          ['State', <DomainState key="state" domain={domain} />],
          ...(domain.is_verified
            ? [['Verified', <Time key="since" value={domain.verified_at} />] as const]
            : []),
        ]}
      />
      {!domain.is_verified && <Proof domain={domain} denial={denial} onChecked={refresh} />}
      <GuardedSwitch
        label="Everybody of this domain may join"
        description="Whoever signs in through single sign-on with such an address becomes a member, without an invite."
        checked={domain.jit_provisioning_enabled}
        denial={denial ?? (domain.is_verified ? null : 'Verify the domain first.')}
        onChange={(event) => void letJoin(event.currentTarget.checked)}
      />
      {domain.is_verified && <Enforcement domain={domain} />}
      <Group>
        <GuardedButton variant="default" denial={denial} onClick={() => setAsking(true)}>
          Give domain up
        </GuardedButton>
      </Group>
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={`Give ${domain.domain} up?`}
        button="Give domain up"
        onConfirm={async () => {
          await answer(api.DELETE(ONE, { params }))
          done(`${domain.domain} was given up.`)
          onGone()
          await refreshList()
        }}
      >
        Its addresses sign in like all others, and another organization can claim it. Nobody loses their
        membership.
      </Confirm>
    </Stack>
  )
}
