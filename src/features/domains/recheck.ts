// Once a day: is the TXT record of each verified domain still there? A missing one takes nothing away; it is recorded
// and the admins are told, once.
import { composeMessage } from '../../platform/mail/message.ts'
import { job } from '../../platform/jobs/jobs.ts'
import type { Services } from '../../platform/services.ts'
import { listAdminsOf, listVerifiedDomains, setRecheckFailed } from './queries.ts'
import type { DomainRow } from './schema.ts'
import { lookForChallenge, recordName } from './verify.ts'

export const recheckDomains = job<Record<string, never>>({
  name: 'recheck-domains',
  cron: '17 4 * * *',
  async handle(services, _data, now) {
    for (const row of await listVerifiedDomains(services.db)) {
      const { finding } = await lookForChallenge(services, row)
      if (finding === 'published' && row.recheck_failed_at !== null)
        await setRecheckFailed(services.db, row, null)
      if (finding === 'absent' && row.recheck_failed_at === null) await reportMissing(services, row, now)
    }
  },
})

async function reportMissing(services: Services, row: DomainRow, now: Date): Promise<void> {
  await services.db.transaction(async (tx) => {
    const isRecorded = await setRecheckFailed(tx, row, now)
    if (!isRecorded || !services.mailer.configured) return
    for (const { email } of await listAdminsOf(tx, row.organization_id)) {
      await services.jobs.enqueue(tx, domainRecordGoneEmail, { email, domain: row.domain })
    }
  })
}

export const domainRecordGoneEmail = job<{ email: string; domain: string }>({
  name: 'domain-record-gone-email',
  async handle(services, { email, domain }) {
    await services.mailer.send({
      to: { name: '', address: email },
      subject: `The DNS record that verified ${domain} is gone`,
      ...composeMessage({
        heading: `We can no longer find the record for ${domain}`,
        paragraphs: [
          `The TXT record ${recordName(services, { domain })} did not answer with the challenge today.`,
          'The domain stays verified and sign-in works as before. If you removed the record on purpose, nothing needs doing; if the domain is no longer yours, delete it from the organization.',
        ],
      }),
    })
  },
})
