// The Model Context Protocol as far as a server of tools needs it: JSON-RPC 2.0, no sessions, no streams.
import { isObject } from '../../lib/json-object.ts'

/** Newest first. That of March 2025 is the last that allows several messages in one body. */
export const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26'] as const
export const VERSION_WITH_BATCHES = '2025-03-26'
export const MAX_BATCH = 20

export const CODES = {
  parse_error: -32_700,
  invalid_request: -32_600,
  method_not_found: -32_601,
  invalid_params: -32_602,
} as const

export type RequestId = string | number

/** A call that wants an answer, or a message that does not. */
export type Message =
  | { kind: 'request'; id: RequestId; method: string; params: Record<string, unknown> }
  | { kind: 'notice' }

export type Reply = { jsonrpc: '2.0'; id: RequestId | null } & (
  | { result: unknown }
  | { error: { code: number; message: string } }
)

/** Null for what is no message. */
export function readMessage(value: unknown): Message | null {
  if (!isObject(value) || value.jsonrpc !== '2.0') return null
  const { id, method, params = {} } = value
  // An answer to a request of ours; we make none.
  if (method === undefined) return 'result' in value || 'error' in value ? { kind: 'notice' } : null
  if (typeof method !== 'string' || !isObject(params)) return null
  if (id === undefined) return { kind: 'notice' }
  if (typeof id !== 'string' && typeof id !== 'number') return null
  return { kind: 'request', id, method, params }
}

export function result(id: RequestId, value: unknown): Reply {
  return { jsonrpc: '2.0', id, result: value }
}

export function failure(id: RequestId | null, code: keyof typeof CODES, message: string): Reply {
  return { jsonrpc: '2.0', id, error: { code: CODES[code], message } }
}

/** The one that was asked for, if it is spoken here; else our newest, and the client decides. */
export function agreeOnVersion(asked: unknown): string {
  return VERSIONS.find((version) => version === asked) ?? VERSIONS[0]
}
