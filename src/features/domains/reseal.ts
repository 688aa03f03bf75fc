// After a change of SECRET_KEY: client secrets that are sealed under the previous key are sealed anew.
import { job } from '../../platform/jobs/jobs.ts'
import { openClientSecret, sealed } from './oidc-client.ts'
import { listSealedSecrets, replaceSealedSecret } from './queries.ts'

export const resealDomains = job<Record<string, never>>({
  name: 'reseal-domains',
  cron: '51 * * * *',
  async handle(services) {
    const rows = await listSealedSecrets(services.db)
    for (const row of rows.filter((each) => services.secrets.isOutdated(each.oidc_client_secret))) {
      const oidc_client_secret = openClientSecret(services, row.id, row.oidc_client_secret)
      const anew = sealed(services, row.id, { oidc_client_secret })
      await replaceSealedSecret(services.db, row, anew.oidc_client_secret)
    }
  },
})
