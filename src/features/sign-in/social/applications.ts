// The applications that the operator of this instance registered at Google, GitHub and GitLab.
import type { Services, SocialClient } from '../../../platform/services.ts'
import type { Provider } from '../../identities/schema.ts'
import { Fault } from '../oidc/steps.ts'

export type SocialProvider = keyof Services['settings']['social_sign_in']

/** Throws a Fault where there is none. */
export function applicationAt({ settings }: Services, provider: SocialProvider): SocialClient {
  const application = settings.social_sign_in[provider]
  if (application) return application
  throw new Fault('configuration', `There are no keys for ${provider}.`, 'provider_not_set_up')
}

export function redirectUri({ settings }: Services, provider: Provider): string {
  return `${settings.site_url}/complete/${provider}/`
}
