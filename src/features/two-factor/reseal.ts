// After a change of SECRET_KEY: values sealed under the previous key are sealed anew, so that it can be forgotten.
import { job } from '../../platform/jobs/jobs.ts'
import { sql } from '../../platform/db/sql.ts'
import { place } from './totp.ts'

export const resealSecrets = job<Record<string, never>>({
  name: 'reseal-secrets',
  cron: '43 * * * *',
  async handle({ db, secrets }) {
    const rows = await db.rows<{ user_id: number; sealed_secret: string }>(
      sql`SELECT user_id, sealed_secret FROM totp_device`,
    )
    for (const { user_id, sealed_secret } of rows.filter((row) => secrets.isOutdated(row.sealed_secret))) {
      const where = place('totp_device', user_id)
      const sealed = secrets.seal(secrets.open(sealed_secret, where), where)
      // Only if nobody replaced the device in between.
      await db.run(sql`
        UPDATE totp_device SET sealed_secret = ${sealed} WHERE user_id = ${user_id} AND sealed_secret = ${sealed_secret}`)
    }
  },
})
