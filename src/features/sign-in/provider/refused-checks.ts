// What a record says of somebody whose provider did everything right, and who is not let in all the same.
import type { DomainRow } from '../../domains/schema.ts'
import type { Vouched } from '../../identities/schema.ts'
import { REFUSALS, type RefusalCode } from './refusals.ts'
import type { Check } from './way.ts'

/** None where a check of the provider's answer has said it already. */
export function refusedChecks(refused: RefusalCode, { email }: Vouched, domain: DomainRow | null): Check[] {
  switch (refused) {
    case 'email_not_in_domain':
      return [
        {
          check: 'domain',
          is_passed: false,
          message: `${email} is not in ${domain?.domain}. The provider of a domain speaks for addresses of exactly this domain.`,
        },
      ]
    case 'account_inactive':
    case 'not_invited':
    case 'way_not_allowed':
      return [{ check: 'account', is_passed: false, message: REFUSALS[refused] }]
    default:
      return []
  }
}
