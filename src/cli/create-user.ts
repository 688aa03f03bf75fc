// `longshore create-user`: an account without an invite, for whoever runs the instance.
import { randomBase62 } from '../lib/base62.ts'
import { LEVELS, type Level, type LevelName } from '../platform/http/caller.ts'
import { email as emailField } from '../platform/http/fields.ts'
import { sql } from '../platform/db/sql.ts'
import { violatedUnique } from '../platform/db/database.ts'
import { createOrganization } from '../features/organizations/create.ts'
import { insertMembership } from '../features/members/queries.ts'
import { findFirstProject } from '../features/projects/queries.ts'
import { assertGoodPassword, hashPassword } from '../features/users/passwords.ts'
import { insertUser, setCurrent } from '../features/users/queries.ts'
import { recordActivity } from '../features/activity-log/record.ts'
import { UserError, type Command } from './command.ts'
import { withServices } from './with-database.ts'

export const createUser: Command = {
  name: 'create-user',
  description: 'make an account, with an organization of its own or in an existing one',
  options(command) {
    command
      .requiredOption('--email <address>', 'address to sign in with')
      .option('--first-name <name>', 'first name', 'Owner')
      .option('--password <password>', 'password; a random one is made and shown without it')
      .option('--organization <slug>', 'slug of the organization to join; without it a new one is made')
      .option('--level <level>', 'member, admin or owner', 'member')
      .option('--staff', 'may look after every account of this instance')
  },
  async run(options) {
    const address = emailField().safeParse(options.email)
    if (!address.success) throw new UserError('--email is not an e-mail address')
    const level = levelOf(String(options.level))
    const firstName = String(options.firstName)
    const given = options.password === undefined ? null : String(options.password)
    if (given !== null) await assertGoodPassword(given, [address.data, firstName])
    const password = given ?? randomBase62(16)
    await withServices(async ({ db, now }) => {
      const password_hash = await hashPassword(password)
      const actor = { caller: null, request: { ip: '' }, now: now() }
      try {
        await db.transaction(async (tx) => {
          const user = await insertUser(
            tx,
            { email: address.data, first_name: firstName, password_hash, is_email_verified: true, is_staff: options.staff === true },
            actor.now,
          )
          if (options.organization === undefined) {
            await createOrganization(tx, actor, user.id, { name: `${firstName.slice(0, 49)}'s Organization` })
            return
          }
          const organization = await tx.row<{ id: string }>(sql`SELECT id FROM organization WHERE slug = ${options.organization}`)
          if (!organization) throw new UserError(`there is no organization with the slug ${String(options.organization)}`)
          const membership = await insertMembership(tx, organization.id, user.id, level, actor.now)
          await setCurrent(tx, user.id, organization.id, (await findFirstProject(tx, organization.id))?.id ?? null)
          await recordActivity(tx, actor, {
            organization_id: organization.id,
            scope: 'OrganizationMembership',
            activity: 'created',
            item_id: membership.id,
            name: address.data,
          })
        })
      } catch (error) {
        if (violatedUnique(error) === 'app_user_email_unique') throw new UserError('there is an account with this address already')
        throw error
      }
    })
    process.stdout.write(`made ${address.data}\n${given === null ? `password: ${password}\n` : ''}`)
  },
}

function levelOf(name: string): Level {
  if (!(name in LEVELS)) throw new UserError('--level takes member, admin or owner')
  return LEVELS[name as LevelName]
}
