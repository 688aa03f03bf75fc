// The browsers somebody is signed in with. Sessions only. Ending one only takes away, so it needs no recent sign-in.
import { isUuid } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import type { Caller } from '../../platform/http/caller.ts'
import { denied, notFound, unauthenticated } from '../../platform/http/errors.ts'
import { paged, PageQuery } from '../../platform/http/paging.ts'
import { noContent, ok, route } from '../../platform/http/route.ts'
import {
  closeOtherSessions,
  closeSession,
  countSessions,
  findSession,
  isSessionOpen,
  listSessions,
} from '../sign-in/sessions.ts'
import { lockUser } from '../users/queries.ts'
import { describeSession, presentSession } from './present.ts'
import { recordAccount } from './record.ts'
import { BrowserSession, SessionsEnded } from './schema.ts'

type SignedIn = Extract<Caller, { kind: 'session' }>

export const sessionRoutes = [
  route({
    method: 'GET',
    path: '/api/users/:uuid/sessions/',
    summary: 'The browsers you are signed in with, the one used last first',
    access: 'session',
    item: async ({ caller, params }) => assertOwn(caller, params.uuid),
    query: PageQuery,
    answers: { 200: paged(BrowserSession) },
    async handle({ db, caller, page, paged, now }) {
      const rows = await listSessions(db, caller.user.id, page, now)
      const results = rows.map((row) => presentSession(row, caller.session.token_hash))
      return ok(paged(await countSessions(db, caller.user.id, now), results))
    },
  }),

  route({
    method: 'DELETE',
    path: '/api/users/:uuid/sessions/:id/',
    summary: 'Sign a browser out; its next request is refused',
    access: 'session',
    async item({ db, caller, params, now }) {
      assertOwn(caller, params.uuid)
      const row = isUuid(params.id) ? await findSession(db, caller.user.id, params.id, now) : undefined
      if (!row) throw notFound()
      return row
    },
    answers: { 204: null },
    async handle(context) {
      const { db, caller, item } = context
      await db.transaction(async (tx) => {
        await holdSession(tx, caller)
        if (!(await closeSession(tx, item.token_hash))) throw notFound()
        await recordAccount(tx, context, caller.user, [
          { type: 'User', action: 'deleted', field: 'session', before: describeSession(item), after: null },
        ])
      })
      const isOwn = item.token_hash === caller.session.token_hash
      return isOwn ? { ...noContent(), session: null } : noContent()
    },
  }),

  route({
    method: 'POST',
    path: '/api/users/:uuid/sessions/end_others/',
    summary: 'Sign every other browser out',
    access: 'session',
    item: async ({ caller, params }) => assertOwn(caller, params.uuid),
    answers: { 200: SessionsEnded },
    async handle(context) {
      const { db, caller, now } = context
      const before = await db.transaction(async (tx) => {
        await holdSession(tx, caller)
        const count = await countSessions(tx, caller.user.id, now)
        await closeOtherSessions(tx, caller.user.id, caller.session.token_hash)
        if (count > 1)
          await recordAccount(tx, context, caller.user, [
            { type: 'User', action: 'changed', field: 'sessions', before: count, after: 1 },
          ])
        return count
      })
      return ok({ ended: before - 1 })
    },
  }),
]

function assertOwn(caller: SignedIn, given: string): void {
  if (given !== '@me' && given.toLowerCase() !== caller.user.uuid)
    throw denied('You can only reach your own sessions.')
}

/** Whoever ends sessions waits in line: one that was ended meanwhile ends no other. */
async function holdSession(tx: Db, { user, session }: SignedIn): Promise<void> {
  await lockUser(tx, user.id)
  if (!(await isSessionOpen(tx, session.token_hash))) throw unauthenticated('not_authenticated')
}
