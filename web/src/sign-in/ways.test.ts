import { expect, it } from 'vitest'
import { signInAddress, socialWaysOf, startOf, waysOf } from './ways.ts'

const NOTHING = { sso_enforcement: null, saml_available: false, oidc_available: false }

it.each([
  [NOTHING, []],
  [{ ...NOTHING, saml_available: true, oidc_available: true }, ['saml', 'oidc']],
  [{ ...NOTHING, saml_available: true, sso_enforcement: 'github' }, ['github']],
])('%j offers %j', (rule, ways) => {
  expect(waysOf(rule)).toEqual(ways)
})

it('starts with the address where a domain decides, and never loses a sign', () => {
  expect(startOf('saml', 'a+b@example.com', '/x?y=1&z')).toBe(
    '/login/saml/?email=a%2Bb%40example.com&next=%2Fx%3Fy%3D1%26z',
  )
  expect(startOf('google-oauth2', 'a@example.com', '/')).toBe('/login/google-oauth2/?next=%2F')
  expect(startOf('../x', '', '/')).toBe('/login/..%2Fx/?next=%2F')
  expect(signInAddress('a&b@example.com', '/a')).toBe('/login?email=a%26b%40example.com&next=%2Fa')
})

it('offers what the server has, and nothing it does not know', () => {
  const available_social_auth_providers = {
    github: true,
    gitlab: false,
    myspace: true,
    toString: true,
    'google-oauth2': 'yes',
  }
  expect(socialWaysOf({ available_social_auth_providers } as never)).toEqual(['github'])
})
