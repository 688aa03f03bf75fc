// After a change of SECRET_KEY: secrets of exports that are sealed under the previous key are sealed anew.
import { job } from '../../platform/jobs/jobs.ts'
import { listSealed, replaceSealed } from './queries.ts'
import { sealedIn } from './secrets.ts'

export const resealExports = job<Record<string, never>>({
  name: 'reseal-exports',
  cron: '47 * * * *',
  async handle({ db, secrets }) {
    const rows = await listSealed(db)
    for (const row of rows.filter((each) => secrets.isOutdated(each.secrets))) {
      const place = sealedIn(row.id)
      await replaceSealed(db, row, secrets.seal(secrets.open(row.secrets, place), place))
    }
  },
})
