// What the main thread and a thread of the sandbox say to each other: work by number, its answers, and what apps ask of
// their host.
import type { Priority } from '../thread-priority.ts'
import type { Limits } from './limits.ts'
import {
  AppFault,
  type ApiRequest,
  type AppCall,
  type EventPatch,
  type FaultKind,
  type LogType,
  type MetricKind,
  type SandboxedApp,
  type SqlAddress,
  type SqlQuery,
} from './sandbox.ts'

export type ThreadOptions = {
  limits: Limits
  /** See running-word.ts. */
  word: SharedArrayBuffer
  geoip_database: SharedArrayBuffer | null
  priority: Priority
}

/** `until` is a time of `monotonicMs`. */
export type Work =
  | { kind: 'prepare' }
  | { kind: 'measure' }
  | { kind: 'call'; call: AppCall }
  | { kind: 'events'; events: readonly string[]; until: number }

/** An app as a thread keeps it: what is large is bytes, which do not count against the memory of the thread's own. */
export type ThreadApp = Omit<SandboxedApp, 'code' | 'mappings' | 'attachments'> & {
  code: Uint8Array
  mappings: Uint8Array | null
  attachments: Record<string, { content_type: string; file_name: string; contents: Uint8Array }>
}

export function toThreadApp(app: SandboxedApp): ThreadApp {
  const attachments = Object.entries(app.attachments).map(([key, attachment]) => [
    key,
    { ...attachment, contents: Buffer.from(attachment.contents, 'base64') },
  ])
  return { ...app, ...toBytes(app), attachments: Object.fromEntries(attachments) }
}

export function toBytes({ code, mappings }: Pick<SandboxedApp, 'code' | 'mappings'>) {
  return { code: Buffer.from(code), mappings: mappings === null ? null : Buffer.from(mappings) }
}

export type ToThread =
  /** Goes ahead of the first work for an app, or for a new version of it. */
  | { kind: 'app'; app: ThreadApp }
  | { kind: 'work'; id: number; app_id: number; version: string; work: Work }
  | { kind: 'inspect'; id: number; code: string; mappings: string | null }
  | { kind: 'dispose'; id: number; app_id: number }
  | { kind: 'close' }
  | { kind: 'answer'; request_id: number; answer: HostAnswer }

export type FromThread =
  | { kind: 'ready' }
  | { kind: 'closed' }
  /** The next may be sent. */
  | { kind: 'begun'; id: number }
  | { kind: 'done'; id: number; result: unknown }
  | { kind: 'failed'; id: number; fault: PlainFault }
  /** The thread gave this app up meanwhile: send it again. */
  | { kind: 'unknown'; id: number }
  /** A fault of what no call waits for: a buffer that is flushed by the clock, an answer that came after the call. */
  | { kind: 'stopped'; app_id: number; fault: PlainFault }
  | { kind: 'request'; request_id: number; app_id: number; request: HostRequest }
  | { kind: 'abort'; request_id: number }
  | { kind: 'log'; app_id: number; source: 'CONSOLE' | 'SYSTEM'; type: LogType; message: string }
  | { kind: 'metric'; app_id: number; name: string; metric: MetricKind; value: number }

/** What an app waits for. Every field was checked by the thread. */
export type HostRequest =
  | { op: 'fetch'; url: string; method: string; headers: Record<string, string>; body: string | null }
  | { op: 'sqlOpen'; address: SqlAddress }
  | { op: 'sqlQuery'; connection: number; query: SqlQuery }
  | { op: 'sqlClose'; connection: number }
  | { op: 'api'; request: ApiRequest }
  | { op: 'storageGet' | 'storageDelete'; key: string }
  | { op: 'storageSet'; key: string; value: string }
  | { op: 'storageIncrement'; key: string; by: number }
  | { op: 'storageInit'; key: string; value: number }
  | { op: 'capture'; event: string; properties: Record<string, unknown>; hops: number }
  | { op: 'job'; name: string; payload: unknown; run_at: number }

export type HostAnswer = { result: unknown } | { error: string }

/** An outcome as it crosses the border, where classes do not survive. */
export type PlainOutcome =
  | { kind: 'unchanged' | 'dropped' }
  | { kind: 'changed'; patch: EventPatch }
  | { kind: 'failed'; fault: PlainFault }

export type PlainFault = { kind: FaultKind; message: string; may_retry: boolean; name: string; stack: string }

export function describeFault(error: unknown): PlainFault {
  if (!(error instanceof AppFault)) {
    return { kind: 'gone', message: String(error), may_retry: false, name: 'Error', stack: '' }
  }
  const { kind, message, may_retry } = error
  return { kind, message, may_retry, name: error.error.name, stack: error.error.stack }
}

export const outOfTurn = () => new AppFault('late', 'its turn did not come in time')

export function restoreFault({ kind, message, ...details }: PlainFault): AppFault {
  return new AppFault(kind, message, details)
}

/** The same clock on every thread of the process, and one that is never set back. */
export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1_000_000n)
