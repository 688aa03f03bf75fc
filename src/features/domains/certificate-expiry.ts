// Once a day: do certificates of identity providers end soon? Sign-in through them ends with them, so the admins are told a
// month before, and again as the day comes closer.
import { composeMessage } from '../../platform/mail/message.ts'
import { job } from '../../platform/jobs/jobs.ts'
import { expiryOf, readCertificates } from './certificates.ts'
import { listAdminsOf, listVerifiedDomains } from './queries.ts'
import type { DomainRow } from './schema.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** Whole days before the end. */
const TOLD_BEFORE = [30, 14, 7, 3, 1]

export const watchCertificates = job<Record<string, never>>({
  name: 'watch-certificates',
  cron: '23 4 * * *',
  async handle(services, _data, now) {
    if (!services.mailer.configured) return
    // One transaction: a try that fails has told nobody, and the next tells everybody once.
    await services.db.transaction(async (tx) => {
      for (const row of await listVerifiedDomains(tx)) {
        const days = daysToTell(row, now)
        if (days === undefined) continue
        for (const { email } of await listAdminsOf(tx, row.organization_id))
          await services.jobs.enqueue(tx, certificateEndsEmail, { email, domain: row.domain, days })
      }
    })
  },
})

function daysToTell({ saml_x509_cert }: DomainRow, now: Date): number | undefined {
  const days = (readCertificates(saml_x509_cert ?? '') ?? []).map((each) =>
    Math.floor((expiryOf(each).getTime() - now.getTime()) / DAY_MS),
  )
  return days.filter((left) => TOLD_BEFORE.includes(left)).sort((a, b) => a - b)[0]
}

export const certificateEndsEmail = job<{ email: string; domain: string; days: number }>({
  name: 'certificate-ends-email',
  async handle(services, { email, domain, days }) {
    const when = days === 1 ? 'tomorrow' : `in ${days} days`
    await services.mailer.send({
      to: { name: '', address: email },
      subject: `The sign-on certificate of ${domain} expires ${when}`,
      ...composeMessage({
        heading: `A certificate of the identity provider of ${domain} expires ${when}`,
        paragraphs: [
          'From then on, answers that are signed with it are refused, and nobody of the domain can sign in through SAML with it.',
          'Take the new certificate from your identity provider and add it to the settings of the domain, behind the old one: several may be there at a time. Remove the old one once the provider signs with the new.',
        ],
      }),
    })
  },
})
