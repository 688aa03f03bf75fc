// One line per background job and timetable entry.
import { startAskedBackfill } from '../features/batch-exports/backfills/asked.ts'
import { accountDeletedEmail } from '../features/account/account-deleted-email.ts'
import { exportFailedEmail } from '../features/batch-exports/failure-email.ts'
import { resealExports } from '../features/batch-exports/reseal.ts'
import { forgetOldLogs } from '../features/batch-exports/logs/forget.ts'
import { sweepExports } from '../features/batch-exports/sweep/sweep.ts'
import { forgetOldVerifications } from '../features/batch-exports/verification/queries.ts'
import { verifyDaily } from '../features/batch-exports/verification/timetable.ts'
import { fillWithSample } from '../features/events/sample/fill.ts'
import { domainRecordGoneEmail, recheckDomains } from '../features/domains/recheck.ts'
import { inviteEmail } from '../features/invites/invite-email.ts'
import { joinedEmail } from '../features/members/joined-email.ts'
import { resealPlugins } from '../features/plugins/configs/reseal.ts'
import { pluginFaultEmail } from '../features/plugins/running/fault-email.ts'
import { forgetOldPluginLogs } from '../features/plugins/logs/forget.ts'
import { forgetOldPluginMetrics } from '../features/plugins/metrics/forget.ts'
import { forgetOldGivenUuids } from '../features/plugins/running/ingestion/given-uuids.ts'
import { deleteProjectEvents } from '../features/projects/delete-events.ts'
import {
  addressChangedEmail,
  ownerCameBackEmail,
  ownerRecoveryEmail,
  passwordChangedEmail,
  resetEmail,
  verificationEmail,
} from '../features/sign-in/emails.ts'
import { certificateEndsEmail, watchCertificates } from '../features/domains/certificate-expiry.ts'
import { renewSamlKey } from '../features/sign-in/saml/keys.ts'
import { forgetOldAssertions } from '../features/sign-in/saml/queries.ts'
import { addressByDirectoryEmail, lastOwnerEmail } from '../features/scim/emails.ts'
import { forgetOldRequests } from '../features/scim/request-log.ts'
import { forgetOldAttempts } from '../features/sign-in/provider/attempts.ts'
import { forgetOldRecords } from '../features/sign-in/provider/records.ts'
import { forgetExpiredSessions } from '../features/sign-in/sessions.ts'
import { resealDomains } from '../features/domains/reseal.ts'
import { resealSecrets } from '../features/two-factor/reseal.ts'
import { forgetOldAddressUndos } from '../features/users/addresses.ts'
import { noticeEmail } from '../features/users/notice-email.ts'
import { forgetOldChanges } from '../platform/changes.ts'
import { forgetOldAnswers } from '../platform/http/idempotency.ts'
import { forgetOldWindows } from '../platform/http/shared-limits.ts'
import { forgetOldTries } from '../platform/http/tries.ts'
import { job, type AnyJob } from '../platform/jobs/jobs.ts'

const forgetExpired = job<Record<string, never>>({
  name: 'forget-expired',
  cron: '*/15 * * * *',
  async handle({ db }, _data, now) {
    await forgetExpiredSessions(db, now)
    await forgetOldAttempts(db, now)
    await forgetOldAssertions(db, now)
    await forgetOldRecords(db, now)
    await forgetOldTries(db, now)
    await forgetOldAddressUndos(db, now)
    await forgetOldAnswers(db, now)
    await forgetOldLogs(db, now)
    await forgetOldVerifications(db, now)
    await forgetOldPluginLogs(db, now)
    await forgetOldPluginMetrics(db, now)
    await forgetOldGivenUuids(db, now)
    await forgetOldRequests(db, now)
    await forgetOldChanges(db)
    await forgetOldWindows(db, now)
  },
})

export const jobs: readonly AnyJob[] = [
  inviteEmail,
  joinedEmail,
  resetEmail,
  verificationEmail,
  passwordChangedEmail,
  addressChangedEmail,
  ownerRecoveryEmail,
  ownerCameBackEmail,
  noticeEmail,
  accountDeletedEmail,
  recheckDomains,
  domainRecordGoneEmail,
  watchCertificates,
  certificateEndsEmail,
  renewSamlKey,
  addressByDirectoryEmail,
  lastOwnerEmail,
  deleteProjectEvents,
  fillWithSample,
  startAskedBackfill,
  exportFailedEmail,
  verifyDaily,
  pluginFaultEmail,
  resealSecrets,
  resealExports,
  sweepExports,
  resealPlugins,
  resealDomains,
  forgetExpired,
]
