// The paths that take events. An answer of 200 means that every event of the request is stored for good.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { originOf, plainAddress } from '../../../lib/network.ts'
import { readRawBody } from '../../../platform/http/body.ts'
import type { Services } from '../../../platform/services.ts'
import type { Ingest } from '../ingest.ts'
import { addClientAddress } from '../pipeline/client-address.ts'
import { addCapturePath } from './capture-path.ts'
import { addFlags, type SiteAppsOf } from './flags.ts'
import { openReader } from './reader.ts'
import { Refusal } from './refusal.ts'
import { assertOuterToken, getProject, MAX_BODY, parameter, readPacked } from './request.ts'

const MB = 1024 * 1024
const MAX_BATCH = 20 * MB
const PATHS = ['/e', '/i/v0/e', '/capture', '/track', '/batch', '/engage']

export function addCapture(
  app: FastifyInstance,
  services: Services,
  ingest: Pick<Ingest, 'accept'>,
  siteAppsOf?: SiteAppsOf,
): void {
  const reader = openReader()
  app.addHook('onClose', () => reader.close())

  for (const path of PATHS) {
    const limit = path === '/batch' ? MAX_BATCH : MAX_BODY
    const missing_name = path === '/engage' ? '$identify' : undefined
    addCapturePath(app, path, async (request, reply) => {
      const now = services.now()
      const sender = originOf(request.ip).address
      const outer_token = await assertOuterToken(services.db, request)
      const packed = await readPacked(request, limit)
      const sent_ms = parameter(request, 'sent_at') ?? parameter(request, '_')
      const { token, events, bytes, is_historical, fault } = await reader.read(
        { ...packed, outer_token, sent_ms, missing_name, now },
        sender,
      )
      const project = await getProject(services.db, token)
      request.notes.project_id = project.id
      if (fault) throw new Refusal(fault)
      const address = project.anonymize_ips ? null : plainAddress(request.ip)
      const isKept = is_historical && address !== null
      for (const event of isKept ? [] : events) addClientAddress(event, address)
      await ingest.accept(project, events, bytes, sender)
      return answerAccepted(request, reply)
    })
  }

  // Session replay: taken and thrown away, so that libraries that send it do not try again for ever.
  addCapturePath(app, '/s', async (request, reply) => {
    await readRawBody(request, MB)
    return answerAccepted(request, reply)
  })

  addFlags(app, services, reader, siteAppsOf)
}

function answerAccepted(request: FastifyRequest, reply: FastifyReply) {
  return parameter(request, 'beacon') === '1' ? reply.code(204).send() : reply.send({ status: 1 })
}
