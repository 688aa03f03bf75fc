// One domain, in parts that have an address each.
import { Stack } from '@mantine/core'
import { lazy, Suspense, type ComponentType } from 'react'
import { useOrganization } from '../../api/me'
import { TabLinks } from '../../ui/Page'
import { Loading } from '../../ui/States'
import { useAddress } from '../page'
import { GeneralPart } from './GeneralPart'
import type { PartProps } from './queries'

const PARTS: Readonly<Record<string, { label: string; Content: ComponentType<PartProps> }>> = {
  general: { label: 'General', Content: GeneralPart },
  saml: {
    label: 'SAML',
    Content: lazy(() => import('./saml/SamlPart').then((file) => ({ default: file.SamlPart }))),
  },
  oidc: {
    label: 'OpenID Connect',
    Content: lazy(() => import('./OidcPart').then((file) => ({ default: file.OidcPart }))),
  },
  scim: {
    label: 'SCIM',
    Content: lazy(() => import('./scim/ScimPart').then((file) => ({ default: file.ScimPart }))),
  },
  'sign-ins': {
    label: 'Sign-ins',
    Content: lazy(() => import('./sign-ins/SignInsPart').then((file) => ({ default: file.SignInsPart }))),
  },
  keys: {
    label: 'Keys',
    Content: lazy(() => import('./KeysPart').then((file) => ({ default: file.KeysPart }))),
  },
}

export function DomainParts(props: PartProps) {
  const { id: organizationId } = useOrganization()
  const { search } = useAddress()
  const part = search.part !== undefined && Object.hasOwn(PARTS, search.part) ? search.part : 'general'
  const { Content } = PARTS[part]!
  const tabs = Object.entries(PARTS).map(([value, { label }]) => ({
    value,
    label,
    link: {
      to: '/organization/$organizationId/$tab',
      params: { organizationId, tab: 'domains' },
      search: { open: props.domain.id, ...(value === 'general' ? {} : { part: value }) },
    } as const,
  }))
  return (
    <Stack gap="lg">
      <TabLinks label="Domain" tabs={tabs} value={part} />
      <Suspense fallback={<Loading rows={5} />}>
        <Content {...props} />
      </Suspense>
    </Stack>
  )
}
