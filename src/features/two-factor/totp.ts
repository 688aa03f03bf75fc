// Time-based codes (SHA-1, 6 digits, 30 s) and one-time backup codes: set-up, check, and never the same code twice.
import { randomInt } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Services } from '../../platform/services.ts'

const STEP_S = 30
const DRIFT_STEPS = 1
const BACKUP_CODES = 10
const BACKUP_ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'

/** A new secret that counts only once a code made from it was shown. A confirmed device stays until then. */
export async function startSetup(services: Services, db: Db, userId: number, now: Date): Promise<string> {
  const secret = new Secret({ size: 20 }).base32
  await db.run(sql`
    INSERT INTO totp_setup (user_id, sealed_secret, created_at) VALUES (${userId}, ${services.secrets.seal(secret, place('totp_setup', userId))}, ${now})
    ON CONFLICT (user_id) DO UPDATE SET sealed_secret = excluded.sealed_secret, created_at = excluded.created_at`)
  return secret
}

/** Confirms the set-up with its first code; gives the backup codes, or null when the code is wrong. */
export async function confirmSetup(
  services: Services,
  db: Db,
  userId: number,
  code: string,
  now: Date,
): Promise<string[] | null> {
  return db.transaction(async (tx) => {
    const setup = await tx.row<{ sealed_secret: string }>(
      sql`SELECT sealed_secret FROM totp_setup WHERE user_id = ${userId} FOR UPDATE`,
    )
    if (!setup) return null
    const secret = services.secrets.open(setup.sealed_secret, place('totp_setup', userId))
    const step = matchingStep(secret, code, now)
    if (step === null) return null
    await tx.run(sql`DELETE FROM totp_setup WHERE user_id = ${userId}`)
    await tx.run(sql`
      INSERT INTO totp_device (user_id, sealed_secret, last_used_step, created_at)
      VALUES (${userId}, ${services.secrets.seal(secret, place('totp_device', userId))}, ${step}, ${now})
      ON CONFLICT (user_id) DO UPDATE SET sealed_secret = excluded.sealed_secret, last_used_step = excluded.last_used_step,
        created_at = excluded.created_at`)
    return replaceBackupCodes(services, tx, userId)
  })
}

export async function isSetupBegun(db: Db, userId: number): Promise<boolean> {
  return (await db.row(sql`SELECT FROM totp_setup WHERE user_id = ${userId}`)) !== undefined
}

export async function hasDevice(db: Db, userId: number): Promise<boolean> {
  return (await db.row(sql`SELECT FROM totp_device WHERE user_id = ${userId}`)) !== undefined
}

/** A current code of the device, or an unused backup code; either is used up by this. */
export async function useCode(
  services: Services,
  db: Db,
  userId: number,
  code: string,
  now: Date,
): Promise<boolean> {
  return (await useTotp(services, db, userId, code, now)) || useBackupCode(services, db, userId, code)
}

async function useTotp(
  services: Services,
  db: Db,
  userId: number,
  code: string,
  now: Date,
): Promise<boolean> {
  const device = await db.row<{ sealed_secret: string }>(
    sql`SELECT sealed_secret FROM totp_device WHERE user_id = ${userId}`,
  )
  if (!device) return false
  const step = matchingStep(
    services.secrets.open(device.sealed_secret, place('totp_device', userId)),
    code,
    now,
  )
  if (step === null) return false
  // One statement decides between two requests with the same code.
  const used = await db.run(
    sql`UPDATE totp_device SET last_used_step = ${step} WHERE user_id = ${userId} AND last_used_step < ${step}`,
  )
  return used === 1
}

async function useBackupCode(services: Services, db: Db, userId: number, code: string): Promise<boolean> {
  const plain = code.toLowerCase().replace(/[^a-z0-9]/g, '')
  const rows = await db.rows<{ code_hash: string }>(
    sql`SELECT code_hash FROM backup_code WHERE user_id = ${userId}`,
  )
  const match = rows.find((row) =>
    services.secrets.matches(row.code_hash, 'backup code', String(userId), plain),
  )
  if (!match) return false
  return (
    (await db.run(
      sql`DELETE FROM backup_code WHERE user_id = ${userId} AND code_hash = ${match.code_hash}`,
    )) === 1
  )
}

export async function replaceBackupCodes(services: Services, db: Db, userId: number): Promise<string[]> {
  const codes = Array.from({ length: BACKUP_CODES }, newBackupCode)
  const hashes = codes.map((code) =>
    services.secrets.fingerprint('backup code', String(userId), code.replace('-', '')),
  )
  await db.run(sql`DELETE FROM backup_code WHERE user_id = ${userId}`)
  await db.run(sql`INSERT INTO backup_code (user_id, code_hash) SELECT ${userId}, unnest(${hashes}::text[])`)
  return codes
}

export async function countBackupCodes(db: Db, userId: number): Promise<number> {
  return (
    await db.only<{ count: number }>(
      sql`SELECT count(*)::int AS count FROM backup_code WHERE user_id = ${userId}`,
    )
  ).count
}

export async function removeDevice(db: Db, userId: number): Promise<void> {
  await db.run(sql`DELETE FROM totp_device WHERE user_id = ${userId}`)
  await db.run(sql`DELETE FROM totp_setup WHERE user_id = ${userId}`)
  await db.run(sql`DELETE FROM backup_code WHERE user_id = ${userId}`)
}

/** Only if it was set up, or took another's place, after that. */
export async function removeDeviceSince(db: Db, userId: number, since: Date): Promise<void> {
  const isNew = await db.row(sql`SELECT FROM totp_device WHERE user_id = ${userId} AND created_at > ${since}`)
  if (isNew) await removeDevice(db, userId)
}

function matchingStep(secret: string, code: string, now: Date): number | null {
  const token = code.replace(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return null
  const totp = new TOTP({ secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: STEP_S })
  const delta = totp.validate({ token, timestamp: now.getTime(), window: DRIFT_STEPS })
  return delta === null ? null : Math.floor(now.getTime() / 1000 / STEP_S) + delta
}

function newBackupCode(): string {
  const letters = Array.from({ length: 10 }, () => BACKUP_ALPHABET[randomInt(BACKUP_ALPHABET.length)]).join(
    '',
  )
  return `${letters.slice(0, 5)}-${letters.slice(5)}`
}

export function place(table: 'totp_device' | 'totp_setup', userId: number) {
  return { table, row: String(userId), column: 'sealed_secret' }
}
