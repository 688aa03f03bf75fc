// Whose an address is. No two accounts share one, and an address that was changed stays with its account for three days,
// as long as the change can be undone: nobody can take it in the meantime to make that impossible.
import { violatedUnique, type Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import type { UserRow } from './schema.ts'

const UNDO_MS = 3 * 24 * 60 * 60 * 1000

/** The way back to an address; one for each user at most. */
export type AddressUndo = { user_id: number; old_email: string; changed_at: Date }

/** What a write of an address throws when the address belongs to another account. */
export class AddressTaken extends Error {}

/** Runs the write first: it waits for whoever is giving the address up, and only then does the way back show. */
export async function takeAddress(tx: Db, write: () => Promise<UserRow>, now: Date): Promise<UserRow> {
  const user = await write().catch((error: unknown) => {
    throw violatedUnique(error) === 'app_user_email_unique' ? new AddressTaken() : error
  })
  if (await isHeldByAnother(tx, user, now)) throw new AddressTaken()
  return user
}

async function isHeldByAnother(tx: Db, user: UserRow, now: Date): Promise<boolean> {
  const held = await tx.row(sql`
    SELECT FROM address_undo WHERE lower(old_email) = lower(${user.email}) AND user_id <> ${user.id}
      AND changed_at > ${oldestOpen(now)}`)
  return held !== undefined
}

/** The open way back of a user. */
export function findAddressUndo(db: Db, userId: number, now: Date): Promise<AddressUndo | undefined> {
  return db.row(sql`SELECT * FROM address_undo WHERE user_id = ${userId} AND changed_at > ${oldestOpen(now)}`)
}

/** All that are known to be the user's: the present one, one that waits for its link, and one that can still be had back. */
export async function addressesOf(db: Db, { id, email, pending_email }: UserRow): Promise<string[]> {
  const rows = await db.rows<{ old_email: string }>(
    sql`SELECT old_email FROM address_undo WHERE user_id = ${id}`,
  )
  return [email, ...(pending_email === null ? [] : [pending_email]), ...rows.map((row) => row.old_email)]
}

/**
 * Opens a way back to the address that has just been given up, and says whether it did. While an earlier one is open it
 * stands, and no other is opened: whoever took an account over three days ago at most has no right to come back to it.
 */
export async function openAddressUndo(tx: Db, userId: number, oldEmail: string, now: Date): Promise<boolean> {
  const opened = await tx.run(sql`
    INSERT INTO address_undo (user_id, old_email, changed_at) VALUES (${userId}, ${oldEmail}, ${now})
    ON CONFLICT (user_id) DO UPDATE SET old_email = excluded.old_email, changed_at = excluded.changed_at
      WHERE address_undo.changed_at <= ${oldestOpen(now)}`)
  return opened === 1
}

/** Once it was used, or its address is the user's again. */
export async function closeAddressUndo(tx: Db, userId: number, oldEmail: string): Promise<void> {
  await tx.run(
    sql`DELETE FROM address_undo WHERE user_id = ${userId} AND lower(old_email) = lower(${oldEmail})`,
  )
}

/** Timetable entry. */
export async function forgetOldAddressUndos(db: Db, now: Date): Promise<number> {
  return db.run(sql`DELETE FROM address_undo WHERE changed_at <= ${oldestOpen(now)}`)
}

function oldestOpen(now: Date): Date {
  return new Date(now.getTime() - UNDO_MS)
}
