// Proving that a domain is the organization's: a TXT record that holds the challenge.
import type { Services } from '../../platform/services.ts'
import type { DomainRow, FINDINGS } from './schema.ts'

/** `unknown`: our own name server did not answer, which says nothing about the domain. */
type Finding = (typeof FINDINGS)[number]
export type Found = { finding: Finding; values: string[] }

const NAME_SERVER_AWAY = new Set(['ETIMEOUT', 'ECONNREFUSED'])
const SHOWN_VALUES = 10
const SHOWN_CHARACTERS = 300

export function recordName(services: Services, { domain }: Pick<DomainRow, 'domain'>): string {
  return `${services.settings.domain_challenge_prefix}.${domain}`
}

/** However the lookup fails, it is logged and never an error of the request. */
export async function lookForChallenge(services: Services, row: DomainRow): Promise<Found> {
  const { values, failure } = await services.lookupTxt(recordName(services, row))
  if (failure) services.log.info({ domain: row.domain, failure }, 'domain verification: no answer from DNS')
  const shown = values.slice(0, SHOWN_VALUES).map((value) => value.slice(0, SHOWN_CHARACTERS))
  if (values.some((value) => value.trim() === row.verification_challenge)) {
    return { finding: 'published', values: shown }
  }
  const isAway = failure !== null && NAME_SERVER_AWAY.has(failure)
  return { finding: isAway ? 'unknown' : 'absent', values: shown }
}
