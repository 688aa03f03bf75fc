// Things tests need: a test states only what matters to it, the rest is made up here.
import { hash } from '@node-rs/argon2'
import { randomBytes } from 'node:crypto'
import { newPersonalKey, newServiceKey } from '../src/features/api-keys/key-value.ts'
import { insertKey } from '../src/features/api-keys/queries.ts'
import type { KeyFields } from '../src/features/api-keys/schema.ts'
import { insertMembership } from '../src/features/members/queries.ts'
import { createOrganization as createRows } from '../src/features/organizations/create.ts'
import type { OrganizationRow } from '../src/features/organizations/queries.ts'
import type { OrganizationFields } from '../src/features/organizations/schema.ts'
import { isReachableByUser } from '../src/features/projects/access.ts'
import { findFirstProject } from '../src/features/projects/queries.ts'
import type { ProjectRow } from '../src/features/projects/schema.ts'
import { openSession } from '../src/features/sign-in/sessions.ts'
import { insertUser, setCurrent, type NewUser } from '../src/features/users/queries.ts'
import type { UserRow } from '../src/features/users/schema.ts'
import { LEVELS, type LevelName } from '../src/platform/http/caller.ts'
import type { Services } from '../src/platform/services.ts'
import type { TestApp } from './harness/app.ts'

/** What rows are made with, whichever process serves them. */
export type Maker = Pick<TestApp, 'db' | 'canary'> & { services: Pick<Services, 'now'> }

export type TestUser = UserRow & { password: string; key: string; session: string }
export type Workspace = { organization: OrganizationRow; project: ProjectRow; owner: TestUser }

// One hash for all, and a cheap one: a hash says what its check costs, which is 35 ms of CPU for one of the product's own.
const PASSWORD = 'correct-horse-battery-staple-42'
const passwordHash = hash(PASSWORD, { memoryCost: 8, timeCost: 1, parallelism: 1 })

const nobody = (now: Date) => ({ caller: null, request: { ip: '127.0.0.1' }, now })
const unique = () => randomBytes(5).toString('hex')

/** A user with a password, a key with scope `*` and a fresh session; in no organization yet. */
export async function createUser(app: Maker, fields: Partial<NewUser> = {}): Promise<TestUser> {
  const now = app.services.now()
  const base = {
    email: `user-${unique()}@example.com`,
    first_name: 'Test',
    password_hash: await passwordHash,
    is_email_verified: true,
  }
  const user = await insertUser(app.db, { ...base, ...fields }, now)
  app.canary.plant('password', PASSWORD)
  const session = await openSession(app.db, user.id, false, now)
  return {
    ...user,
    password: PASSWORD,
    key: await createKey(app, user, { scopes: ['*'] }),
    session: app.canary.plant('session token', session!.token),
  }
}

/** An organization with its owner and first project. */
export async function createOrganization(
  app: Maker,
  fields: Partial<OrganizationFields> = {},
): Promise<Workspace> {
  const owner = await createUser(app, { first_name: 'Olive' })
  const now = app.services.now()
  const rows = await app.db.transaction((tx) =>
    createRows(tx, nobody(now), owner.id, { name: `Org ${unique()}`, ...fields }),
  )
  return {
    ...rows,
    owner: { ...owner, current_organization_id: rows.organization.id, current_project_id: rows.project.id },
  }
}

export async function createMember(
  app: Maker,
  organization: { id: string },
  options: Partial<NewUser> & { level?: LevelName } = {},
): Promise<TestUser> {
  const { level = 'member', ...fields } = options
  const user = await createUser(app, fields)
  await insertMembership(app.db, organization.id, user.id, LEVELS[level], app.services.now())
  const project = await findFirstProject(app.db, organization.id, isReachableByUser(user.id))
  await setCurrent(app.db, user.id, organization.id, project?.id ?? null)
  return { ...user, current_organization_id: organization.id, current_project_id: project?.id ?? null }
}

/** A personal key of a user. */
export async function createKey(
  app: Maker,
  user: { id: number },
  fields: KeyFields & { scopes: string[] },
): Promise<string> {
  const key = newPersonalKey()
  await insertKey(
    app.db,
    { user_id: user.id },
    { label: 'test', ...fields },
    key,
    user.id,
    app.services.now(),
  )
  return app.canary.plant('API key', key.value)
}

/** A service key of an organization. */
export async function createServiceKey(
  app: Maker,
  organization: { id: string },
  fields: KeyFields & { scopes: string[]; level?: 'member' | 'admin' },
): Promise<string> {
  const { level = 'admin', ...rest } = fields
  const key = newServiceKey()
  const owner = { organization_id: organization.id, level: LEVELS[level] }
  await insertKey(app.db, owner, { label: 'test service', ...rest }, key, null, app.services.now())
  return app.canary.plant('service key', key.value)
}

/** What the link of an invite ends with; given once, to whoever makes or resends it. */
export function secretOf({ link }: { link?: string }): string {
  return link!.split('/').at(-1)!
}
