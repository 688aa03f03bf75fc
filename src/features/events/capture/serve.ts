// The paths that take events. An answer of 200 means that every event of the request is stored for good.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { originOf, plainAddress } from '../../../lib/network.ts'
import type { Services } from '../../../platform/services.ts'
import { addBrowserLibrary } from '../browser-library/serve.ts'
import type { Ingest } from '../ingest.ts'
import type { PipelineEvent } from '../pipeline-event.ts'
import { addClientAddress } from '../pipeline/client-address.ts'
import { addAbsentFeatures } from './absent-features.ts'
import { addLibrary, ANALYTICS_V1, bearerToken, requestTimestamp, resultsOf } from './analytics-v1.ts'
import { addCapturePath, answerAccepted } from './capture-path.ts'
import { addFlags, type SiteAppsOf } from './flags.ts'
import { openReader, type Reader } from './reader.ts'
import { Refusal } from './refusal.ts'
import { assertOuterToken, getProject, MAX_BODY, outerToken, parameter, readPacked } from './request.ts'

const MAX_BATCH = 20 * 1024 * 1024
const AI_BATCH = '/i/v0/ai/batch'
const PATHS = ['/e', '/i/v0/e', '/capture', '/track', '/batch', '/engage', AI_BATCH, ANALYTICS_V1]
const LARGE = new Set(['/batch', AI_BATCH, ANALYTICS_V1])

type Capture = { services: Services; ingest: Pick<Ingest, 'accept' | 'tally'>; reader: Reader }

export function addCapture(
  app: FastifyInstance,
  services: Services,
  ingest: Pick<Ingest, 'accept' | 'tally'>,
  siteAppsOf?: SiteAppsOf,
): void {
  const reader = openReader()
  app.addHook('onClose', () => reader.close())
  for (const path of PATHS) {
    addCapturePath(app, path, async (request, reply) => {
      const events = await take({ services, ingest, reader }, path, request)
      return path === ANALYTICS_V1 ? resultsOf(events) : answerAccepted(request, reply)
    })
  }
  addFlags(app, services, reader, siteAppsOf)
  addAbsentFeatures(app, services)
  addBrowserLibrary(app, services)
}

async function take(
  { services, ingest, reader }: Capture,
  path: string,
  request: FastifyRequest,
): Promise<readonly PipelineEvent[]> {
  const now = services.now()
  const sender = originOf(request.ip).address
  const is_v1 = path === ANALYTICS_V1
  const outer_token = await assertOuterToken(
    services.db,
    (is_v1 ? bearerToken(request) : undefined) ?? outerToken(request),
  )
  const packed = await readPacked(request, LARGE.has(path) ? MAX_BATCH : MAX_BODY)
  const sent_ms = is_v1
    ? requestTimestamp(request)
    : (parameter(request, 'sent_at') ?? parameter(request, '_'))
  const missing_name = path === '/engage' ? '$identify' : undefined
  const { token, events, bytes, is_historical, fault } = await ingest.tally.timed('read', () =>
    reader.read({ ...packed, outer_token, sent_ms, missing_name, is_v1, now }, sender),
  )
  const project = await getProject(services.db, token)
  request.notes.project_id = project.id
  if (fault) throw new Refusal(fault)
  const address = project.anonymize_ips ? null : plainAddress(request.ip)
  const isKept = is_historical && address !== null
  for (const event of isKept ? [] : events) addClientAddress(event, address)
  if (is_v1) addLibrary(request, events)
  await ingest.accept(project, events, bytes, sender)
  return events
}
