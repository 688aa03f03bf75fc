import type { StatusKind } from '../../../ui/Status'

/** As long before its end as admins get a mail (src/features/domains/certificate-expiry.ts). */
const SOON_MS = 30 * 24 * 60 * 60 * 1000

export function certificateKind(expires_at: string, now = Date.now()): StatusKind {
  const left = Date.parse(expires_at) - now
  if (left <= 0) return 'failed'
  return left <= SOON_MS ? 'held' : 'delivered'
}

export const certificateText = (expires_at: string, now = Date.now()): string =>
  ({ failed: 'expired', held: 'expires soon,' })[certificateKind(expires_at, now) as string] ?? 'good until'
