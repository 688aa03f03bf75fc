// Comparing a secret with what somebody presented, in a time that tells nothing about where they differ.
import { timingSafeEqual } from 'node:crypto'

export function isSameText(a: string, b: string): boolean {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}
