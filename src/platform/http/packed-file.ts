// Files that never change, kept in memory in each form a client may take them in (written by scripts/packed-file.js).
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

type Encoding = 'br' | 'gzip' | 'identity'
export type PackedFile = { etag: string; bytes: Readonly<Record<Encoding, Buffer>> }

export function readPackedFile(path: string): PackedFile {
  const identity = readFileSync(path)
  // Weak, because it stands for the same text in each encoding.
  const etag = `W/"${createHash('sha256').update(identity).digest('base64url').slice(0, 22)}"`
  return { etag, bytes: { identity, br: readFileSync(`${path}.br`), gzip: readFileSync(`${path}.gz`) } }
}

/** In the best form the client takes, or 304 when it has it. Type and caching are the caller's. */
export function sendPackedFile(file: PackedFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header('etag', file.etag).header('vary', 'Accept-Encoding')
  if (isKnown(request, file.etag)) return reply.code(304).send()
  const encoding = encodingFor(request)
  if (encoding !== 'identity') reply.header('content-encoding', encoding)
  return reply.send(file.bytes[encoding])
}

function isKnown({ headers }: FastifyRequest, etag: string): boolean {
  const known = headers['if-none-match']?.split(',').map((text) => text.trim().replace(/^W\//, ''))
  return known?.some((text) => text === '*' || `W/${text}` === etag) ?? false
}

function encodingFor({ headers }: FastifyRequest): Encoding {
  const accepted = [headers['accept-encoding'] ?? ''].flat().join().toLowerCase().split(',')
  const isAccepted = (name: string) =>
    accepted.some((text) => {
      const [coding, quality = ''] = text.split(';').map((part) => part.trim())
      return coding === name && !/^q=0(\.0*)?$/.test(quality)
    })
  return (['br', 'gzip'] as const).find(isAccepted) ?? 'identity'
}
