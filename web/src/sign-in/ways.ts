// Ways to sign in through a provider: what people call them, and where each starts.
import { NAMES } from '../../../src/features/sign-in/provider/names.ts'
import type { Schema } from '../api/client'

export type Provider = keyof typeof NAMES

const isProvider = (name: string): name is Provider => Object.hasOwn(NAMES, name)

export const providerName = (name: string): string => (isProvider(name) ? NAMES[name] : name)

/** Those that a domain sets up are found by the address. */
export function startOf(provider: string, email: string, next: string): string {
  const isOfDomain = provider === 'saml' || provider === 'oidc'
  return `/login/${encodeURIComponent(provider)}/?${new URLSearchParams(isOfDomain ? { email, next } : { next })}`
}

type Rule = {
  sso_enforcement: string | null
  saml_available: boolean
  oidc_available: boolean
}

/** What the domain of an address offers: the one that it demands, or those it has set up. */
export function waysOf({ sso_enforcement, saml_available, oidc_available }: Rule): string[] {
  if (sso_enforcement !== null) return [sso_enforcement]
  return [...(saml_available ? ['saml'] : []), ...(oidc_available ? ['oidc'] : [])]
}

/** What the server offers to everybody. */
export const socialWaysOf = ({ available_social_auth_providers }: Schema<'Preflight'>): Provider[] =>
  Object.entries(available_social_auth_providers).flatMap(([name, isThere]) =>
    isThere === true && isProvider(name) ? [name] : [],
  )

/** The sign-in page with an address filled in, and the way back to where one is. */
export const signInAddress = (email: string, next: string): string =>
  `/login?${new URLSearchParams({ email, next })}`
