// Sign-in through an OpenID provider: the addresses it is given, what it gives in return, and a test.
import { Button, Group, Input, PasswordInput, Stack, TextInput, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useOrganizationDenial } from '../../api/me'
import { preflightQuery } from '../../api/preflight'
import { useForm } from '../../ui/form'
import { FormProblem } from '../../ui/FormProblem'
import { GuardedButton } from '../../ui/Guarded'
import { done } from '../../ui/notify'
import { Loading } from '../../ui/States'
import { Status } from '../../ui/Status'
import { oidcValues } from './addresses'
import { ProviderValues } from './ProviderValues'
import { useDomainChange, type Domain, type PartProps } from './queries'
import { RemoveSetUp } from './RemoveSetUp'
import { TestSignIn } from './TestSignIn'

export function OidcPart({ domain }: PartProps) {
  const { change } = useDomainChange(domain)
  const preflight = useQuery(preflightQuery).data
  if (!preflight) return <Loading rows={5} />
  return (
    <Stack gap="xl">
      <ProviderValues values={oidcValues(preflight.site_url, domain)} />
      <OidcForm key={`${domain.oidc_issuer} ${domain.oidc_client_id} ${domain.has_oidc}`} domain={domain} />
      <TestSignIn domain={domain} provider="oidc" />
      {domain.has_oidc && (
        <RemoveSetUp
          name="OpenID Connect"
          isEnforced={domain.sso_enforcement === 'oidc'}
          onRemove={() => change({ oidc_issuer: null, oidc_client_id: null, oidc_client_secret: null })}
        />
      )}
    </Stack>
  )
}

function OidcForm({ domain }: { domain: Domain }) {
  const denial = useOrganizationDenial('admin')
  const { change } = useDomainChange(domain)
  const [isReplacing, setReplacing] = useState(!domain.has_oidc)
  const form = useForm({
    initial: {
      oidc_issuer: domain.oidc_issuer ?? '',
      oidc_client_id: domain.oidc_client_id ?? '',
      oidc_client_secret: '',
    },
    secrets: ['oidc_client_secret'],
    draft: denial === null ? `oidc ${domain.id}` : undefined,
    async submit({ oidc_client_secret, ...fields }) {
      await change({ ...fields, ...(oidc_client_secret === '' ? {} : { oidc_client_secret }) })
      done('The settings of OpenID Connect were saved.')
    },
  })
  // Another provider must not get the secret of this one.
  const isAsked = isReplacing || form.errors.oidc_client_secret !== undefined
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="md">
        <Title order={3}>2. Enter what the provider gives you</Title>
        <FormProblem>{form.problem}</FormProblem>
        <TextInput
          label="Issuer"
          description="The address of the provider, as its page of settings has it."
          placeholder="https://login.example.com"
          required
          disabled={denial !== null}
          {...form.field('oidc_issuer')}
        />
        <TextInput
          label="Client id"
          required
          disabled={denial !== null}
          autoComplete="off"
          {...form.field('oidc_client_id')}
        />
        {isAsked ? (
          <PasswordInput
            label="Client secret"
            required={!domain.has_oidc}
            disabled={denial !== null}
            autoComplete="new-password"
            {...form.field('oidc_client_secret')}
          />
        ) : (
          <Input.Wrapper label="Client secret" labelElement="div">
            <Group gap="sm">
              <Status kind="delivered">stored</Status>
              {denial === null && (
                <Button variant="default" size="compact-sm" onClick={() => setReplacing(true)}>
                  Replace secret
                </Button>
              )}
            </Group>
          </Input.Wrapper>
        )}
        <Group>
          <GuardedButton type="submit" variant="default" denial={denial} loading={form.isBusy}>
            Save OpenID Connect
          </GuardedButton>
        </Group>
      </Stack>
    </form>
  )
}
