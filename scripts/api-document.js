// Puts docs/openapi.json beside the program, without its blanks, and compressed. test/house-rules.test.ts holds that the file is what
// the routes say.
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writePackedFile } from './packed-file.js'

const DOCUMENT = new URL('../docs/openapi.json', import.meta.url)

/** Writes `<folder>/openapi.json`, `.json.br` and `.json.gz`. */
export async function copyApiDocument(folder) {
  const document = JSON.parse(await readFile(DOCUMENT, 'utf8'))
  await mkdir(folder, { recursive: true })
  await writePackedFile(join(folder, 'openapi.json'), Buffer.from(JSON.stringify(document)))
}
