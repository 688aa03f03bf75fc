// Trying a provider out: the whole sign-in in a tab of its own, where the result is shown. Nothing is changed by it.
import { Group, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { answer, api } from '../../api/client'
import { useOrganizationDenial } from '../../api/me'
import { GuardedButton } from '../../ui/Guarded'
import { refused } from '../../ui/notify'
import { ONE, useDomainChange, type Domain } from './queries'

export function TestSignIn({ domain, provider }: { domain: Domain; provider: 'saml' | 'oidc' }) {
  const denial = useOrganizationDenial('admin')
  const { params } = useDomainChange(domain)
  const [isBusy, setBusy] = useState(false)
  const isSetUp = provider === 'saml' ? domain.has_saml : domain.has_oidc
  const test = async () => {
    // Browsers allow a new tab only at the click itself, not after an answer.
    const tab = open('', '_blank')
    setBusy(true)
    try {
      const { url } = await answer(api.POST(`${ONE}test_sso/`, { params, body: { provider } }))
      if (tab === null) location.assign(url)
      else {
        tab.opener = null
        tab.location.assign(url)
      }
    } catch (error) {
      tab?.close()
      refused(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <div>
      <Title order={3}>3. Try it</Title>
      <Text size="sm" c="dimmed" mb="sm">
        Runs the whole sign-in in a new tab, and shows what the provider sent and what each check says.
        Nothing is changed by it.
      </Text>
      <Group>
        <GuardedButton
          denial={denial ?? (isSetUp ? null : 'Save the settings of the provider first.')}
          loading={isBusy}
          onClick={() => void test()}
        >
          Test sign-in
        </GuardedButton>
      </Group>
    </div>
  )
}
