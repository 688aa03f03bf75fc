/* oxlint-disable typescript/no-explicit-any -- properties and payloads are whatever senders make them */
// Types for apps: code that Longshore (or PostHog) runs on events. Copy this file beside your code, or reference it:
//   /// <reference path="./app.d.ts" />
// Everything here is global or imported from '@posthog/plugin-scaffold'.

declare module '@posthog/plugin-scaffold' {
  export type Properties = Record<string, any>

  /** What processEvent gets and returns. */
  export interface PluginEvent {
    /** Events of one uuid within a day of each other are stored once. Another one set here counts, so make it of the event alone. */
    uuid: string
    event: string
    distinct_id: string
    team_id: number
    /** What `properties.$ip` says. Change or remove that: changes of `ip` count for nothing. */
    ip: string | null
    site_url: string
    now: string
    sent_at?: string
    /** A number of milliseconds where the client sent one. */
    timestamp?: string
    offset?: number
    properties?: Properties
    $set?: Properties
    $set_once?: Properties
  }

  /** What onEvent and exportEvents get: the event as it is stored. */
  export interface ProcessedPluginEvent {
    uuid: string
    event: string
    distinct_id: string
    team_id: number
    ip: string | null
    properties: Properties
    timestamp: string
    $set?: Properties
    $set_once?: Properties
    elements?: Properties[]
  }

  /** What composeWebhook gets. */
  export interface PostHogEvent {
    uuid: string
    event: string
    team_id: number
    distinct_id: string
    properties: Properties
    timestamp: Date
  }

  /** What composeWebhook returns; null sends nothing. */
  export interface Webhook {
    url: string
    body: string
    headers?: Record<string, string>
    method?: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE'
  }

  export interface PluginAttachment {
    content_type: string
    file_name: string
    contents: any
  }

  /** Durable, per config: JSON values, 1 MB each, 20 MB in all. */
  export interface StorageExtension {
    get<T = unknown>(key: string, defaultValue?: T): Promise<T>
    set(key: string, value: unknown): Promise<void>
    del(key: string): Promise<void>
  }

  /** In memory, per plugin and project; may be dropped at any time. */
  export interface CacheExtension {
    get<T = unknown>(key: string, defaultValue?: T, options?: { jsonSerialize?: boolean }): Promise<T>
    set(
      key: string,
      value: unknown,
      ttlSeconds?: number,
      options?: { jsonSerialize?: boolean },
    ): Promise<void>
    incr(key: string): Promise<number>
    expire(key: string, ttlSeconds: number): Promise<boolean>
    lpush(key: string, values: string | string[]): Promise<number>
    lrange(key: string, from: number, to: number): Promise<string[]>
    llen(key: string): Promise<number>
    lpop(key: string, count?: number): Promise<string[]>
    lrem(key: string, count: number, value: string): Promise<number>
  }

  export interface JobControls {
    runNow(): Promise<void>
    runIn(count: number, unit: string): Promise<void>
    runAt(date: Date | string): Promise<void>
  }

  export interface Logger {
    log(...values: unknown[]): void
    info(...values: unknown[]): void
    warn(...values: unknown[]): void
    error(...values: unknown[]): void
    debug(...values: unknown[]): void
  }

  /** `config` and `global` are yours to describe. */
  export interface PluginInput {
    config?: Record<string, any>
    global?: Record<string, any>
    jobs?: Record<string, any>
    attachments?: Record<string, PluginAttachment | undefined>
  }

  /** The last argument of every function. */
  export interface PluginMeta<Input extends PluginInput = PluginInput> {
    config: NonNullable<Input['config']>
    global: NonNullable<Input['global']>
    attachments: Record<string, PluginAttachment | undefined>
    cache: CacheExtension
    storage: StorageExtension
    jobs: Record<string, (payload?: any) => JobControls>
    metrics: Record<
      string,
      { increment(by?: number): void; max(value: number): void; min(value: number): void }
    >
    geoip: { locate(address: string): Promise<Properties | null> }
    utils: {
      cursor: {
        init(key: string, value?: number): Promise<void>
        increment(key: string, by?: number): Promise<number>
      }
    }
    logger: Logger
    fetch: typeof fetch
  }
  export type Meta<Input extends PluginInput = PluginInput> = PluginMeta<Input>

  export interface Plugin<Input extends PluginInput = PluginInput> {
    setupPlugin?(meta: PluginMeta<Input>): Promise<void> | void
    teardownPlugin?(meta: PluginMeta<Input>): Promise<void> | void
    /** Null drops the event. */
    processEvent?(
      event: PluginEvent,
      meta: PluginMeta<Input>,
    ): PluginEvent | null | undefined | Promise<PluginEvent | null | undefined>
    onEvent?(event: ProcessedPluginEvent, meta: PluginMeta<Input>): Promise<void> | void
    /** Must not be async. */
    composeWebhook?(event: PostHogEvent, meta: PluginMeta<Input>): Webhook | null
    exportEvents?(events: ProcessedPluginEvent[], meta: PluginMeta<Input>): Promise<void> | void
    runEveryMinute?(meta: PluginMeta<Input>): Promise<void> | void
    runEveryHour?(meta: PluginMeta<Input>): Promise<void> | void
    runEveryDay?(meta: PluginMeta<Input>): Promise<void> | void
    jobs?: Record<string, (payload: any, meta: PluginMeta<Input>) => Promise<void> | void>
    metrics?: Record<string, 'sum' | 'max' | 'min'>
  }

  /** Throw it, and the call is made again later. */
  export class RetryError extends Error {
    constructor(message?: string)
  }
}

declare module '@posthog/plugin-contrib' {
  export function createBuffer(options: {
    limit: number
    timeoutSeconds?: number
    onFlush?(objects: any[], points: number): unknown
  }): { add(object: unknown, points?: number): void; flush(): Promise<void> }
}

interface AppApiOptions {
  /** With both keys, the call goes to this server. */
  host?: string
  projectApiKey?: string
  personalApiKey?: string
  data?: Record<string, unknown>
}

declare const posthog: {
  /** Into the same project. `distinct_id` and `timestamp` may stand among the properties. */
  capture(event: string, properties?: Record<string, any>): Promise<void>
  /** Paths begin with `/api/projects/@current/`. */
  api: Record<
    'get' | 'post' | 'put' | 'patch' | 'delete',
    (path: string, options?: AppApiOptions) => Promise<Response>
  >
}
