// What of a secret setting is secret: each text in it, at any depth, without what everybody knows of it. Whoever replaced
// the host of an address or the first line of a key in logs would hide what the log is for.

import { parseBounded } from '../../lib/json-bounds.ts'

const MAX_JSON_LENGTH = 256 * 1024
/** What is nested deeper, or holds more, is looked for as the text that it is. */
const JSON_BOUNDS = { depth: 64, values: 20_000 }
const MIN_PART = 8
const PEM_BORDER = /-----(?:BEGIN|END) [A-Z0-9 ]+-----/g

export function secretParts(value: unknown): string[] {
  if (typeof value === 'string') return partsOfText(value)
  if (typeof value === 'number' || typeof value === 'bigint') return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretParts) : []
}

function partsOfText(text: string): string[] {
  const inner = readJson(text)
  if (inner !== null) return secretParts(inner)
  if (URL.canParse(text) && text.includes('://')) return partsOfUrl(text)
  return text.split(PEM_BORDER).filter((part) => part.trim() !== '')
}

/** Settings are often files of JSON, pasted in. */
function readJson(text: string): object | null {
  if (text.length > MAX_JSON_LENGTH || !/^\s*[{[]/.test(text)) return null
  try {
    return parseBounded(text, JSON_BOUNDS) as object
  } catch {
    return null
  }
}

/** The whole where nothing but the host is in it. */
function partsOfUrl(text: string): string[] {
  const url = new URL(text)
  const tail = `${url.pathname}${url.search}${url.hash}`
  const parts = [...(tail.length >= MIN_PART ? [tail] : []), ...(url.password ? [url.password] : [])]
  return parts.length > 0 ? parts : [text]
}
