// The server's own key pair, which signs requests to identity providers: made when it is first needed, and renewed long before
// it ends. For a month both certificates are in the metadata and the old one goes on signing, so that providers that
// check requests can be told of the new one first.
import { generateKeyPair, X509Certificate } from 'node:crypto'
import { promisify } from 'node:util'
import { selfSignedCertificate } from '../../../lib/self-signed-certificate.ts'
import { uuid7 } from '../../../lib/uuid.ts'
import type { Db } from '../../../platform/db/database.ts'
import { job } from '../../../platform/jobs/jobs.ts'
import type { Services } from '../../../platform/services.ts'
import { deleteKey, insertKey, listKeys, lockKeys, setSealedKey, type SamlKeyRow } from './queries.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const LIFETIME_MS = 5 * 365 * DAY_MS
const RENEWED_BEFORE_MS = 90 * DAY_MS
const SHOWN_BEFORE_MS = 30 * DAY_MS

export type SamlKeys = { private_key: string; certificates: string[] }

/** The key that signs, and the certificates that providers may meet, that of the signing key first. */
export async function openKeys(services: Services, db: Db, now: Date): Promise<SamlKeys> {
  const rows = await listKeys(db)
  const known = rows.length > 0 ? rows : await db.transaction((tx) => makeFirst(services, tx, now))
  const signing = signingKey(known, now)
  return {
    private_key: services.secrets.open(signing.sealed_private_key, placeOf(signing.id)),
    certificates: [signing, ...known.filter((row) => row !== signing)].map(({ certificate }) => certificate),
  }
}

/** The newest that was shown for a month; the oldest while there is none. `rows` are the oldest first. */
export function signingKey<Row extends Pick<SamlKeyRow, 'created_at'>>(rows: readonly Row[], now: Date): Row {
  const isShown = (row: Row) => now.getTime() - row.created_at.getTime() >= SHOWN_BEFORE_MS
  return rows.findLast(isShown) ?? rows[0]!
}

/** An instance without SAML has no key, and gets none. After a change of SECRET_KEY keys are sealed anew. */
export const renewSamlKey = job<Record<string, never>>({
  name: 'renew-saml-key',
  cron: '41 * * * *',
  async handle(services, _data, now) {
    await services.db.transaction(async (tx) => {
      await lockKeys(tx)
      const rows = await listKeys(tx)
      const newest = rows.at(-1)
      if (!newest) return
      if (endOf(newest) - now.getTime() < RENEWED_BEFORE_MS) await makeKey(services, tx, now)
      for (const row of rows) {
        if (endOf(row) <= now.getTime()) await deleteKey(tx, row.id)
        else if (services.secrets.isOutdated(row.sealed_private_key)) await reseal(services, tx, row)
      }
    })
  },
})

async function makeFirst(services: Services, tx: Db, now: Date): Promise<SamlKeyRow[]> {
  await lockKeys(tx)
  const rows = await listKeys(tx)
  return rows.length > 0 ? rows : [await makeKey(services, tx, now)]
}

async function makeKey(services: Services, tx: Db, now: Date): Promise<SamlKeyRow> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 })
  const certificate = selfSignedCertificate({
    public_key: publicKey,
    private_key: privateKey,
    common_name: new URL(services.settings.site_url).host,
    // Clocks of providers may be behind.
    from: new Date(now.getTime() - DAY_MS),
    until: new Date(now.getTime() + LIFETIME_MS),
  })
  const id = uuid7(now)
  const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return insertKey(tx, {
    id,
    certificate,
    sealed_private_key: services.secrets.seal(pem, placeOf(id)),
    created_at: now,
  })
}

async function reseal({ secrets }: Services, tx: Db, { id, sealed_private_key }: SamlKeyRow): Promise<void> {
  await setSealedKey(tx, id, secrets.seal(secrets.open(sealed_private_key, placeOf(id)), placeOf(id)))
}

function endOf({ certificate }: SamlKeyRow): number {
  return new Date(new X509Certificate(certificate).validTo).getTime()
}

function placeOf(row: string) {
  return { table: 'saml_key', row, column: 'sealed_private_key' }
}
