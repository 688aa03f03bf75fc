// Lists of many people: what PostgreSQL is asked gives what trying each of them gives, and a walk over all counts for more.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import { createDirectory, type TestDirectory } from './fixture/directory.ts'

let app: TestApp
let directory: TestDirectory
beforeAll(async () => {
  app = await startTestApp({ RATE_LIMITS: 'on' })
  directory = await createDirectory(app)
  await addPeople(directory, 'few', 60)
})
afterAll(() => app.close())

/** Each tenth of them, the one with a 7 at the end, is not active. */
async function addPeople({ domain, domain_id, workspace }: TestDirectory, name: string, count: number) {
  const { id } = workspace.organization
  await app.db.run(sql`
    INSERT INTO app_user (uuid, distinct_id, email, date_joined)
    SELECT gen_random_uuid(), ${name}::text || '-' || n, 'P' || n || '@' || ${domain}, now()
    FROM generate_series(1, ${count}::int) n`)
  await app.db.run(sql`
    INSERT INTO membership (id, organization_id, user_id, level, joined_at, updated_at)
    SELECT gen_random_uuid(), ${id}, id, 1, now(), now() FROM app_user
    WHERE distinct_id LIKE ${`${name}-%`} AND distinct_id NOT LIKE '%7'`)
  await app.db.run(sql`
    INSERT INTO scim_user (id, domain_id, organization_id, user_id, user_name, external_id, resource, created_at, updated_at)
    SELECT gen_random_uuid(), ${domain_id}, ${id}, id, email, distinct_id,
      jsonb_build_object('title', 'Dev', 'emails', jsonb_build_array(
        jsonb_build_object('value', 'Home\\N"' || distinct_id || '@Private.example', 'type', 'home'),
        jsonb_build_object('value', email, 'type', 'work', 'primary', true))), now(), now()
    FROM app_user WHERE distinct_id LIKE ${`${name}-%`}`)
}

const list = (filter: string, more = '') =>
  directory.call('GET', `/Users?filter=${encodeURIComponent(filter)}&count=1000${more}`)

it('is the same by PostgreSQL as by trying each', async () => {
  const { domain } = directory
  const [some] = (await list(`userName eq "p12@${domain}"`)).body.Resources
  const cases: [string, number][] = [
    [`userName eq "p12@${domain}"`, 1],
    [`USERNAME eq "P12@${domain.toUpperCase()}" and active eq true`, 1],
    [`userName eq "p17@${domain}" and active eq true`, 0],
    [`userName eq "p17@${domain}" and active eq "False"`, 1],
    ['externalId eq "few-1"', 1],
    ['externalId eq "FEW-1"', 0],
    [`externalId eq "few-1" and userName eq "p12@${domain}"`, 0],
    [`id eq "${some.id}"`, 1],
    [`id eq "${some.id.toUpperCase()}"`, 0],
    ['id eq "nobody"', 0],
    [`emails.value eq "p12@${domain}"`, 1],
    [`emails eq "p12@${domain}" and title eq "dev"`, 1],
    [`emails eq "p12@${domain}" and title eq "ops"`, 0],
    [`emails.value eq "home\\\\n\\"few-12@private.example"`, 1],
    [`emails[type eq "work" and value eq "p12@${domain}"]`, 1],
    [`emails[type eq "work"].value eq "p12@${domain}"`, 1],
    [`emails[type eq "home" and value eq "p12@${domain}"]`, 0],
    [`emails[type eq "home" or value eq "p12@${domain}"] and userName eq "p12@${domain}"`, 1],
    [`not (emails.value eq "p12@${domain}") and externalId eq "few-12"`, 0],
    ['emails.value eq null and externalId eq "few-12"', 0],
    ['emails.value eq ""', 0],
    ['active eq true', 54],
    ['active eq false', 6],
    ['active eq "True" and externalId sw "few-5"', 10],
    ['active eq 1', 0],
    ['userName eq true', 0],
  ]
  for (const [filter, count] of cases) {
    const asked = (await list(filter)).body
    // Neither `or` nor `sortBy` is anything that PostgreSQL is asked.
    const tried = (await list(`(${filter}) or (${filter})`)).body
    expect([filter, asked.totalResults, tried.totalResults]).toEqual([filter, count, count])
    expect([filter, asked.Resources]).toEqual([filter, tried.Resources])
  }
  const first = (await list('active eq true')).body
  const rest = (await list('active eq true', '&startIndex=51')).body
  expect(rest).toMatchObject({ totalResults: 54, itemsPerPage: 4, Resources: first.Resources.slice(50) })
  const beyond = (await list('active eq true', '&startIndex=55')).body
  expect(beyond).toMatchObject({ totalResults: 54, Resources: [] })
})

it('a walk over all counts as one request for every 500 people', async () => {
  const busy = await createDirectory(app)
  await addPeople(busy, 'many', 1_100)
  const rate = [{ count: 2_400, window_ms: 60_000 }]
  app.services.throttle.take('scim', busy.domain_id, rate, app.services.now(), 2_400 - 5)
  const ask = (filter: string) => busy.call('GET', `/Users?filter=${encodeURIComponent(filter)}&count=1`)
  expect((await ask('title sw "d"')).status).toBe(200)
  // One that is looked up counts once.
  expect((await ask('externalId eq "many-1"')).status).toBe(200)
  const refused = await ask('title sw "d"')
  expect([refused.status, refused.body.status]).toEqual([429, '429'])
})
