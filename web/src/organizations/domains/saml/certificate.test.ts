import { expect, it } from 'vitest'
import { certificateKind, certificateText } from './certificate.ts'

const NOW = Date.parse('2030-01-01T00:00:00Z')

it.each([
  ['2029-12-31T23:59:59Z', 'failed', 'expired'],
  ['2030-01-30T23:59:59Z', 'held', 'expires soon,'],
  ['2030-02-01T00:00:00Z', 'delivered', 'good until'],
])('%s: %s, %s', (expires_at, kind, text) => {
  expect([certificateKind(expires_at, NOW), certificateText(expires_at, NOW)]).toEqual([kind, text])
})
