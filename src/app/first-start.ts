// The first start: an owner, an organization, a project and a key, all random unless given, made once and shown once.
import { join } from 'node:path'
import { randomBase62 } from '../lib/base62.ts'
import { writeSecretFile } from '../lib/secret-file.ts'
import type { Services } from '../platform/services.ts'
import { createOrganization } from '../features/organizations/create.ts'
import { keyValue, newPersonalKey } from '../features/api-keys/key-value.ts'
import { recordKeyMade } from '../features/api-keys/key-activity.ts'
import { insertKey } from '../features/api-keys/queries.ts'
import { hashPassword } from '../features/users/passwords.ts'
import { hasAnyUser, insertUser, lockFirstAccount } from '../features/users/queries.ts'
import type { Config } from './config.ts'

export type FirstStart = { email: string; password: string; key: string; project_token: string }

export const FIRST_START_FILE = 'first-start.txt'

/**
 * Nothing is made when there is a user already. `keep` puts the credentials where somebody finds them; nothing is made
 * either when it fails.
 */
export async function makeFirstOwner(
  services: Services,
  config: Config,
  keep: (first: FirstStart) => void = () => undefined,
): Promise<void> {
  const { db } = services
  if (await hasAnyUser(db)) return
  const email = config.BOOTSTRAP_EMAIL ?? 'owner@longshore.local'
  const password = config.BOOTSTRAP_PASSWORD ?? randomBase62(16)
  const key = config.BOOTSTRAP_API_KEY === null ? newPersonalKey() : keyValue(config.BOOTSTRAP_API_KEY)
  const password_hash = await hashPassword(password)
  const now = services.now()
  await db.transaction(async (tx) => {
    if (!(await lockFirstAccount(tx))) return
    const owner = await insertUser(
      tx,
      { email, first_name: 'Owner', password_hash, is_staff: true, is_email_verified: true },
      now,
    )
    const actor = { caller: null, request: { ip: '' }, now }
    const { organization, project } = await createOrganization(tx, actor, owner.id, {
      name: 'My organization',
    })
    const fields = { label: 'First key', scopes: ['*'] }
    const row = await insertKey(tx, { user_id: owner.id }, fields, key, owner.id, now)
    await recordKeyMade(tx, actor, row, organization.id)
    keep({ email, password, key: key.value, project_token: project.api_token })
  })
}

/** For a start that nobody watches: what is printed ends up in a log, which others read. Gives the line to print. */
export function keepFirstStart({ DATA_DIR }: Config, url: string, first: FirstStart): string {
  const file = join(DATA_DIR, FIRST_START_FILE)
  writeSecretFile(file, firstStartText(url, first))
  return `The first owner's password and API key are in ${file}: read it, then delete it.\n`
}

/** What a newcomer sees, once. */
export function firstStartText(url: string, first: FirstStart): string {
  return [
    '',
    '  Longshore is ready. These credentials are shown once: keep them.',
    '',
    `  Console    ${url}`,
    `  E-mail     ${first.email}`,
    `  Password   ${first.password}`,
    `  API key    ${first.key}`,
    `  Project    ${first.project_token}`,
    `  API pages  ${url}/docs`,
    '',
    '  Open the console and sign in. Or send an event and list it from here:',
    '',
    `  curl ${url}/capture/ -d '{"api_key": "${first.project_token}", "event": "hello", "distinct_id": "me"}'`,
    '',
    `  curl -H 'Authorization: Bearer ${first.key}' ${url}/api/projects/@current/events/`,
    '',
    '',
  ].join('\n')
}
