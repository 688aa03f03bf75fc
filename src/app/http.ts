// The table of contents of the API: one line per slice, and where the fixed order of checks gets its answers from.
import { accountRoutes } from '../features/account/routes.ts'
import { sessionRoutes } from '../features/account/session-routes.ts'
import { twoFactorRoutes } from '../features/account/two-factor-routes.ts'
import { activityLogRoutes } from '../features/activity-log/routes.ts'
import { findCallerByKey } from '../features/api-keys/caller.ts'
import { hasKey } from '../features/api-keys/queries.ts'
import { annotationRoutes } from '../features/annotations/routes.ts'
import { backfillRoutes } from '../features/batch-exports/backfills/routes.ts'
import { destinationRoutes } from '../features/batch-exports/catalogue/routes.ts'
import { freshnessRoutes } from '../features/batch-exports/freshness/routes.ts'
import { logRoutes } from '../features/batch-exports/logs/routes.ts'
import { previewRoutes } from '../features/batch-exports/preview/routes.ts'
import { reconciliationRoutes } from '../features/batch-exports/reconciliation/routes.ts'
import { batchExportRoutes } from '../features/batch-exports/routes.ts'
import { runRoutes } from '../features/batch-exports/runs/routes.ts'
import { scheduleRoutes } from '../features/batch-exports/schedule/routes.ts'
import { destinationTestRoutes } from '../features/batch-exports/tests/routes.ts'
import { verificationRoutes } from '../features/batch-exports/verification/routes.ts'
import { memberKeyRoutes } from '../features/api-keys/member-keys-routes.ts'
import { personalKeyRoutes } from '../features/api-keys/personal-routes.ts'
import { pluginConfigRoutes } from '../features/plugins/configs/routes.ts'
import { pluginLogRoutes } from '../features/plugins/logs/routes.ts'
import { appMetricRoutes } from '../features/plugins/metrics/routes.ts'
import { pluginRoutes } from '../features/plugins/routes.ts'
import { serviceKeyRoutes } from '../features/api-keys/service-routes.ts'
import { eventDefinitionRoutes } from '../features/definitions/event-routes.ts'
import { propertyDefinitionRoutes } from '../features/definitions/property-routes.ts'
import { taxonomyRoutes } from '../features/definitions/taxonomy-routes.ts'
import { domainKeyRoutes } from '../features/domains/key-routes.ts'
import { domainRoutes } from '../features/domains/routes.ts'
import { featureFlagRoutes } from '../features/events/feature-flags/routes.ts'
import { queryEditorRoutes } from '../features/events/query/editor-routes.ts'
import { executeSqlRoutes } from '../features/events/query/execute-sql.ts'
import { queryRoutes } from '../features/events/query/routes.ts'
import { sampleDataRoutes } from '../features/events/sample/routes.ts'
import { eventRoutes } from '../features/events/routes.ts'
import { identityRoutes } from '../features/identities/routes.ts'
import { inviteRoutes } from '../features/invites/routes.ts'
import { memberRoutes } from '../features/members/routes.ts'
import { findOrganizationInReach, findProjectInReach } from '../features/organizations/queries.ts'
import { organizationRoutes } from '../features/organizations/routes.ts'
import { groupRoutes } from '../features/persons/group-routes.ts'
import { personRoutes } from '../features/persons/routes.ts'
import { findCurrentMembership, findCurrentProjectId } from '../features/projects/current.ts'
import { accessControlRoutes } from '../features/projects/access-controls/routes.ts'
import { projectRoutes } from '../features/projects/routes.ts'
import { roleMembershipRoutes } from '../features/roles/membership-routes.ts'
import { roleRoutes } from '../features/roles/routes.ts'
import { scimRoutes } from '../features/scim/routes.ts'
import { confirmRoutes } from '../features/sign-in/confirm-routes.ts'
import { loginRoutes } from '../features/sign-in/login-routes.ts'
import { oidcRoutes } from '../features/sign-in/oidc/routes.ts'
import { ownerRecoveryRoutes } from '../features/sign-in/owner-recovery-routes.ts'
import { recoveryRoutes } from '../features/sign-in/recovery-routes.ts'
import { findCallerBySession, isSessionOpen } from '../features/sign-in/sessions.ts'
import { domainSignInRoutes } from '../features/sign-in/provider/domain-routes.ts'
import { idpMetadataRoutes } from '../features/sign-in/saml/metadata-routes.ts'
import { samlRoutes } from '../features/sign-in/saml/routes.ts'
import { linkRoutes } from '../features/sign-in/provider/link-routes.ts'
import { socialRoutes } from '../features/sign-in/social/routes.ts'
import { signupRoutes } from '../features/sign-in/signup-routes.ts'
import { lockUser } from '../features/users/queries.ts'
import type { Access } from '../platform/http/access.ts'
import { personOf } from '../platform/http/caller.ts'
import type { Route } from '../platform/http/route.ts'
import { instanceRoutes } from './instance/routes.ts'
import { preflightRoutes } from './preflight.ts'

export const routes: readonly Route[] = [
  ...organizationRoutes,
  ...memberRoutes,
  ...roleRoutes,
  ...roleMembershipRoutes,
  ...inviteRoutes,
  ...domainRoutes,
  ...scimRoutes,
  ...domainKeyRoutes,
  ...domainSignInRoutes,
  ...projectRoutes,
  ...sampleDataRoutes,
  ...accessControlRoutes,
  ...personRoutes,
  ...groupRoutes,
  ...annotationRoutes,
  ...eventRoutes,
  ...featureFlagRoutes,
  ...queryRoutes,
  ...queryEditorRoutes,
  ...executeSqlRoutes,
  ...eventDefinitionRoutes,
  ...propertyDefinitionRoutes,
  ...taxonomyRoutes,
  ...destinationRoutes,
  ...destinationTestRoutes,
  ...previewRoutes,
  ...freshnessRoutes,
  ...batchExportRoutes,
  ...scheduleRoutes,
  ...runRoutes,
  ...logRoutes,
  ...backfillRoutes,
  ...reconciliationRoutes,
  ...verificationRoutes,
  ...pluginRoutes,
  ...pluginConfigRoutes,
  ...pluginLogRoutes,
  ...appMetricRoutes,
  ...serviceKeyRoutes,
  ...memberKeyRoutes,
  ...activityLogRoutes,
  ...accountRoutes,
  ...twoFactorRoutes,
  ...sessionRoutes,
  ...personalKeyRoutes,
  ...signupRoutes,
  ...loginRoutes,
  ...oidcRoutes,
  ...socialRoutes,
  ...linkRoutes,
  ...samlRoutes,
  ...idpMetadataRoutes,
  ...confirmRoutes,
  ...recoveryRoutes,
  ...ownerRecoveryRoutes,
  ...identityRoutes,
  ...preflightRoutes,
  ...instanceRoutes,
]

export const access: Access = {
  findCallerByKey,
  findCallerBySession,
  async holdCaller(tx, caller) {
    await lockUser(tx, personOf(caller).id)
    return caller.kind === 'session'
      ? isSessionOpen(tx, caller.session.token_hash)
      : hasKey(tx, caller.key.id)
  },
  findOrganization: findOrganizationInReach,
  findProject: findProjectInReach,
  findCurrentOrganizationId: async (db, caller) =>
    (await findCurrentMembership(db, caller))?.organization_id ?? null,
  findCurrentProjectId,
}
