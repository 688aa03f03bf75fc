// What people call the providers.
import type { Provider } from '../../identities/schema.ts'

export const NAMES: Record<Provider, string> = {
  'google-oauth2': 'Google',
  github: 'GitHub',
  gitlab: 'GitLab',
  saml: 'SAML',
  oidc: 'OpenID Connect',
}
