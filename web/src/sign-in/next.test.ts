import { expect, it } from 'vitest'
import { nextOf } from './next.ts'

const ORIGIN = 'https://longshore.example'

it.each([
  '//evil.example',
  'https://evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  '\t//evil.example',
  'javascript:alert(1)',
  'data:text/html,x',
  'https://longshore.example@evil.example',
  'https://longshore.example.evil.example',
  'https://[',
  'https://longshore.example//evil.example',
  '/login/oidc/?domain=x',
  '/%6cogin/saml/?domain=x',
  '/./login/oidc/',
  '/complete/oidc/?state=x',
  '/%zz',
  7,
  null,
  undefined,
])('%j leads home', (next) => {
  expect(nextOf(next, ORIGIN)).toBe('/')
})

it.each([
  '/project/1/sql?q=select%201#x',
  '/signup/abc',
  '/',
  '/login?next=//evil.example',
  '/login',
  '/%2f/evil.example',
])('%s is ours', (next) => {
  expect(nextOf(next, ORIGIN)).toBe(next)
  expect(new URL(nextOf(next, ORIGIN), ORIGIN).origin).toBe(ORIGIN)
})
