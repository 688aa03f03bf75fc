// Hints of apps are written with a few marks: links, code and emphasis. They become parts, never markup.

export type Part =
  | { kind: 'text' | 'code' | 'strong'; text: string }
  | { kind: 'link'; text: string; href: string }

const MARK =
  /\[([^\]\n]{1,200})\]\(([^)\s]{1,800})\)|`([^`\n]{1,400})`|\*\*([^*\n]{1,400})\*\*|(https?:\/\/[^\s<>()]{1,800}[^\s<>().,;:])/g

export function inlineParts(text: string): Part[] {
  const parts: Part[] = []
  let at = 0
  for (const match of text.matchAll(MARK)) {
    const [all, label, address, code, strong, bare] = match
    const part: Part | null =
      code !== undefined
        ? { kind: 'code', text: code }
        : strong !== undefined
          ? { kind: 'strong', text: strong }
          : linkPart(label ?? bare!, address ?? bare!)
    if (part === null) continue
    if (match.index > at) parts.push({ kind: 'text', text: text.slice(at, match.index) })
    parts.push(part)
    at = match.index + all.length
  }
  if (at < text.length) parts.push({ kind: 'text', text: text.slice(at) })
  return parts
}

/** Null for anything but the web: it stays text. */
function linkPart(text: string, address: string): Part | null {
  if (!URL.canParse(address)) return null
  const { protocol, href } = new URL(address)
  return protocol === 'https:' || protocol === 'http:' ? { kind: 'link', text, href } : null
}
