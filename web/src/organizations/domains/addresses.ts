// Addresses of a domain's sign-on: what a provider is given, and where browsers start.

/** Also for somebody who is signed in already: what the provider says is linked to their account. */
export function startAddress(provider: string, { id }: { id: string }, next: string): string {
  const isOfDomain = provider === 'saml' || provider === 'oidc'
  return `/login/${provider}/?${new URLSearchParams(isOfDomain ? { domain: id, next } : { next })}`
}

type Value = readonly [name: string, value: string]

/** Under the names that providers ask for them by. */
export const samlValues = (site: string, id: string): readonly Value[] => [
  ['Entity id, audience', site],
  ['ACS address', `${site}/complete/saml/`],
  ['Relay state', id],
  ['Metadata', `${site}/login/saml/metadata/${id}/`],
  ['Sign-in starts at', `${site}/login/saml/?domain=${id}`],
]

export const oidcValues = (
  site: string,
  { id, oidc_redirect_uris: [shared = '', own = ''] }: { id: string; oidc_redirect_uris: readonly string[] },
): readonly Value[] => [
  ['Redirect address', shared],
  ['Second redirect address', own],
  ['Sign-in starts at', `${site}/login/oidc/?domain=${id}`],
]
