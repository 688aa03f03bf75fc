// /Users: people whom the directory makes members, changes and takes away.
import { isDeepStrictEqual } from 'node:util'
import { isUuid } from '../../lib/uuid.ts'
import type { JsonObject } from '../../lib/json-object.ts'
import type { Db } from '../../platform/db/database.ts'
import { getUser } from '../users/queries.ts'
import { accountOf, changeAccount, findOrMakeAccount } from './account.ts'
import { changing, type Directory } from './directory.ts'
import { tellOwners } from './emails.ts'
import { join, LastOwnerStays, leave } from './membership.ts'
import { presentUser, userEtag, writableUser } from './present.ts'
import { USER } from './protocol/attributes.ts'
import { applyPatch } from './protocol/patch.ts'
import { assertSmall, readResource } from './protocol/read-resource.ts'
import { missing, refused, ScimError, taken } from './protocol/scim-error.ts'
import type { Condition, Resource } from './resource.ts'
import { searchUsers } from './search.ts'
import {
  countUsers,
  deleteScimUser,
  findShownUser,
  findUserNamed,
  findUserOfAccount,
  insertScimUser,
  updateScimUser,
  type ShownUserRow,
} from './user-queries.ts'

/** Each is looked at for a filter that no index helps with. */
const MAX_USERS = 20_000
const MAX_USER_NAME = 254

export const users: Resource<ShownUserRow> = {
  type: USER,
  present: presentUser,
  etag: userEtag,
  search: searchUsers,

  get: (directory, id) => getPerson(directory.services.db, directory, id),

  create(directory, body) {
    const { fields, active } = readPerson(readResource(USER, body))
    return changing(directory, async (tx) => {
      await assertNameFree(tx, directory, fields.user_name)
      if ((await countUsers(tx, directory.domain.id)) >= MAX_USERS)
        throw new ScimError(403, null, `A directory has ${MAX_USERS} people at most.`)
      const account = await accountOf(tx, directory, { ...fields.resource, userName: fields.user_name })
      const user = await findOrMakeAccount(tx, directory, account)
      if (await findUserOfAccount(tx, directory.domain.id, user.id))
        throw taken('Another user of this directory has the same address.')
      const made = await insertScimUser(tx, directory.domain, user.id, fields, directory.now)
      if (active ?? true) await join(tx, directory, made, user)
      // Who is a member already, and comes from the directory as inactive, leaves.
      else await leave(tx, directory, user)
      return getPerson(tx, directory, made.id)
    })
  },

  replace: (directory, id, body, condition) =>
    change(directory, id, condition, () => readResource(USER, body)),

  patch: (directory, id, body, condition) =>
    change(directory, id, condition, (row) => applyPatch(USER, writableUser(row), body)),

  remove(directory, id, condition) {
    return tellingOwners(directory, id, () =>
      changing(directory, async (tx) => {
        const row = await getPerson(tx, directory, id)
        condition(userEtag(row))
        await leave(tx, directory, await getUser(tx, row.user_id))
        await deleteScimUser(tx, directory.domain.id, row.id)
      }),
    )
  },
}

/** Without `active` nothing changes in that: a directory that leaves it out means to remove nobody. */
function change(
  directory: Directory,
  id: string,
  condition: Condition,
  next: (row: ShownUserRow) => JsonObject,
): Promise<ShownUserRow> {
  return tellingOwners(directory, id, () =>
    changing(directory, async (tx) => {
      const row = await getPerson(tx, directory, id)
      condition(userEtag(row))
      const { fields, active = row.active } = readPerson(next(row))
      await write(tx, directory, row, fields)
      if (active !== row.active) await setActive(tx, directory, row, active)
      return getPerson(tx, directory, id)
    }),
  )
}

type PersonFields = Pick<ShownUserRow, 'user_name' | 'external_id' | 'resource'>

function readPerson(given: JsonObject): { fields: PersonFields; active: boolean | undefined } {
  const { userName, externalId, active, ...resource } = given
  const user_name = typeof userName === 'string' ? userName.trim() : ''
  if (user_name === '') throw refused('invalidValue', 'userName is missing.')
  if (user_name.length > MAX_USER_NAME)
    throw refused('invalidValue', `userName has more than ${MAX_USER_NAME} characters.`)
  assertSmall(resource)
  const external_id = typeof externalId === 'string' ? externalId : null
  return { fields: { user_name, external_id, resource }, active: active as boolean | undefined }
}

async function write(tx: Db, directory: Directory, row: ShownUserRow, fields: PersonFields): Promise<void> {
  const { user_name, external_id, resource } = row
  if (isDeepStrictEqual(fields, { user_name, external_id, resource })) return
  if (fields.user_name.toLowerCase() !== row.user_name.toLowerCase())
    await assertNameFree(tx, directory, fields.user_name)
  const account = await accountOf(tx, directory, { ...fields.resource, userName: fields.user_name })
  await updateScimUser(tx, directory.domain.id, row.id, fields, directory.now)
  await changeAccount(tx, directory, row.user_id, account)
}

async function setActive(tx: Db, directory: Directory, row: ShownUserRow, active: boolean): Promise<void> {
  const user = await getUser(tx, row.user_id)
  if (active) await join(tx, directory, row, user)
  const last_level = active ? null : await leave(tx, directory, user)
  await updateScimUser(tx, directory.domain.id, row.id, { last_level }, directory.now)
}

async function assertNameFree(tx: Db, { domain }: Directory, userName: string): Promise<void> {
  if (await findUserNamed(tx, domain.id, userName)) throw taken('This userName is taken.')
}

async function getPerson(db: Db, { domain }: Directory, id: string): Promise<ShownUserRow> {
  const row = isUuid(id) ? await findShownUser(db, domain.id, id) : undefined
  if (!row) throw missing('user')
  return row
}

/** The refusal has undone the change, so the mail is put into the queue behind it. */
async function tellingOwners<T>(directory: Directory, id: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof LastOwnerStays)
      await tellOwners(directory, await getPerson(directory.services.db, directory, id))
    throw error
  }
}
