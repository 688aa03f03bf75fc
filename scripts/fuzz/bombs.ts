// Requests that cost more than they weigh, as the attacks have them: queries that grow, texts that are deep or wide, and
// bodies that unpack.
import fc, { type Arbitrary } from 'fast-check'
import { BOMBS } from '../../test/attacks/bombs.ts'
import { QUERY_BOMBS, TEXT_BOMBS } from '../../test/attacks/query-bombs.ts'
import type { FuzzRequest } from './requests.ts'
import { anyOf } from './values.ts'
import type { World } from './world.ts'

const QUERY = '/api/projects/{project_id}/query/'

type Choice = { name: string; weight: number; arbitrary: Arbitrary<FuzzRequest> }

/** Some of a hundred requests; those that run until their time is up are fewer. */
export function bombs(world: World): Choice[] {
  return [
    { name: `POST ${QUERY}`, weight: 10, arbitrary: queryBomb(world, QUERY_BOMBS) },
    { name: `POST ${QUERY}`, weight: 60, arbitrary: queryBomb(world, TEXT_BOMBS) },
    { name: 'POST /batch', weight: 60, arbitrary: captureBomb(world) },
  ]
}

function queryBomb({ home }: World, queries: readonly [string, string][]): Arbitrary<FuzzRequest> {
  return fc
    .tuple(
      fc.constantFrom(...queries),
      anyOf(() => home.keys),
      anyOf(() => home.ids.project),
    )
    .map(([[, query], key, project]) => ({
      operation: `POST ${QUERY}`,
      side: 'home',
      method: 'POST',
      url: QUERY.replace('{project_id}', project),
      headers: {
        host: 'longshore.test',
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
      },
      payload: JSON.stringify({ query: { kind: 'HogQLQuery', query } }),
    }))
}

function captureBomb({ home }: World): Arbitrary<FuzzRequest> {
  const all = BOMBS.flatMap(([, of]) => of)
  return fc
    .tuple(
      fc.constantFrom(...all),
      anyOf(() => home.tokens),
      anyOf(() => home.keys),
    )
    .map(([[, make], token, key]) => {
      const { path, headers = {}, body = '' } = make({ token, key })
      const [bare = ''] = path.split('?')
      return {
        operation: `POST ${bare.startsWith('/api/') ? bare : bare.replace(/\/$/, '')}`,
        side: 'home',
        method: 'POST',
        url: path,
        headers: { host: 'longshore.test', ...headers },
        payload: Buffer.from(body),
      }
    })
}
