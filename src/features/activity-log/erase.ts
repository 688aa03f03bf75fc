// Takes a person whose account is deleted out of the activity log: what was done stays, and who did it is a number. The
// entries lose their text, so their own hashes can no longer be checked; the entry that records the deletion says how many
// they are and what they hold now, and is part of the chain itself.
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import { addToTally, NO_TALLY, type ChainedEntry, type Erasure } from './chain.ts'
import { recordActivity, type Actor } from './record.ts'

/** Stands where the name or the address of the person stood. */
export const ERASED = 'deleted user'

const PERSONAL_FIELDS = new Set(['first_name', 'last_name', 'email', 'pending_email', 'label'])
const ROWS_AT_ONCE = 1000

type Entry = ChainedEntry & { erased_by: string | null }

export type ErasedPerson = {
  id: number
  uuid: string
  /** All that the account ever had. */
  addresses: readonly string[]
}

/** Reads the whole log: accounts are seldom deleted. Ends with one entry per organization concerned. */
export async function erasePerson(tx: Db, actor: Actor, person: ErasedPerson): Promise<void> {
  const addresses = new Set(person.addresses.map(lower))
  const entries = await findEntries(tx, person, addresses)
  const erased = entries.flatMap((entry) => {
    const after = withoutPerson(entry, person, addresses)
    return JSON.stringify(after) === JSON.stringify(entry) ? [] : [{ before: entry, after }]
  })
  // In the order of their ids: whoever else needs several organizations' locks takes them in the same order.
  const organizations = new Set([null, ...erased.map(({ before }) => before.organization_id)])
  for (const organizationId of [...organizations].toSorted((a, b) => (a ?? '').localeCompare(b ?? ''))) {
    const own = erased.filter(({ before }) => before.organization_id === organizationId)
    const id = await recordErasure(tx, actor, person, organizationId, own)
    await storeErased(
      tx,
      id,
      own.map(({ after }) => after),
    )
  }
}

/** Those that the log tells of. */
export async function formerAddresses(tx: Db, uuid: string): Promise<string[]> {
  const rows = await tx.rows<{ address: string | null }>(sql`
    SELECT DISTINCT address FROM activity_log,
      LATERAL jsonb_array_elements(detail -> 'changes') AS change,
      LATERAL (VALUES (change ->> 'before'), (change ->> 'after')) AS given (address)
    WHERE scope = 'User' AND item_id = ${uuid} AND change ->> 'field' IN ('email', 'pending_email')`)
  return rows.flatMap(({ address }) => address ?? [])
}

function findEntries(tx: Db, { id, uuid }: ErasedPerson, addresses: ReadonlySet<string>): Promise<Entry[]> {
  const quoted = [...addresses].map((address) => JSON.stringify(address))
  return tx.rows(sql`
    SELECT * FROM activity_log
    WHERE user_id = ${id} OR item_id = ${uuid} OR EXISTS (
      SELECT FROM unnest(${quoted}::text[]) AS given (text) WHERE position(given.text IN lower(detail::text)) > 0)
    ORDER BY position`)
}

function withoutPerson<E extends ChainedEntry>(
  entry: E,
  person: ErasedPerson,
  addresses: ReadonlySet<string>,
): E {
  const isActor = entry.user_id === person.id
  const isAbout = entry.item_id === person.uuid || (isActor && entry.scope === 'PersonalAPIKey')
  const detail = withoutAddresses(isAbout ? withoutFields(entry.detail) : entry.detail, addresses)
  return { ...entry, ...(isActor ? { actor_name: ERASED, ip: null } : {}), detail }
}

type Detail = { name?: unknown; changes?: { field?: unknown; before: unknown; after: unknown }[] }

function withoutFields(detail: object): object {
  const { changes = [] } = detail as Detail
  const blank = (value: unknown) => (value === null || value === '' ? value : ERASED)
  return {
    ...detail,
    name: ERASED,
    changes: changes.map((change) =>
      PERSONAL_FIELDS.has(String(change.field))
        ? { ...change, before: blank(change.before), after: blank(change.after) }
        : change,
    ),
  }
}

function withoutAddresses<Value>(value: Value, addresses: ReadonlySet<string>): Value {
  if (typeof value === 'string') return (addresses.has(lower(value)) ? ERASED : value) as Value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((part: unknown) => withoutAddresses(part, addresses)) as Value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, withoutAddresses(part as unknown, addresses)]),
  ) as Value
}

type Change = { before: Entry; after: Entry }

function recordErasure(
  tx: Db,
  actor: Actor,
  person: ErasedPerson,
  organizationId: string | null,
  changes: readonly Change[],
): Promise<string> {
  const facts: Erasure = { erased: NO_TALLY, replaced: {} }
  for (const { before, after } of changes) {
    facts.erased = addToTally(facts.erased, after)
    // Erased before, for somebody else's sake: the entry about that is no longer the one to ask.
    const { erased_by } = before
    if (erased_by) facts.replaced[erased_by] = addToTally(facts.replaced[erased_by] ?? NO_TALLY, before)
  }
  const nobody = { id: person.id, email: ERASED, current_organization_id: null }
  return recordActivity(
    tx,
    { caller: null, acting_user: nobody, request: { ip: '' }, now: actor.now },
    {
      organization_id: organizationId,
      scope: 'User',
      activity: 'deleted',
      item_id: person.uuid,
      name: ERASED,
      facts,
    },
  )
}

async function storeErased(tx: Db, erasedBy: string, entries: readonly Entry[]): Promise<void> {
  for (let from = 0; from < entries.length; from += ROWS_AT_ONCE) {
    const rows = entries
      .slice(from, from + ROWS_AT_ONCE)
      .map(({ id, actor_name, ip, detail }) => ({ id, actor_name, ip, detail }))
    await tx.run(sql`
      UPDATE activity_log SET actor_name = after.actor_name, ip = after.ip, detail = after.detail, erased_by = ${erasedBy}
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS after (id uuid, actor_name text, ip text, detail jsonb)
      WHERE activity_log.id = after.id`)
  }
}

function lower(text: string): string {
  return text.toLowerCase()
}
