// Who is told by mail that an export fails, how often, and where the mail leads.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createMember } from '../../../test/factories.ts'
import { startSmtpServer, type SmtpStandIn } from '../../../test/stand-ins/smtp.ts'
import { HOUR_MS } from './fixture/clock.ts'
import { openWorkbench, type Workbench } from './fixture/workbench.ts'

let smtp: SmtpStandIn
let bench: Workbench
let refusing: Server
let member_email: string
beforeAll(async () => {
  smtp = await startSmtpServer()
  bench = await openWorkbench({ OUTBOUND_ALLOW: '127.0.0.1', ALLOW_PLAINTEXT: 'on', SMTP_URL: smtp.url })
  member_email = (await createMember(bench.app, bench.workspace.organization)).email
  refusing = createServer((_request, response) => response.writeHead(401).end('{}')).listen(0, '127.0.0.1')
  await once(refusing, 'listening')
})
afterAll(async () => {
  refusing.close()
  await bench.app.close()
  await smtp.close()
})

async function createFailing(name: string): Promise<string> {
  const url = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}/batch/`
  return bench.create({ type: 'HTTP', config: { url, token: 'phc_wrong' } }, { name })
}

/** One hour with an event, whose run fails. */
async function fail(): Promise<void> {
  await bench.capture(['seen'])
  await bench.pass()
}

const about = (name: string) => smtp.mails.filter(({ subject }) => subject.includes(name))

it('admins hear of the first failure, with a link to the run, and then once a day', async () => {
  const id = await createFailing('Hourly')
  await fail()
  const first = await smtp.waitForMail((mail) => mail.subject.includes('Hourly'))
  expect(first.subject).toBe(`Export Hourly of ${bench.workspace.project.name} failed`)
  expect(first.recipients).toEqual([bench.workspace.owner.email])
  const [run] = await bench.runs(id)
  expect(first.links).toEqual([
    `${bench.app.services.settings.site_url}/project/${bench.workspace.project.id}/exports/${id}/runs?run=${run!.id}`,
  ])
  await fail()
  bench.app.advance(22 * HOUR_MS)
  await bench.work()
  await fail()
  await smtp.waitForMail((mail) => mail !== first && mail.subject.includes('Hourly'))
  expect(about('Hourly')).toHaveLength(2)
  expect(smtp.mails.flatMap(({ recipients }) => recipients)).not.toContain(member_email)
  await bench.deleteExports()
})

it('that an export was paused is told however recent the last mail is', async () => {
  await createFailing('Tenth')
  for (let failures = 1; failures <= 10; failures++) await fail()
  const paused = await smtp.waitForMail((mail) => mail.subject.includes('was paused'))
  expect(paused.text).toContain('unpause it and backfill what was missed')
  expect(about('Tenth').map(({ subject }) => subject.includes('was paused'))).toEqual([false, true])
})
