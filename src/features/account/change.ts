// PATCH of an account, field by field: plain ones, the address (proved first), the password, what is current.
import { isUuid } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import type { Caller } from '../../platform/http/caller.ts'
import { denied, invalid } from '../../platform/http/errors.ts'
import type { Services } from '../../platform/services.ts'
import { changesBetween, type Actor } from '../activity-log/record.ts'
import { deletePersonalKeys } from '../api-keys/end-keys.ts'
import { assertAllowed, assertMayMove } from '../domains/allowed-ways.ts'
import { findChosenOrganization, findChosenProject } from '../projects/current.ts'
import { passwordChangedEmail } from '../sign-in/emails.ts'
import { closeOtherSessions, domainOfSession } from '../sign-in/sessions.ts'
import { askForVerification, takeAddressChange } from '../sign-in/verification.ts'
import { AddressTaken, takeAddress } from '../users/addresses.ts'
import { assertGoodPassword, hashPassword, isPasswordRight } from '../users/passwords.ts'
import { findUserByEmail, getUser, lockUser, updateUser } from '../users/queries.ts'
import type { UserRow } from '../users/schema.ts'
import { mergeNotificationSettings } from './notification-settings.ts'
import { recordAccount } from './record.ts'
import type { AccountFields } from './schema.ts'

const PASSWORD_RATES = [{ count: 5, window_ms: 60_000 }]
const PLAIN_FIELDS = [
  'first_name',
  'last_name',
  'hedgehog_config',
  'anonymize_data',
  'role_at_organization',
  'is_staff',
  'is_active',
] as const
const LOGGED_FIELDS = ['first_name', 'last_name', 'email', 'pending_email', 'is_staff', 'is_active'] as const

type Columns = Partial<Omit<UserRow, 'id' | 'uuid'>>
type ChangeContext = Actor & { services: Services; db: Db; caller: Caller; request: { ip: string } }

export async function changeAccount(
  context: ChangeContext,
  user: UserRow,
  fields: AccountFields,
): Promise<UserRow> {
  const { services, db, caller, now } = context
  const isOwn = caller.user?.id === user.id
  const allowed = isOwn ? ownFields(fields) : othersFields(user, fields)
  if (allowed.is_staff !== undefined && !caller.user?.is_staff)
    throw denied('Only staff can make somebody staff.')
  const password = await newPasswordColumns(context, user, allowed)
  const columns: Columns = {
    ...plainColumns(allowed),
    ...password,
    ...(await addressColumns(context, user, allowed)),
    ...(await currentColumns(db, caller, allowed)),
  }
  const isAddressNew = Boolean(columns.pending_email) && columns.pending_email !== user.pending_email
  if (isAddressNew) takeAddressChange(services, user, now)
  try {
    return await db.transaction(async (tx) => {
      const wanted = { ...columns, ...(await settingsColumns(tx, user, allowed)) }
      const after = await takeAddress(tx, () => updateUser(tx, user.id, wanted), now)
      if (password.password_hash) await endSessions(services, tx, caller, user)
      if (allowed.delete_personal_api_keys) await deletePersonalKeys(tx, context, user.id)
      if (isAddressNew) await askForVerification(services, tx, after)
      const changes = changesBetween('User', user, after, LOGGED_FIELDS)
      if (changes.length > 0 || password.password_hash) await recordAccount(tx, context, after, changes)
      return after
    })
  } catch (error) {
    if (!(error instanceof AddressTaken)) throw error
    throw addressTaken()
  }
}

/** Nobody locks themselves out. */
function ownFields(fields: AccountFields): AccountFields {
  return { ...fields, is_active: undefined }
}

/** Staff look after accounts; they do not take them over. Whoever tries must not believe that it is done. */
function othersFields({ email }: UserRow, fields: AccountFields): AccountFields {
  if (fields.password !== undefined || (fields.email !== undefined && fields.email !== email))
    throw denied('Only the person can change the address and the password of an account.')
  const { first_name, last_name, is_staff, is_active } = fields
  return { first_name, last_name, is_staff, is_active }
}

function plainColumns(fields: AccountFields): Columns {
  const given = PLAIN_FIELDS.filter((field) => fields[field] !== undefined)
  return Object.fromEntries(given.map((field) => [field, fields[field]]))
}

/** Merged with what is stored at that moment: two requests at once must not undo each other. */
async function settingsColumns(tx: Db, user: UserRow, fields: AccountFields): Promise<Columns> {
  if (fields.notification_settings === undefined) return {}
  await lockUser(tx, user.id)
  const { notification_settings } = await getUser(tx, user.id)
  return {
    notification_settings: mergeNotificationSettings(notification_settings, fields.notification_settings),
  }
}

async function newPasswordColumns(
  { services, db, request, now }: ChangeContext,
  user: UserRow,
  { password, current_password }: AccountFields,
): Promise<Columns> {
  if (current_password !== undefined)
    services.throttle.take('current password', String(user.id), PASSWORD_RATES, now)
  if (password === undefined) return {}
  if (user.password_hash !== null) {
    if (current_password === undefined)
      throw invalid('current_password', 'required', 'Your current password is needed.')
    const { password_hash } = user
    const isRight = await services.guesses.during(
      { kind: 'password', ip: request.ip, now },
      () => isPasswordRight(current_password, password_hash),
      Boolean,
    )
    if (!isRight) {
      throw invalid('current_password', 'incorrect_password', 'The current password is wrong.')
    }
  }
  await assertAllowed({ services, db }, user.email, 'password')
  await assertGoodPassword(password, [user.email, user.first_name, user.last_name])
  // Whoever knew the old one may have asked for another address: its link ends too, unless this request asks for one.
  return { password_hash: await hashPassword(password), pending_email: null }
}

/** With mail configured, a new address waits until its owner has followed the link sent to it; else it is taken unproven. */
async function addressColumns(
  { services, db, caller }: ChangeContext,
  user: UserRow,
  { email }: AccountFields,
): Promise<Columns> {
  if (email === undefined) return {}
  if (email.toLowerCase() === user.email.toLowerCase()) return { email, pending_email: null }
  const taken = await findUserByEmail(db, email)
  if (taken && taken.id !== user.id) throw addressTaken()
  await assertMayMove({ services, db }, user, email)
  // Into a domain that demands its provider comes only who has signed in through it.
  if (caller.kind === 'session') {
    const { signed_in_by, token_hash } = caller.session
    await assertAllowed({ services, db }, email, signed_in_by, await domainOfSession(db, token_hash))
  } else {
    await assertAllowed({ services, db }, email, 'password')
  }
  return services.mailer.configured ? { pending_email: email } : { email, is_email_verified: false }
}

function addressTaken() {
  return invalid('email', 'unique', 'There is an account with this address already.')
}

async function currentColumns(db: Db, caller: Caller, fields: AccountFields): Promise<Columns> {
  const { set_current_organization: organizationId, set_current_team: projectId } = fields
  if (caller.kind === 'service_key' || (organizationId ?? projectId) === undefined) return {}
  const organization =
    organizationId !== undefined && isUuid(organizationId)
      ? await findChosenOrganization(db, caller, organizationId)
      : undefined
  if (organizationId !== undefined && !organization) {
    throw invalid('set_current_organization', 'does_not_exist', 'You belong to no such organization.')
  }
  const project = projectId === undefined ? undefined : await findChosenProject(db, caller, projectId)
  if (projectId !== undefined && !project) {
    throw invalid('set_current_team', 'does_not_exist', 'You have access to no such project.')
  }
  if (organization && project && organization.organization_id !== project.organization_id) {
    throw invalid('set_current_team', 'invalid_input', 'The project belongs to another organization.')
  }
  const { organization_id, project_id } = (project ?? organization)!
  return { current_organization_id: organization_id, current_project_id: project_id }
}

async function endSessions(services: Services, tx: Db, caller: Caller, user: UserRow): Promise<void> {
  await closeOtherSessions(tx, user.id, caller.kind === 'session' ? caller.session.token_hash : null)
  if (services.mailer.configured) await services.jobs.enqueue(tx, passwordChangedEmail, { user_id: user.id })
}
