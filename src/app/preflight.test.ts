import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createUser } from '../../test/factories.ts'
import { startTestApp, type TestApp } from '../../test/harness/app.ts'
import { VERSION } from './version.ts'

let closed: TestApp
let open: TestApp
beforeAll(async () => {
  closed = await startTestApp()
  open = await startTestApp({
    OPEN_SIGNUP: 'on',
    SMTP_URL: 'smtp://user:hunter2-secret@mail.example.com:587',
  })
})
afterAll(() => Promise.all([closed.close(), open.close()]))

describe('GET /_preflight/', () => {
  it('200 to anybody: the first account is welcome, the next ones by invitation', async () => {
    const answer = {
      version: VERSION,
      cloud: false,
      initiated: false,
      can_create_org: true,
      email_service_available: false,
      site_url: 'http://longshore.test',
      available_social_auth_providers: { 'google-oauth2': false, github: false, gitlab: false },
    }
    const fresh = await closed.get('/_preflight/')
    expect([fresh.status, fresh.body]).toEqual([200, answer])
    await createUser(closed)
    const later = await closed.get('/_preflight')
    expect(later.body).toEqual({ ...answer, initiated: true, can_create_org: false })
  })

  it('says whether sign-up is open and mail is sent, and not by what', async () => {
    await createUser(open)
    const { body } = await open.get('/_preflight/')
    expect(body).toMatchObject({ can_create_org: true, email_service_available: true })
    expect(JSON.stringify(body)).not.toMatch(/hunter2|mail\.example/)
  })
})
