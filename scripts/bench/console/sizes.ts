// What a browser loads: first, and at most on demand.
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

const MOST_FIRST_KB = 200

/** False when the first load is larger than it may be. */
export async function printSizes(dist: string): Promise<boolean> {
  const folder = join(dist, 'console')
  const page = await readFile(join(folder, 'index.html'), 'utf8')
  const first = new Set(
    [...page.matchAll(/(?:src|href)="\/assets\/([^"]+\.(?:js|css))"/g)].map(([, name]) => name!),
  )
  for (const name of first) {
    if (!name.endsWith('.js')) continue
    const code = await readFile(join(folder, 'assets', name), 'utf8')
    // Parts that are loaded with it, not those that are loaded when they are used.
    for (const [, part] of code.matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g)) first.add(part!)
  }
  const sizes = new Map<string, number>()
  for (const name of await readdir(join(folder, 'assets')))
    if (/\.(js|css)\.gz$/.test(name))
      sizes.set(name.slice(0, -3), (await stat(join(folder, 'assets', name))).size)
  const sum = (ending: string) =>
    [...first].filter((name) => name.endsWith(ending)).reduce((total, name) => total + sizes.get(name)!, 0)
  const [largest] = [...sizes].filter(([name]) => !first.has(name)).toSorted(([, a], [, b]) => b - a)
  const [js, css] = [sum('.js'), sum('.css')]
  if (js === 0 || css === 0 || largest === undefined) throw new Error('the console has no files')
  const isMet = js / 1024 <= MOST_FIRST_KB
  console.log(
    `first load: ${kb(js)} of JavaScript, ${kb(css)} of CSS (gzip); goal: at most ${MOST_FIRST_KB} KB of JavaScript: ` +
      `${isMet ? 'met' : 'NOT met'}\nlargest part on demand: ${kb(largest[1])} (${largest[0]}), of ${sizes.size - first.size}`,
  )
  return isMet
}

const kb = (bytes: number) => `${(bytes / 1024).toFixed(1)} KB`
