// What the clients stand on: parts of the guest that are there already. They are a script of their own, which machines run
// only when their app names one of them, so these parts are handed over.
import type { GuestBuffer } from '../buffer.ts'
import type { guestFetch } from '../fetch.ts'
import type { request } from '../host.ts'
import type { crypto } from '../modules.ts'

export type Kit = {
  Buffer: typeof GuestBuffer
  fetch: typeof guestFetch
  request: typeof request
  crypto: typeof crypto
}

// Set before anything of the clients runs.
export let kit: Kit

export function takeKit(given: Kit): void {
  kit = given
}
