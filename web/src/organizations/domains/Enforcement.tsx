// What the domain's people have to sign in with. A way can be demanded once an admin has come in by it: nobody locks
// everybody out by mistake.
import { Anchor, Radio, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schema } from '../../api/client'
import { useOrganization, useOrganizationDenial } from '../../api/me'
import { providerName } from '../../sign-in/ways'
import { Confirm } from '../../ui/Confirm'
import { done, refused } from '../../ui/notify'
import { Failed, Loading } from '../../ui/States'
import { startAddress } from './addresses'
import { useDomainChange, waysQuery, type Domain } from './queries'

type Way = Schema<'DomainWay'>

export function Enforcement({ domain }: { domain: Domain }) {
  const { id: organization_id } = useOrganization()
  const denial = useOrganizationDenial('admin')
  const ways = useQuery(waysQuery(organization_id, domain.id))
  const { change } = useDomainChange(domain)
  const [asking, setAsking] = useState<string | null>(null)
  if (ways.isPending) return <Loading rows={3} />
  if (ways.isLoadingError)
    return (
      <Failed
        error={ways.error}
        what="The ways to sign in could not be shown."
        onRetry={() => void ways.refetch()}
      />
    )
  const lift = async () => {
    try {
      await change({ sso_enforcement: '' })
      done(`People of ${domain.domain} sign in as they like.`)
    } catch (error) {
      refused(error)
    }
  }
  // Others are nothing that an admin of this organization could do about.
  const shown = ways.data.filter(
    ({ provider, is_set_up }) => is_set_up || ['saml', 'oidc', domain.sso_enforcement].includes(provider),
  )
  return (
    <>
      <Radio.Group
        label="People of this domain sign in with"
        description={
          denial ?? 'What is chosen here is demanded of everybody. Passwords are off for them then.'
        }
        value={domain.sso_enforcement}
        onChange={(value) => (value === '' ? void lift() : setAsking(value))}
      >
        <Stack gap="sm" mt="sm">
          <Radio value="" label="Whatever they like" disabled={denial !== null} />
          {shown.map((way) => (
            <Choice key={way.provider} way={way} domain={domain} denial={denial} />
          ))}
        </Stack>
      </Radio.Group>
      <Confirm
        isOpen={asking !== null}
        onClose={() => setAsking(null)}
        title={`Demand ${providerName(asking ?? '')} of everybody?`}
        button={`Demand ${providerName(asking ?? '')}`}
        onConfirm={async () => {
          await change({ sso_enforcement: asking as Way['provider'] })
          done(`People of ${domain.domain} sign in with ${providerName(asking!)} from now on.`)
        }}
      >
        Passwords of people of {domain.domain} stop working, and sessions that were opened in another way end
        at once, yours as well. API keys go on working. Owners can still come in by a mailed link.
      </Confirm>
    </>
  )
}

type ChoiceProps = { way: Way; domain: Domain; denial: string | null }

function Choice({ way: { provider, is_set_up, is_tested }, domain, denial }: ChoiceProps) {
  const name = providerName(provider)
  const isChosen = provider === domain.sso_enforcement
  const lacks = !is_set_up
    ? `Set ${name} up first.`
    : !is_tested && !isChosen
      ? 'An admin has to sign in this way first, within the last day: nobody locks everybody out by mistake.'
      : undefined
  return (
    <div>
      <Radio
        value={provider}
        label={name}
        description={lacks}
        disabled={denial !== null || lacks !== undefined}
      />
      {is_set_up && lacks !== undefined && denial === null && (
        <Text size="sm" ml={28}>
          <Anchor inherit href={startAddress(provider, domain, here())}>
            Sign in with {name} now
          </Anchor>
        </Text>
      )}
    </div>
  )
}

const here = () => `${location.pathname}${location.search}`
