// One domain: the record that proves it, what was found, and what it may decide.
import { Group, Stack, Switch, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api, type Schema } from '../../api/client'
import { useOrganization, useOrganizationDenial } from '../../api/me'
import { Confirm } from '../../ui/Confirm'
import { Facts } from '../../ui/Facts'
import { FormProblem } from '../../ui/FormProblem'
import { GuardedButton } from '../../ui/Guarded'
import { toFailure } from '../../api/failure'
import { done, refused } from '../../ui/notify'
import { Status } from '../../ui/Status'
import { Copyable, Time } from '../../ui/Values'
import classes from './DomainDetails.module.css'
import { foundText } from './found'

type Domain = Schema<'Domain'>
type Found = Schema<'VerifiedDomain'>['found']

const ONE = '/api/organizations/{organization_id}/domains/{id}/'

export const DomainState = ({ domain }: { domain: Domain }) => (
  <Status kind={domain.is_verified ? 'delivered' : 'waiting'}>
    {domain.is_verified ? 'verified' : 'not verified'}
  </Status>
)

export function DomainDetails({ domain, onGone }: { domain: Domain; onGone: () => void }) {
  const { id: organization_id } = useOrganization()
  const queries = useQueryClient()
  const denial = useOrganizationDenial('admin')
  const [isAsking, setAsking] = useState(false)
  const params = { path: { organization_id, id: domain.id } }
  const refresh = () => queries.invalidateQueries({ queryKey: ['domains', organization_id] })

  const letJoin = async (jit_provisioning_enabled: boolean) => {
    try {
      await answer(api.PATCH(ONE, { params, body: { jit_provisioning_enabled } }))
      done(
        jit_provisioning_enabled
          ? `Everybody of ${domain.domain} may join.`
          : `People of ${domain.domain} need an invite.`,
      )
      await refresh()
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
      <Switch
        label="Everybody of this domain may join"
        description="Whoever signs in through single sign-on with such an address becomes a member, without an invite."
        checked={domain.jit_provisioning_enabled}
        disabled={denial !== null || !domain.is_verified}
        onChange={(event) => void letJoin(event.currentTarget.checked)}
      />
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
          await refresh()
        }}
      >
        Its addresses sign in like all others, and another organization can claim it. Nobody loses their
        membership.
      </Confirm>
    </Stack>
  )
}

function Proof({
  domain,
  denial,
  onChecked,
}: {
  domain: Domain
  denial: string | null
  onChecked: () => Promise<void>
}) {
  const { id: organization_id } = useOrganization()
  const [isLooking, setLooking] = useState(false)
  const [found, setFound] = useState<Found | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const look = async () => {
    setLooking(true)
    setProblem(null)
    try {
      const params = { path: { organization_id, id: domain.id } }
      const checked = await answer(api.POST(`${ONE}verify/`, { params }))
      setFound(checked.found)
      if (checked.is_verified) done(`${domain.domain} is verified.`)
      await onChecked()
    } catch (error) {
      setProblem(toFailure(error).message)
    } finally {
      setLooking(false)
    }
  }
  return (
    <Stack gap="md">
      <div>
        <Title order={3}>Prove that the domain is yours</Title>
        <Text size="sm" c="dimmed">
          Add this record where the domain’s DNS is kept. It can take an hour until it is seen everywhere.
        </Text>
      </div>
      <div className={classes.record}>
        <Facts
          facts={[
            [
              'Type',
              <span key="type" className="mono">
                TXT
              </span>,
            ],
            ['Name', <Copyable key="name" value={domain.verification_record} />],
            ['Value', <Copyable key="value" value={domain.verification_challenge} />],
          ]}
        />
      </div>
      <FormProblem>{problem}</FormProblem>
      <Group gap="md">
        <GuardedButton denial={denial} loading={isLooking} onClick={() => void look()}>
          Check now
        </GuardedButton>
        <Text size="sm" c="dimmed">
          {domain.last_verification_retry === null ? (
            'Not looked for yet.'
          ) : (
            <>
              Looked for <Time value={domain.last_verification_retry} style="second" />.
            </>
          )}
        </Text>
      </Group>
      {found !== null && found.finding !== 'published' && (
        <div role="status" className={classes.found}>
          <Text size="sm">{foundText(found)}</Text>
          {found.values.map((value) => (
            <div key={value} className={`mono ${classes.value}`}>
              {value}
            </div>
          ))}
        </div>
      )}
    </Stack>
  )
}
