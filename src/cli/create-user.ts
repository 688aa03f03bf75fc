// `longshore create-user`: an account without an invite, for whoever runs the instance.
import { randomBase62 } from '../lib/base62.ts'
import { LEVELS, type Level, type LevelName } from '../platform/http/caller.ts'
import { email as emailField, text } from '../platform/http/fields.ts'
import { sql } from '../platform/db/sql.ts'
import type { Db } from '../platform/db/database.ts'
import { createOrganization } from '../features/organizations/create.ts'
import { insertMembership } from '../features/members/queries.ts'
import { isReachableByUser } from '../features/projects/access.ts'
import { findFirstProject } from '../features/projects/queries.ts'
import { AddressTaken, takeAddress } from '../features/users/addresses.ts'
import { assertGoodPassword, hashPassword } from '../features/users/passwords.ts'
import { insertUser, setCurrent } from '../features/users/queries.ts'
import { recordActivity } from '../features/activity-log/record.ts'
import { UserError, type Command, type CommandOptions } from './command.ts'
import { takeInstalledConfig } from './environment.ts'
import { withDatabase } from './with-database.ts'

export const createUser: Command = {
  name: 'create-user',
  description: 'make an account, with an organization of its own or in an existing one',
  options(command) {
    command
      .requiredOption('--email <address>', 'address to sign in with')
      .option('--first-name <name>', 'first name', 'Owner')
      .option('--password <password>', 'password (default: a random one, which is shown)')
      .option('--organization <slug>', 'slug of the organization to join (default: a new one is made)')
      .option('--level <level>', 'in that organization: member, admin or owner (default: member)')
      .option('--staff', 'may administer every account of this server')
  },
  async run(options) {
    const account = readAccount(options)
    if (account.password !== null) {
      await assertGoodPassword(account.password, [account.email, account.first_name])
    }
    const password = account.password ?? randomBase62(16)
    await withDatabase(await takeInstalledConfig(), async (db) => {
      const password_hash = await hashPassword(password)
      await db.transaction((tx) => makeAccount(tx, account, password_hash, new Date())).catch(explainTaken)
    })
    const secret = account.password === null ? `password: ${password}\n` : ''
    process.stdout.write(`made ${account.email}\n${secret}`)
  },
}

type Account = {
  email: string
  first_name: string
  password: string | null
  is_staff: boolean
  /** Slug of the organization to join; null: one of their own. */
  organization: string | null
  level: Level
}

function readAccount(options: CommandOptions): Account {
  const address = emailField().safeParse(options.email)
  if (!address.success) throw new UserError('--email is not an e-mail address')
  const firstName = text({ max: 128 }).safeParse(options.firstName)
  if (!firstName.success) throw new UserError('--first-name takes 1 to 128 characters')
  if (options.level !== undefined && options.organization === undefined)
    throw new UserError('--level is the level in an existing organization: name it with --organization')
  const level = String(options.level ?? 'member')
  if (!Object.hasOwn(LEVELS, level)) throw new UserError('--level takes member, admin or owner')
  return {
    email: address.data,
    first_name: firstName.data,
    password: options.password === undefined ? null : String(options.password),
    is_staff: options.staff === true,
    organization: options.organization === undefined ? null : String(options.organization),
    level: LEVELS[level as LevelName],
  }
}

async function makeAccount(tx: Db, account: Account, password_hash: string, now: Date): Promise<void> {
  const actor = { caller: null, request: { ip: '' }, now }
  const { email, first_name, is_staff } = account
  const fields = { email, first_name, password_hash, is_email_verified: true, is_staff }
  const user = await takeAddress(tx, () => insertUser(tx, fields, now), now)
  if (account.organization === null) {
    await createOrganization(tx, actor, user.id, { name: `${first_name.slice(0, 49)}'s Organization` })
    return
  }
  const organization = await tx.row<{ id: string }>(
    sql`SELECT id FROM organization WHERE slug = ${account.organization}`,
  )
  if (!organization) throw new UserError(`there is no organization with the slug ${account.organization}`)
  const membership = await insertMembership(tx, organization.id, user.id, account.level, now)
  await setCurrent(
    tx,
    user.id,
    organization.id,
    (await findFirstProject(tx, organization.id, isReachableByUser(user.id)))?.id ?? null,
  )
  await recordActivity(tx, actor, {
    organization_id: organization.id,
    scope: 'OrganizationMembership',
    activity: 'created',
    item_id: membership.id,
    name: email,
  })
}

function explainTaken(error: unknown): never {
  if (!(error instanceof AddressTaken)) throw error
  throw new UserError('there is an account with this address already')
}
