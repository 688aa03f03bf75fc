// Where a plugin comes from: an address, and the token that opens it, which is kept sealed and shown to nobody.
import type { Secrets } from '../../platform/secrets/secrets.ts'
import type { PluginRow } from './rows.ts'

export function isLocalUrl(url: string): boolean {
  return /^file:/i.test(url)
}

export function sealToken(secrets: Secrets, id: number, private_token: string): string {
  return secrets.seal(private_token, placeOf(id))
}

export function openToken(
  secrets: Secrets,
  { id, private_token }: Pick<PluginRow, 'id' | 'private_token'>,
): string | null {
  return private_token === null ? null : secrets.open(private_token, placeOf(id))
}

export function placeOf(id: number) {
  return { table: 'plugin', row: String(id), column: 'private_token' }
}
