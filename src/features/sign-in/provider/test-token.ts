// What makes a sign-in a test: a token in the address of its start, good for ten minutes and for one domain. Nothing is stored.
import type { Services } from '../../../platform/services.ts'
import type { DomainRow } from '../../domains/schema.ts'

const LIFETIME_S = 600
const TOKEN = /^([0-9a-z]{1,10})-(.{1,100})$/

export function newTestToken({ secrets }: Services, { id }: DomainRow, now: Date): string {
  const made = Math.floor(now.getTime() / 1000).toString(36)
  return `${made}-${secrets.fingerprint('sign-in test', made, id)}`
}

export function isTestToken({ secrets }: Services, { id }: DomainRow, token: string, now: Date): boolean {
  const [, made, fingerprint] = TOKEN.exec(token) ?? []
  if (made === undefined || fingerprint === undefined) return false
  const age_s = now.getTime() / 1000 - Number.parseInt(made, 36)
  return age_s >= -1 && age_s <= LIFETIME_S && secrets.matches(fingerprint, 'sign-in test', made, id)
}
