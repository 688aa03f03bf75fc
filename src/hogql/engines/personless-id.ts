// The id that stands for a person who is not stored: UUIDv5 of "<project_id>:<distinct_id>" in a namespace of its own.

/** PostHog's namespace for it, so that both give the same id. */
export const PERSON_NAMESPACE = '932979b4-65c3-4424-8467-0b66ec27bc22'

const HEX_DIGITS = '0123456789abcdef'
/** What the digit that carries the variant becomes: its upper bits are 10. */
const VARIANT_DIGITS = '89ab89ab89ab89ab'

/** Puts version and variant into the first 32 of the lower-case hex digits of a SHA-1. */
export function uuid5OfHash(hash: string, substring: string, position: string): string {
  const digit = `${substring}('${VARIANT_DIGITS}', ${position}('${HEX_DIGITS}', ${substring}(${hash}, 17, 1)), 1)`
  const piece = (start: number, length: number) => `${substring}(${hash}, ${start}, ${length})`
  const groups = [[piece(1, 8)], [piece(9, 4)], [`'5'`, piece(14, 3)], [digit, piece(18, 3)], [piece(21, 12)]]
  return groups.map((group) => group.join(' || ')).join(` || '-' || `)
}
