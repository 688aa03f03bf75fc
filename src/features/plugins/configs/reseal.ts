// After a change of SECRET_KEY: what plugins and configs keep sealed under the previous key is sealed anew.
import type { Db } from '../../../platform/db/database.ts'
import { job } from '../../../platform/jobs/jobs.ts'
import type { SealedCell, Secrets } from '../../../platform/secrets/secrets.ts'
import { placeOf } from '../origin.ts'
import {
  findSealedAttachment,
  listSealedAttachmentHeads,
  listSealedConfigs,
  listSealedTokens,
  replaceSealedAttachment,
  replaceSealedConfig,
  replaceSealedToken,
} from './reseal-queries.ts'
import { sealedAttachment, sealedConfig } from './settings.ts'

export const resealPlugins = job<Record<string, never>>({
  name: 'reseal-plugins',
  cron: '37 * * * *',
  async handle({ db, secrets }) {
    for (const row of await listSealedConfigs(db)) {
      if (!secrets.isOutdated(row.secrets)) continue
      await replaceSealedConfig(db, row, resealed(secrets, row.secrets, sealedConfig(row.id)))
    }
    for (const row of await listSealedTokens(db)) {
      if (!secrets.isOutdated(row.private_token)) continue
      await replaceSealedToken(db, row, resealed(secrets, row.private_token, placeOf(row.id)))
    }
    await resealAttachments(db, secrets)
  },
})

/** One at a time: together they may not fit into memory. */
async function resealAttachments(db: Db, secrets: Secrets): Promise<void> {
  for (const { id, head } of await listSealedAttachmentHeads(db)) {
    const row = secrets.isOutdated(head) ? await findSealedAttachment(db, id) : undefined
    if (row) await replaceSealedAttachment(db, row, resealed(secrets, row.contents, sealedAttachment(row)))
  }
}

function resealed(secrets: Secrets, sealed: string, place: SealedCell): string {
  return secrets.seal(secrets.open(sealed, place), place)
}
