// Answers a request with a stream.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Services } from '../../services.ts'
import type { OpenStreams } from './open-streams.ts'
import type { CheckedLive } from '../route.ts'

export const STREAM_TYPE = 'text/event-stream'

/** `onEnd` is called once, also when the client has gone. */
export function serveLive(
  services: Services,
  streams: OpenStreams,
  { project_id, messages, check }: CheckedLive,
  request: FastifyRequest,
  reply: FastifyReply,
  onEnd: () => void,
): FastifyReply {
  reply.headers({
    'content-type': STREAM_TYPE,
    // Proxies must hand each message on as it comes, and neither keep nor change it.
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  })
  if (request.method === 'HEAD') return reply.send()
  const text = streams.open({
    project_id,
    messages,
    check,
    caller: request.notes.caller ?? '',
    organization: request.notes.organization_id ?? '',
    route: request.api_path ?? '',
    onFault: (error) =>
      services.log.error({ err: error, id: request.id, route: request.api_path }, 'stream failed'),
  })
  request.is_live = true
  text.once('close', onEnd)
  return reply.send(text)
}
