// Carries out, on the main thread, what apps of one thread ask of their hosts.
import { AppFault, type Host } from './sandbox.ts'
import type { HostAnswer, HostRequest } from './messages.ts'

export class HostRequests {
  readonly #underway = new Map<number, AbortController>()

  /** Never throws: apps learn of failures by their messages. */
  async answer(request_id: number, host: Host | undefined, request: HostRequest): Promise<HostAnswer> {
    const controller = new AbortController()
    this.#underway.set(request_id, controller)
    try {
      if (!host) throw new AppFault('gone', 'the app was taken away')
      return { result: await carryOut(host, request, controller.signal) }
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) }
    } finally {
      this.#underway.delete(request_id)
    }
  }

  abort(request_id: number): void {
    this.#underway.get(request_id)?.abort()
  }

  abortAll(): void {
    for (const controller of this.#underway.values()) controller.abort()
  }
}

function carryOut(host: Host, request: HostRequest, signal: AbortSignal): Promise<unknown> {
  switch (request.op) {
    case 'fetch': {
      const { url, method, headers, body } = request
      return host.fetch({ url, method, headers, body }, signal)
    }
    case 'sqlOpen':
      return host.sqlOpen(request.address, signal)
    case 'sqlQuery':
      return host.sqlQuery(request.connection, request.query, signal)
    case 'sqlClose':
      return host.sqlClose(request.connection)
    case 'api':
      return host.api(request.request, signal)
    case 'storageGet':
      return host.storageGet(request.key)
    case 'storageSet':
      return host.storageSet(request.key, request.value)
    case 'storageDelete':
      return host.storageDelete(request.key)
    case 'storageIncrement':
      return host.storageIncrement(request.key, request.by)
    case 'storageInit':
      return host.storageInit(request.key, request.value)
    case 'capture':
      return host.capture(request.event, request.properties, request.hops)
    case 'job':
      return host.enqueueJob(request.name, request.payload, new Date(request.run_at))
    default:
      return request satisfies never
  }
}
