// Sign-ins through a provider of somebody whose account is deleted: what was sent about them goes with it.
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'

type Person = { id: number; addresses: readonly string[] }

/** A domain has a thousand records at most; each may name the person in what their provider sent. */
export async function eraseSignInRecords(
  tx: Db,
  domainIds: readonly string[],
  { id, addresses }: Person,
): Promise<void> {
  await tx.run(sql`
    DELETE FROM sign_in_record WHERE domain_id = ANY(${domainIds}::uuid[]) AND (user_id = ${id} OR EXISTS (
      SELECT FROM unnest(${addresses.map((each) => each.toLowerCase())}::text[]) AS given (address)
      WHERE position(address IN lower(concat(email, received, checks))) > 0))`)
}
