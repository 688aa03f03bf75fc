// Random text from letters and digits: survives every shell, URL and double click.
import { randomBytes } from 'node:crypto'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export function base62(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  while (rest > 0n) {
    text = ALPHABET[Number(rest % 62n)] + text
    rest /= 62n
  }
  return text.padStart(Math.ceil((bytes.length * 8) / Math.log2(62)), '0')
}

export function randomBase62(byteCount: number): string {
  return base62(randomBytes(byteCount))
}
