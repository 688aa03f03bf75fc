// Queries that are small and mean much: those that grow when they are read, and those that never end when they run; and
// passwords that are hard to judge.
import { expect } from 'vitest'
import { attackEach, type Attack } from './attack.ts'
import { QUERY_BOMBS, TEXT_BOMBS } from './query-bombs.ts'
import { ask } from './s03-sql.ts'
import type { Scene } from './scene.ts'
import { ATTACKER } from './target.ts'

async function withstand(scene: Scene, query: string): Promise<void> {
  const { call, victim } = scene
  const bomb = ask(scene, query)
  // Another tenant asks meanwhile.
  const path = `/api/projects/${victim.project.id}/query/`
  const body = { query: { kind: 'HogQLQuery', query: 'select 1 + 1' } }
  expect((await call('POST', path, { key: victim.owner.key, body })).body.results).toEqual([[2]])
  const { status, headers } = await bomb
  expect([200, 400, 413, 503, 504]).toContain(status)
  if (status >= 500) expect(headers['retry-after']).toEqual(expect.any(String))
}

/** Texts for which the estimate of a password's strength finds endless ways to read them. */
const PASSWORDS = ['p4$$w0rd', '4@8({[<369&#!1/|0$5+7%2', '1234567890', '2020-01-01', 'l1!|']

const passwords = attackEach<Scene, string>(
  'S33',
  PASSWORDS,
  (text) => `a password of ${text}, again and again`,
  async ({ call, loner }, text) => {
    const password = text.repeat(72).slice(0, 1000)
    const body = { first_name: 'Mallory', email: 'long@example.com', password }
    const replies = await Promise.all(
      Array.from({ length: 2 }, () => call('POST', '/api/signup/', { body, from: ATTACKER })),
    )
    for (const { status } of replies) expect([201, 400]).toContain(status)
    expect((await call('GET', '/api/users/@me/', { session: loner.session })).status).toBe(200)
  },
)

export const attacks: Attack<Scene>[] = [
  ...attackEach<Scene, [string, string]>(
    'S30',
    QUERY_BOMBS,
    ([name]) => name,
    (scene, [, query]) => withstand(scene, query),
  ),
  ...attackEach<Scene, [string, string]>(
    'S33',
    TEXT_BOMBS,
    ([name]) => name,
    (scene, [, query]) => withstand(scene, query),
  ),
  ...passwords,
]
