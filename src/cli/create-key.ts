// `longshore create-key`: a personal API key for an existing account, shown once.
import { recordKeyMade } from '../features/api-keys/key-activity.ts'
import { newPersonalKey } from '../features/api-keys/key-value.ts'
import { insertKey } from '../features/api-keys/queries.ts'
import { findUserByEmail } from '../features/users/queries.ts'
import { isScope } from '../platform/http/scopes.ts'
import { UserError, type Command } from './command.ts'
import { takeInstalledConfig } from './environment.ts'
import { withDatabase } from './with-database.ts'

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
    const scopes = (options.scopes as string[])
      .flatMap((given) => given.split(','))
      .map((scope) => scope.trim())
    const unknown = scopes.filter((scope) => !isScope(scope))
    if (unknown.length > 0) throw new UserError(`not a scope: ${unknown.join(', ')}`)
    const label = String(options.label).trim()
    if (label === '' || label.length > 40) throw new UserError('--label takes 1 to 40 characters')
    const key = newPersonalKey()
    await withDatabase(await takeInstalledConfig(), async (db) => {
      const user = await findUserByEmail(db, String(options.email).trim())
      if (!user) throw new UserError('there is no account with this address')
      const now = new Date()
      await db.transaction(async (tx) => {
        const row = await insertKey(tx, { user_id: user.id }, { label, scopes }, key, user.id, now)
        const actor = { caller: null, request: { ip: '' }, now }
        await recordKeyMade(tx, actor, row, user.current_organization_id)
      })
    })
    process.stdout.write(`${key.value}\n`)
  },
}
