import { expect, it } from 'vitest'
import { outcomeKind, outcomeText } from './outcome.ts'

it.each([
  ['signed_in', 'sign-in', 'delivered', 'Signed in'],
  ['signed_in', 'test', 'delivered', 'Test passed'],
  ['link_needed', 'sign-in', 'held', 'Password asked for'],
  ['link_needed', 'test', 'held', 'Test passed: password needed once'],
  ['no_email', 'sign-in', 'failed', 'Refused'],
  ['no_email', 'test', 'failed', 'Test failed'],
])('%s of a %s: %s, %s', (outcome, purpose, kind, text) => {
  expect([outcomeKind(outcome), outcomeText({ outcome, purpose })]).toEqual([kind, text])
})
