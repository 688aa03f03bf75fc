import type { StatusKind } from '../../../ui/Status'

export function outcomeKind(outcome: string): StatusKind {
  if (outcome === 'signed_in') return 'delivered'
  return outcome === 'link_needed' ? 'held' : 'failed'
}

export function outcomeText({ outcome, purpose }: { outcome: string; purpose: string }): string {
  const isTest = purpose === 'test'
  if (outcome === 'signed_in') return isTest ? 'Test passed' : 'Signed in'
  if (outcome === 'link_needed') return isTest ? 'Test passed: password needed once' : 'Password asked for'
  return isTest ? 'Test failed' : 'Refused'
}
