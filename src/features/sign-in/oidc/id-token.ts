// What the library leaves out when it looks at an ID token: the party it was given to, when it was made, and whether the
// access token beside it is its own.
import { createHash } from 'node:crypto'
import { apart } from './explain.ts'
import { shownClaims, shownText } from './shown.ts'
import { Fault, type Step } from './steps.ts'

export type Claims = { iss: string; sub: string; [name: string]: unknown }

type Looked = { claims: Claims; client_id: string; now: Date; tolerance_s: number }
type Tokens = { access_token: string; id_token?: string | undefined }

/** `at_hash` is the left half of the hash that signs. EdDSA goes with SHA-512. */
const hashOf = (alg: string) => `sha${/\d{3}$/.exec(alg)?.[0] ?? '512'}`

/** Throws a Fault. */
export function assertWhole({ claims, client_id, now, tolerance_s }: Looked, tokens: Tokens): void {
  const fault = (step: Step, text: string) =>
    new Fault(step, text, 'answer_not_accepted', shownClaims(claims))
  // The library asks only where there are several audiences.
  if (claims.azp !== undefined && claims.azp !== client_id) {
    throw fault(
      'authorized_party',
      `azp of the ID token differs: expected ${client_id}, got ${shownText(claims.azp)}.`,
    )
  }
  const ahead_s = Number(claims.iat) - now.getTime() / 1000
  if (ahead_s > tolerance_s) throw fault('time', apart('iat', ahead_s))
  if (claims.at_hash !== undefined && claims.at_hash !== accessTokenHash(tokens)) {
    throw fault(
      'access_token',
      'The access token is not the one that the ID token came with: at_hash differs.',
    )
  }
}

function accessTokenHash({ access_token, id_token = '' }: Tokens): string {
  const header = JSON.parse(Buffer.from(id_token.split('.')[0]!, 'base64url').toString()) as { alg: string }
  const hash = createHash(hashOf(header.alg)).update(access_token).digest()
  return hash.subarray(0, hash.length / 2).toString('base64url')
}
