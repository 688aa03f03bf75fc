// What a change of a definition comes to. Verified and hidden exclude each other: whichever was set last holds.
import { invalid } from '../../platform/http/errors.ts'
import type { DefinitionChange } from './schema.ts'

type Noted = { verified: boolean; hidden: boolean }

/** Fields to store; none of them when nothing changes. */
export function changedFields<Change extends DefinitionChange>(
  before: Noted & Record<keyof Change & string, unknown>,
  change: Change,
  userId: number | null,
  now: Date,
): Partial<Change> & Record<string, unknown> {
  if (change.hidden && change.verified)
    throw invalid('hidden', 'invalid_input', 'A definition cannot be both hidden and verified.')
  const wanted: Change = {
    ...change,
    ...(change.tags ? { tags: [...new Set(change.tags.map((tag) => tag.toLowerCase()))].sort() } : {}),
    ...(change.hidden ? { verified: false } : {}),
    ...(change.verified ? { hidden: false } : {}),
  }
  const fields = Object.fromEntries(
    Object.entries(wanted).filter(
      ([name, value]) =>
        value !== undefined &&
        JSON.stringify(value) !== JSON.stringify(before[name as keyof Change & string]),
    ),
  ) as Partial<Change>
  if (Object.keys(fields).length === 0) return {}
  const verification =
    fields.verified === undefined
      ? {}
      : { verified_at: fields.verified ? now : null, verified_by: fields.verified ? userId : null }
  return { ...fields, ...verification, updated_at: now, updated_by: userId }
}
