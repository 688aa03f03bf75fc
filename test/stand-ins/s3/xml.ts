// As much XML as S3's answers need, and the one document that clients send.
import { S3Fault } from './faults.ts'

/** A list repeats its element; null and undefined leave it out. */
export type Content = string | number | boolean | null | undefined | Content[] | { [name: string]: Content }

export function document(name: string, content: Content): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element(name, content)}`
}

function element(name: string, content: Content): string {
  if (content === null || content === undefined) return ''
  if (Array.isArray(content)) return content.map((each) => element(name, each)).join('')
  const inner =
    typeof content === 'object'
      ? Object.entries(content)
          .map(([inner, value]) => element(inner, value))
          .join('')
      : escape(String(content))
  return `<${name}>${inner}</${name}>`
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign]!)
}

export type NamedPart = { number: number; etag: string }

export function parseParts(text: string): NamedPart[] {
  const malformed = new S3Fault('MalformedXML', 400)
  if (!/<CompleteMultipartUpload[\s>][\s\S]*<\/CompleteMultipartUpload>\s*$/.test(text)) throw malformed
  const parts = [...text.matchAll(/<Part>([\s\S]*?)<\/Part>/g)].map(([, part]) => ({
    number: Number(/<PartNumber>(\d+)<\/PartNumber>/.exec(part!)?.[1]),
    etag: /<ETag>(?:"|&quot;)?([0-9a-f]{32})(?:"|&quot;)?<\/ETag>/.exec(part!)?.[1] ?? '',
  }))
  if (parts.length === 0 || parts.some(({ number }) => !Number.isInteger(number))) throw malformed
  return parts
}
