// Proving that a domain is the organization's: a TXT record that holds the challenge.
import type { Services } from '../../platform/services.ts'
import type { DomainRow } from './schema.ts'

/** A resolver that fails counts as "no record yet": it is logged, never an error of the request. */
export async function isChallengePublished(services: Services, row: DomainRow): Promise<boolean> {
  const { values, failure } = await services.lookupTxt(`${services.settings.domain_challenge_prefix}.${row.domain}`)
  if (failure) services.log.info({ domain: row.domain, failure }, 'domain verification: no answer from DNS')
  return values.some((value) => value.trim() === row.verification_challenge)
}
