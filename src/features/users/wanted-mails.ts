// Which mails somebody wants, beside those about their own account: conditions on the row `app_user`. What nobody has said
// anything about is wanted; src/features/account/notification-settings.ts keeps the settings.
import { sql, type Statement } from '../../platform/db/sql.ts'

export function wantsMailsOfJoining(organizationId: string): Statement {
  return isNotDisabled(
    sql`notification_settings -> 'organization_member_join_email_disabled' ->> ${organizationId}`,
  )
}

export function wantsMailsOfExports(projectId: number): Statement {
  return isNotDisabled(
    sql`notification_settings -> 'pipeline_notifications_disabled' ->> ${String(projectId)}`,
  )
}

/** PostHog's name says "disabled" here too, but means the mail about it. */
export const wantsMailsOfApps = sql`(notification_settings ->> 'plugin_disabled') IS DISTINCT FROM 'false'`

function isNotDisabled(value: Statement): Statement {
  return sql`(${value}) IS DISTINCT FROM 'true'`
}
