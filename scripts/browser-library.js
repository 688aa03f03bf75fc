// Puts the published browser library (posthog-js) beside the program: the files that web pages load, each also compressed,
// and its licence. Only these are shipped: the package itself is ten times as large.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { writePackedFile } from './packed-file.js'

/** The library itself, and the parts that a page's own settings make it load. */
const PARTS = [
  'array',
  'array.full',
  'array.full.es5',
  'crisp-chat-integration',
  'dead-clicks-autocapture',
  'element-inference',
  'exception-autocapture',
  'external-scripts-loader',
  'intercom-integration',
  'logs',
  'surveys',
  'tracing-headers',
  'web-vitals',
  'web-vitals-soft-navs',
  'web-vitals-with-attribution',
  'web-vitals-with-attribution-soft-navs',
]

/** Writes `<folder>/<part>.js`, `.js.br` and `.js.gz`, `library.json` (version and parts) and `LICENSE`. */
export async function copyBrowserLibrary(folder) {
  const manifest = createRequire(import.meta.url).resolve('posthog-js/package.json')
  const { version } = JSON.parse(await readFile(manifest, 'utf8'))
  const library = dirname(manifest)
  await mkdir(folder, { recursive: true })
  await Promise.all(
    PARTS.map(async (part) =>
      writePackedFile(join(folder, `${part}.js`), await readFile(join(library, 'dist', `${part}.js`))),
    ),
  )
  await writeFile(join(folder, 'LICENSE'), await readFile(join(library, 'LICENSE')))
  await writeFile(join(folder, 'library.json'), `${JSON.stringify({ version, parts: PARTS }, null, 2)}\n`)
}
