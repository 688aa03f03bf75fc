// One try to hand events over to an app, and what follows from how it went: counted, told, to be tried again or not.
import { AppFault } from '../../../platform/sandbox/sandbox.ts'
import type { Services } from '../../../platform/services.ts'
import type { PluginLogs } from '../logs/plugin-logs.ts'
import type { PluginMetrics } from '../metrics/plugin-metrics.ts'
import type { Leases } from '../running/leases.ts'
import { AppIdle, type RunningApp, type RunningApps } from '../running/running-app.ts'
import { toProcessedEvent, toWebhookEvent } from './event-forms.ts'
import { waitAfter, type DeliveryMethod } from './methods.ts'
import type { StoredEvent } from './stored-events.ts'
import { readWebhook, sendWebhook, type WebhookRequest } from './webhook.ts'

export type Tools = {
  services: Services
  apps: RunningApps
  logs: PluginLogs
  metrics: PluginMetrics
  leases: Leases
  /** Nothing more is to be begun. */
  is_closing(): boolean
  /** Ends requests under way. */
  signal: AbortSignal
}

/** What is handed over at once: one event, or for exportEvents a batch. */
export type Parcel = {
  events: readonly StoredEvent[]
  /** As it was composed at an earlier try. */
  request: WebhookRequest | null
  /** The number of this try, from 1 on. */
  attempt: number
}

export type Outcome =
  /** For good or ill. */
  | { kind: 'done' }
  | { kind: 'again'; due_at: Date; request: WebhookRequest | null }
  /** It was not really tried: the app is not to be called now. */
  | { kind: 'later' }

type Try =
  | { kind: 'taken' }
  | { kind: 'later' }
  | {
      kind: 'failed'
      fault: AppFault
      may_retry: boolean
      asked_ms: number | null
      request: WebhookRequest | null
    }

const NOT_TRIED: readonly unknown[] = ['load', 'setup', 'gone']

export async function attempt(
  tools: Tools,
  app: RunningApp,
  method: DeliveryMethod,
  parcel: Parcel,
): Promise<Outcome> {
  const { events, attempt: number } = parcel
  const tried = await tryOnce(tools, app, method, parcel)
  if (tried.kind === 'later') return { kind: 'later' }
  if (tried.kind === 'taken') {
    const outcome = number === 1 ? 'success' : 'success_on_retry'
    tools.metrics.count(app, method, outcome, { by: events.length })
    return { kind: 'done' }
  }
  const { fault, may_retry, asked_ms, request } = tried
  const wait_ms = may_retry ? waitAfter(method, number, asked_ms) : null
  if (wait_ms !== null) {
    const soon = `tried again in ${Math.round(wait_ms / 1000)} s`
    tools.logs.add(app, 'SYSTEM', 'DEBUG', `${nameOf(events)}: ${soon}. ${fault.message}`)
    return { kind: 'again', due_at: new Date(tools.services.now().getTime() + wait_ms), request }
  }
  giveUp(tools, app, method, parcel, fault)
  return { kind: 'done' }
}

function giveUp(
  { logs, metrics }: Tools,
  app: RunningApp,
  method: DeliveryMethod,
  { events, attempt: tries }: Parcel,
  fault: AppFault,
): void {
  metrics.count(app, method, 'failure', { by: events.length })
  metrics.error(app, method, fault, toProcessedEvent(app.project_id, events[0]!))
  const after = tries === 1 ? '' : ` after ${tries} tries`
  logs.add(app, 'SYSTEM', 'ERROR', `${nameOf(events)}: not delivered${after}. ${fault.message}`)
}

async function tryOnce(tools: Tools, app: RunningApp, method: DeliveryMethod, parcel: Parcel): Promise<Try> {
  try {
    if (method === 'composeWebhook') return await tryWebhook(tools, app, parcel)
    const events = parcel.events.map((event) => toProcessedEvent(app.project_id, event))
    await tools.apps.call(app, method === 'onEvent' ? { method, event: events[0]! } : { method, events })
    return { kind: 'taken' }
  } catch (error) {
    if (error instanceof AppIdle || tools.signal.aborted) return { kind: 'later' }
    if (!(error instanceof AppFault)) throw error
    if (NOT_TRIED.includes(error.kind)) return { kind: 'later' }
    return { kind: 'failed', fault: error, may_retry: error.may_retry, asked_ms: null, request: null }
  }
}

async function tryWebhook(tools: Tools, app: RunningApp, parcel: Parcel): Promise<Try> {
  const event = parcel.events[0]!
  const request = parcel.request ?? (await compose(tools, app, event))
  if (!request) return { kind: 'taken' }
  const { outbound } = tools.services
  const answer = await sendWebhook(outbound, request, event.uuid, app.redactor, tools.signal)
  if (answer.kind === 'taken') return { kind: 'taken' }
  const may_retry = answer.kind === 'passing'
  const asked_ms = may_retry ? answer.retry_after_ms : null
  return { kind: 'failed', fault: answer.fault, may_retry, asked_ms, request }
}

async function compose({ apps }: Tools, app: RunningApp, event: StoredEvent): Promise<WebhookRequest | null> {
  const form = toWebhookEvent(app.project_id, event)
  return readWebhook(await apps.call(app, { method: 'composeWebhook', event: form }))
}

function nameOf([first, ...others]: readonly StoredEvent[]): string {
  if (others.length > 0) return `${others.length + 1} events from ${first!.uuid} on`
  return `Event ${first!.uuid} (${JSON.stringify(first!.event)})`
}
