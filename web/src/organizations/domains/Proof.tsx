// The record that proves a domain, and what the name server said.
import { Group, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { answer, api, type Schema } from '../../api/client'
import { toFailure } from '../../api/failure'
import { useOrganization } from '../../api/me'
import { Facts } from '../../ui/Facts'
import { FormProblem } from '../../ui/FormProblem'
import { GuardedButton } from '../../ui/Guarded'
import { done } from '../../ui/notify'
import { Copyable, Time } from '../../ui/Values'
import classes from './Domain.module.css'
import { foundText } from './found'
import { ONE, type Domain } from './queries'

type Found = Schema<'VerifiedDomain'>['found']

export function Proof({
  domain,
  denial,
  onChecked,
}: {
  domain: Domain
  denial: string | null
  onChecked: () => Promise<unknown>
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
