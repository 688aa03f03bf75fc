// Passwords: the rules a new one must meet, the hash that is kept, the check at sign-in.
import { hash, verify } from '@node-rs/argon2'
import { invalid } from '../../platform/http/errors.ts'
import { estimateStrength } from './strength.ts'

const MIN_LENGTH = 8
const MIN_SCORE = 3
// Longer passwords are fine; the estimate of their strength looks at this much, because it grows faster than linearly.
const ESTIMATED_LENGTH = 72
// OWASP's first choice for argon2id: 35 ms of CPU here.
const COST = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 }

/** `personal` are words an attacker would try first: the user's own name and address. */
export async function assertGoodPassword(password: string, personal: readonly string[]): Promise<void> {
  if (Array.from(password).length < MIN_LENGTH) {
    throw invalid(
      'password',
      'password_too_short',
      `The password must have at least ${MIN_LENGTH} characters.`,
    )
  }
  const words = personal.flatMap((text) => text.split(/[^\p{L}\p{N}]+/u)).filter((word) => word.length > 2)
  const score = await estimateStrength({ password: password.slice(0, ESTIMATED_LENGTH), words })
  if (score < MIN_SCORE) {
    throw invalid(
      'password',
      'password_too_weak',
      'The password is too easy to guess: make it longer or less common.',
    )
  }
}

export function hashPassword(password: string): Promise<string> {
  return hash(password, COST)
}

/** Takes as long for a user without a password (or no user at all) as for one with, so that timing tells nothing. */
export async function isPasswordRight(password: string, stored: string | null | undefined): Promise<boolean> {
  const isRight = await verify(stored ?? (await decoyHash()), password)
  return isRight && stored !== null && stored !== undefined
}

let decoy: Promise<string> | undefined
function decoyHash(): Promise<string> {
  return (decoy ??= hashPassword('a password nobody has'))
}
