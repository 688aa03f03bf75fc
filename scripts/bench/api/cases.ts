// What is measured: three calls of the API, each with the check that its answer was a real one.
import { MEMBER_COUNT, type BenchWorkspace } from './workspace.ts'

export type BenchCase = {
  name: 'get organization' | 'list 100 members' | 'post invite'
  method: 'GET' | 'POST'
  path(workspace: BenchWorkspace): string
  body?(n: number): object
  status: number
  isRight(answer: Record<string, unknown>): boolean
}

export const cases: readonly BenchCase[] = [
  {
    name: 'get organization',
    method: 'GET',
    path: ({ organization_id }) => `/api/organizations/${organization_id}/`,
    status: 200,
    isRight: (answer) => answer.name === 'Bench' && answer.member_count === String(MEMBER_COUNT),
  },
  {
    name: 'list 100 members',
    method: 'GET',
    path: ({ organization_id }) => `/api/organizations/${organization_id}/members/`,
    status: 200,
    isRight: (answer) =>
      answer.count === MEMBER_COUNT && (answer.results as unknown[]).length === MEMBER_COUNT,
  },
  {
    name: 'post invite',
    method: 'POST',
    path: ({ organization_id }) => `/api/organizations/${organization_id}/invites/`,
    body: (n) => ({ target_email: `guest-${n}@example.com`, first_name: 'Guest', level: 1 }),
    status: 201,
    isRight: (answer) => String(answer.target_email).startsWith('guest-') && answer.is_expired === false,
  },
]
