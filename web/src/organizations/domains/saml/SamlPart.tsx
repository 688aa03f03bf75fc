// Sign-in through a SAML provider: the values it is given, what it gives in return, and a test.
import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useOrganizationDenial } from '../../../api/me'
import { preflightQuery } from '../../../api/preflight'
import { GuardedSwitch } from '../../../ui/GuardedSwitch'
import { done, refused } from '../../../ui/notify'
import { Loading } from '../../../ui/States'
import { samlValues } from '../addresses'
import { ProviderValues } from '../ProviderValues'
import { useDomainChange, type PartProps } from '../queries'
import { RemoveSetUp } from '../RemoveSetUp'
import { TestSignIn } from '../TestSignIn'
import { Certificates } from './Certificates'
import { SamlSettings } from './SamlSettings'

export function SamlPart({ domain }: PartProps) {
  const denial = useOrganizationDenial('admin')
  const { change } = useDomainChange(domain)
  const preflight = useQuery(preflightQuery).data
  if (!preflight) return <Loading rows={5} />
  const accept = async (saml_allow_idp_initiated: boolean) => {
    try {
      await change({ saml_allow_idp_initiated })
      done(
        saml_allow_idp_initiated
          ? 'Sign-ins that the provider starts are accepted.'
          : 'Only sign-ins that start here are accepted.',
      )
    } catch (error) {
      refused(error)
    }
  }
  return (
    <Stack gap="xl">
      <ProviderValues values={samlValues(preflight.site_url, domain.id)} />
      <SamlSettings domain={domain} />
      {domain.saml_certificates.length > 0 && <Certificates certificates={domain.saml_certificates} />}
      <GuardedSwitch
        label="Accept sign-ins that the provider starts"
        description="For people who begin at a tile of the provider’s own page. Nobody asked for such an answer, so anybody can send one that was stolen before it is used: off unless you need it."
        checked={domain.saml_allow_idp_initiated}
        denial={denial}
        onChange={(event) => void accept(event.currentTarget.checked)}
      />
      <TestSignIn domain={domain} provider="saml" />
      {domain.has_saml && (
        <RemoveSetUp
          name="SAML"
          isEnforced={domain.sso_enforcement === 'saml'}
          onRemove={() => change({ saml_entity_id: null, saml_acs_url: null, saml_x509_cert: null })}
        />
      )}
    </Stack>
  )
}
