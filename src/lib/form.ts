// The two kinds of forms that HTML and client libraries send, read with bounds: a megabyte of `&` makes half a million
// fields of URLSearchParams, and undici reads any number of parts and of headers before them.
import { unescape } from 'node:querystring'
import { MIMEType } from 'node:util'

/** The detail is a sentence for the sender. */
export class FormFault extends Error {}

const MAX_FIELDS = 1_000
const MAX_PART_HEADER = 8 * 1024

/** Names and values, percent signs undone. What is malformed stays as it is. */
export function readUrlEncoded(text: string): [string, string][] {
  const fields = text.split('&', MAX_FIELDS + 1).filter((field) => field !== '')
  if (fields.length > MAX_FIELDS) throw tooMany()
  return fields.map((field) => {
    const [name = '', value = ''] = field.replaceAll('+', ' ').split(/=(.*)/s, 2)
    return [unescape(name), unescape(value)]
  })
}

export async function readMultipart(
  bytes: Uint8Array,
  contentType: string,
): Promise<[string, string | File][]> {
  assertFewParts(bytes, contentType)
  try {
    const response = new Response(bytes as Uint8Array<ArrayBuffer>, {
      headers: { 'content-type': contentType },
    })
    return [...(await response.formData()).entries()]
  } catch {
    throw new FormFault('The body is not valid form data.')
  }
}

/** Every part begins with the boundary, and a blank line ends its headers. */
function assertFewParts(bytes: Uint8Array, contentType: string): void {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const mark = Buffer.from(`--${boundaryOf(contentType)}`, 'latin1')
  let parts = 0
  for (let at = content.indexOf(mark); at !== -1; at = content.indexOf(mark, at + mark.length)) {
    parts += 1
    // The last mark ends the form and begins no part.
    if (parts > MAX_FIELDS + 1) throw tooMany()
    const header = content.subarray(at, at + MAX_PART_HEADER)
    if (header.length === MAX_PART_HEADER && !header.includes('\r\n\r\n'))
      throw new FormFault('The headers of a part of the form are too long.')
  }
}

/** Found as undici finds it. */
function boundaryOf(contentType: string): string {
  try {
    const boundary = new MIMEType(contentType).params.get('boundary')
    if (boundary) return boundary
  } catch {
    // Told like the form that names none.
  }
  throw new FormFault('The Content-Type of the form names no boundary.')
}

function tooMany(): FormFault {
  return new FormFault(`A form may have ${MAX_FIELDS} fields at most.`)
}
