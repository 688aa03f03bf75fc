// Where code of users runs: on threads of its own, with limits on time and memory, and nothing within reach but what the
// host hands in. This is the whole of what the rest of the program knows of it; quickjs/ is behind it.
import type { JsonObject } from '../../lib/json-object.ts'

/** One piece of code with its settings. Instances are kept by `id` until they are disposed of, or idle for long. */
export type SandboxedApp = {
  id: number
  /** Another version under the same id takes the old instance's place, which ends what it has begun. */
  version: string
  /**
   * Tenants take turns: apps of different ones are on different threads while there are threads enough, and where several
   * share one, a tenant's crowd of apps does not keep the others waiting. Null: it is only tried out.
   */
  tenant: string | null
  /** Apps of one group, which are of one tenant, share a cache. */
  group: string
  name: string
  /** A CommonJS script. */
  code: string
  /** Where its parts stand in the author's file: `mappings` of a source map. Null: not known. */
  mappings: string | null
  config: JsonObject
  attachments: Record<string, Attachment>
}

/** `contents` is base64. */
export type Attachment = { content_type: string; file_name: string; contents: string }

/** What the code exports. */
export type Offer = {
  capabilities: { scheduled_tasks: string[]; jobs: string[]; methods: string[] }
  metrics: Record<string, MetricKind>
  /** The first hundred names, whether they mean anything or not. */
  exports: string[]
}
export type MetricKind = 'sum' | 'max' | 'min'

export type LogType = 'DEBUG' | 'LOG' | 'INFO' | 'WARN' | 'ERROR'

/** What an app may ask for. Everything is text or JSON; whoever implements it checks every argument. */
export type Host = {
  /** `source` is CONSOLE for what the app says itself. */
  log(source: 'CONSOLE' | 'SYSTEM', type: LogType, message: string): void
  fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchAnswer>
  /** A connection to somebody's PostgreSQL: its number. It is closed when nobody asks for it for a while. */
  sqlOpen(address: SqlAddress, signal: AbortSignal): Promise<number>
  sqlQuery(connection: number, query: SqlQuery, signal: AbortSignal): Promise<SqlAnswer>
  sqlClose(connection: number): Promise<void>
  /** A call of this server's own API, for the project of the app. */
  api(request: ApiRequest, signal: AbortSignal): Promise<FetchAnswer>
  /** Values are JSON text. */
  storageGet(key: string): Promise<string | null>
  storageSet(key: string, value: string): Promise<void>
  storageDelete(key: string): Promise<void>
  /** The number afterwards. */
  storageIncrement(key: string, by: number): Promise<number>
  /** Sets the counter only if there is none. */
  storageInit(key: string, value: number): Promise<void>
  /** `hops`: of the event that the app works on; 0 where it is none. */
  capture(event: string, properties: JsonObject, hops: number): Promise<void>
  enqueueJob(name: string, payload: unknown, run_at: Date): Promise<void>
  metric(name: string, kind: MetricKind, value: number): void
  /** Not asked for: something that no call waits for any more has ended it. */
  stopped(fault: AppFault): void
}

export type FetchRequest = {
  url: string
  method: string
  headers: Record<string, string>
  /** Base64. */
  body: string | null
}
/** What is null was not given; `url` goes before the parts. */
export type SqlAddress = {
  url: string | null
  user: string | null
  password: string | null
  host: string | null
  port: number | null
  database: string | null
  /** The certificate must be in order. */
  is_checked: boolean
}
export type SqlQuery = { text: string; values: readonly unknown[] }
export type SqlAnswer = {
  command: string
  count: number | null
  /** `type` is PostgreSQL's number. */
  fields: readonly { name: string; type: number }[]
  /** As PostgreSQL writes them. */
  rows: readonly (readonly (string | null)[])[]
}

/** `body` is JSON text. */
export type ApiRequest = { method: string; path: string; body: string | null }

export type FetchAnswer = {
  status: number
  headers: Record<string, string>
  /** Base64. */
  body: string
}

/**
 * How a call went wrong. `load`: the code does not run at all; `setup`: setupPlugin threw; `threw`: the function did;
 * `time`, `cpu`, `memory`: a limit; `late`: its turn did not come in time, so it never began; `killed`: its thread had to
 * be ended; `result`: what came back is not what was asked for; `gone`: disposed of meanwhile.
 */
export type FaultKind =
  | 'load'
  | 'setup'
  | 'threw'
  | 'time'
  | 'cpu'
  | 'memory'
  | 'late'
  | 'killed'
  | 'result'
  | 'gone'

export class AppFault extends Error {
  /** The app asked to be called again: it threw RetryError. */
  readonly may_retry: boolean
  /** Name and stack as the app has them; positions are the author's where they are known. */
  readonly error: { name: string; message: string; stack: string }

  constructor(
    readonly kind: FaultKind,
    message: string,
    details: { may_retry?: boolean; name?: string; stack?: string } = {},
  ) {
    super(message)
    this.may_retry = details.may_retry ?? false
    this.error = { name: details.name ?? 'Error', message, stack: details.stack ?? '' }
  }
}

/** The property that says how many apps an event has come through, each capturing it in answer to the one before. */
export const HOPS = '$plugin_hops'

/** A job of every app with exportEvents, which whoever keeps the events does for it. */
export const HISTORICAL_EXPORT = 'Export historical events'

/** What became of an event that went through processEvent. */
export type EventOutcome =
  | { kind: 'unchanged' | 'dropped' }
  | { kind: 'changed'; patch: EventPatch }
  | { kind: 'failed'; fault: AppFault }

/**
 * Fields to set and to take away, at the top level and in `properties`. `not_finite`: properties that became null because a
 * calculation failed (NaN, Infinity, an invalid date).
 */
export type EventPatch = {
  set: JsonObject
  unset: readonly string[]
  properties: { set: JsonObject; unset: readonly string[]; not_finite?: readonly string[] }
}

/** A call to anything but processEvent. */
export type AppCall =
  | { method: 'onEvent' | 'composeWebhook'; event: JsonObject }
  | { method: 'exportEvents'; events: readonly JsonObject[] }
  | { method: 'job'; name: string; payload: unknown }
  | { method: 'task'; name: string }

export type Sandbox = {
  /** What the code offers; it runs without settings, network and storage, and for a second at most. Throws AppFault. */
  inspect(code: string, mappings?: string | null): Promise<Offer>
  /**
   * Events as text (event-text.ts), through processEvent, in order. The app is loaded and set up first if need be: AppFault of kind
   * `load` or `setup` when that fails. All have their outcome within `within_ms`, or have failed by `time` or `late`.
   */
  processEvents(
    app: SandboxedApp,
    host: Host,
    events: readonly string[],
    within_ms: number,
  ): Promise<EventOutcome[]>
  /** What the function returned, as JSON has it. Throws AppFault. */
  call(app: SandboxedApp, host: Host, call: AppCall): Promise<unknown>
  /** Loads and sets up, so that the first call need not. Throws AppFault. */
  prepare(app: SandboxedApp, host: Host): Promise<void>
  /** Bytes that an app has taken at the moment; null when it is not loaded, or was stopped. */
  measure(app: SandboxedApp, host: Host): Promise<number | null>
  /** What is under way may end, within the time of a call; teardownPlugin gets its five seconds, then the instance goes. */
  dispose(id: number): Promise<void>
  close(): Promise<void>
}
