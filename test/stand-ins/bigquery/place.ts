// What BigQuery's stand-in is called, and how it says no.
import type { Reply } from '../warehouse/cuttable-server.ts'

export const PROJECT = 'shop-1'
export const DATASET = 'analytics'

export type Field = { name: string; type: string }

export function failed(status: number, reason: string, message: string): Reply {
  return { status, body: { error: { code: status, message, errors: [{ reason, message }] } } }
}
