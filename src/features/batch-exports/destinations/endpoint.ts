// What may be said as `endpoint_url` of an object store: null for the provider's own.
import { isPlainHttpUrl } from './config-fields.ts'
import { connection } from './described.ts'

export const ENDPOINT = connection('Address of the server', "Null for the provider's own.")

/** A signed address carries its secret in the query, and this field is given out again. */
export function endpointFault(text: string | null): { field: string; message: string } | null {
  if (text === null) return null
  const is_plain = isPlainHttpUrl(text) && !/[?#]/.test(text)
  if (is_plain) return null
  const message = 'This must be an http or https address without credentials, query or fragment.'
  return { field: 'endpoint_url', message }
}

/** Addresses that are written in two ways are one. */
export function endpointOf(endpoint_url: string): string {
  return new URL(endpoint_url).href.replace(/\/+$/, '')
}
