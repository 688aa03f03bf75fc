// What apps find without importing it.
import { GuestBuffer } from './buffer.ts'
import { guestConsole } from './console.ts'
import { GuestTextDecoder, GuestTextEncoder, guestStructuredClone } from './encoding.ts'
import { RetryError } from './errors.ts'
import { GuestHeaders, guestFetch } from './fetch.ts'
import { request } from './host.ts'
import { api } from './api.ts'
import { installIntl } from './intl.ts'
import { GuestURL, GuestURLSearchParams } from './url.ts'

const posthog = {
  async capture(event: unknown, properties: unknown = {}): Promise<void> {
    await request('capture', String(event), properties)
  },
  api,
}

const GLOBALS = {
  console: guestConsole,
  fetch: guestFetch,
  Headers: GuestHeaders,
  posthog,
  RetryError,
  URL: GuestURL,
  URLSearchParams: GuestURLSearchParams,
  TextEncoder: GuestTextEncoder,
  TextDecoder: GuestTextDecoder,
  structuredClone: guestStructuredClone,
  Buffer: GuestBuffer,
  // What bundlers put around code that was written for Node asks for it.
  global: globalThis,
}

export function installGlobals(): void {
  for (const [name, value] of Object.entries(GLOBALS)) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true })
  }
  installIntl()
}
