// Proving that a domain is the organization's: a TXT record that holds the challenge.
import type { Services } from '../../platform/services.ts'
import type { DomainRow } from './schema.ts'

/** `unknown`: our own name server did not answer, which says nothing about the domain. */
export type Finding = 'published' | 'absent' | 'unknown'

const NAME_SERVER_AWAY = new Set(['ETIMEOUT', 'ECONNREFUSED'])

/** However the lookup fails, it is logged and never an error of the request. */
export async function lookForChallenge(services: Services, row: DomainRow): Promise<Finding> {
  const { values, failure } = await services.lookupTxt(
    `${services.settings.domain_challenge_prefix}.${row.domain}`,
  )
  if (failure) services.log.info({ domain: row.domain, failure }, 'domain verification: no answer from DNS')
  if (values.some((value) => value.trim() === row.verification_challenge)) return 'published'
  return failure && NAME_SERVER_AWAY.has(failure) ? 'unknown' : 'absent'
}
