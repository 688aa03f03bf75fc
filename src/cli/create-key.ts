// `longshore create-key`: a personal API key for an existing account, shown once.
import { isScope } from '../platform/http/scopes.ts'
import { newPersonalKey } from '../features/api-keys/key-value.ts'
import { insertKey } from '../features/api-keys/queries.ts'
import { recordActivity } from '../features/activity-log/record.ts'
import { findUserByEmail } from '../features/users/queries.ts'
import { UserError, type Command } from './command.ts'
import { withServices } from './with-database.ts'

export const createKey: Command = {
  name: 'create-key',
  description: 'make a personal API key for an account',
  options(command) {
    command
      .requiredOption('--email <address>', 'address of the account')
      .option('--label <label>', 'what the key is for', 'Made on the command line')
      .option('--scopes <scopes...>', 'scopes, e.g. organization:read', ['*'])
  },
  async run(options) {
    const scopes = (options.scopes as string[]).flatMap((scope) => scope.split(',')).map((scope) => scope.trim())
    const unknown = scopes.filter((scope) => !isScope(scope))
    if (unknown.length > 0) throw new UserError(`not a scope: ${unknown.join(', ')}`)
    const label = String(options.label).slice(0, 40)
    const key = newPersonalKey()
    await withServices(async ({ db, now }) => {
      const user = await findUserByEmail(db, String(options.email))
      if (!user) throw new UserError('there is no account with this address')
      await db.transaction(async (tx) => {
        const row = await insertKey(tx, { user_id: user.id }, { label, scopes }, key, user.id, now())
        await recordActivity(tx, { caller: null, request: { ip: '' }, now: now() }, {
          organization_id: user.current_organization_id,
          scope: 'PersonalAPIKey',
          activity: 'created',
          item_id: row.id,
          name: `${row.label} (${row.mask_value})`,
        })
      })
    })
    process.stdout.write(`${key.value}\n`)
  },
}
