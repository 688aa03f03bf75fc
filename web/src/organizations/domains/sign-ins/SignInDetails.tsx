// One sign-in through a provider, or one test of it: what was sent, each check with its verdict, and what came of it.
import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answer, api, type Schema } from '../../../api/client'
import { useOrganization } from '../../../api/me'
import { providerName } from '../../../sign-in/ways'
import { Facts } from '../../../ui/Facts'
import { PropertyTable } from '../../../ui/PropertyTable'
import { Failed, Loading } from '../../../ui/States'
import { Status } from '../../../ui/Status'
import { Copyable, Time } from '../../../ui/Values'
import classes from '../Domain.module.css'
import type { Domain } from '../queries'
import { outcomeKind, outcomeText } from './outcome'

type Record = Schema<'SignInRecord'>

export const Outcome = ({ record }: { record: Record }) => (
  <Status kind={outcomeKind(record.outcome)}>{outcomeText(record)}</Status>
)

type Props = { domain: Domain; id: string; onBack: () => void }

export function SignInDetails({ domain, id, onBack }: Props) {
  const { id: organization_id } = useOrganization()
  const record = useQuery({
    queryKey: ['sign-in', id],
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/organizations/{organization_id}/domains/{domain_id}/sign_ins/{id}/', {
          params: { path: { organization_id, domain_id: domain.id, id } },
          signal,
        }),
      ),
  })
  return (
    <Stack gap="lg">
      {record.isPending ? (
        <Loading rows={6} />
      ) : record.isLoadingError ? (
        <Failed
          error={record.error}
          what="This sign-in could not be shown."
          onRetry={() => void record.refetch()}
        />
      ) : (
        <Shown record={record.data} />
      )}
      <Group>
        <Button variant="default" onClick={onBack}>
          All sign-ins
        </Button>
      </Group>
    </Stack>
  )
}

function Shown({ record }: { record: Record }) {
  const { id, provider, purpose, message, email, ip, checks, received, created_at } = record
  const isTest = purpose === 'test'
  return (
    <>
      <div>
        <Title order={3}>
          <Outcome record={record} />
        </Title>
        <Text mt={4}>{message}</Text>
        {isTest && (
          <Text size="sm" c="dimmed">
            This was a test: nothing was changed by it.
          </Text>
        )}
      </div>
      <Facts
        facts={[
          ['Way', providerName(provider)],
          ['Address', email ?? 'none was accepted'],
          ['When', <Time key="when" value={created_at} style="second" />],
          [
            'From',
            <span key="from" className="mono">
              {ip}
            </span>,
          ],
          ['Id', <Copyable key="id" value={id} />],
        ]}
      />
      <div>
        <Title order={3} mb="sm">
          Checks
        </Title>
        {checks.length === 0 ? (
          <Text c="dimmed">It ended before anything could be checked.</Text>
        ) : (
          <ul className={classes.checks} aria-label="Checks">
            {checks.map(({ check, is_passed, message: said }) => (
              <li key={`${check} ${said}`} className={classes.check}>
                <Status kind={is_passed ? 'delivered' : 'failed'}>
                  <b>{check}</b> <span className="aloud">{is_passed ? 'passed' : 'failed'}</span>
                </Status>
                <div className={classes.said}>{said}</div>
              </li>
            ))}
          </ul>
        )}
      </div>
      <div>
        <Title order={3} mb="sm">
          What the provider sent
        </Title>
        {Object.keys(received).length === 0 ? (
          <Text c="dimmed">Nothing that could be read.</Text>
        ) : (
          <PropertyTable label="What the provider sent" properties={received} />
        )}
      </div>
    </>
  )
}
