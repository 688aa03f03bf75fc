// Builds the console (web/) into a folder: the page, and the files with hashed names that it loads, each also compressed.
import { readdir, readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build } from 'vite'
import { writePackedFile } from './packed-file.js'

const web = new URL('../web', import.meta.url).pathname

/** Answers the modules that went into it, for their licences. */
export async function buildConsole(folder) {
  await rm(folder, { recursive: true, force: true })
  const { output } = await buildForProduction({
    configFile: join(web, 'vite.config.ts'),
    logLevel: 'error',
    build: { outDir: resolve(folder), emptyOutDir: true },
  })
  const assets = join(folder, 'assets')
  const names = await readdir(assets)
  await Promise.all(
    names.map(async (name) => writePackedFile(join(assets, name), await readFile(join(assets, name)))),
  )
  return output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []))
}

/** Whatever the process is for: React decides by the environment what it contains. */
async function buildForProduction(options) {
  const before = process.env.NODE_ENV
  process.env.NODE_ENV = 'production'
  try {
    return await build(options)
  } finally {
    if (before === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = before
  }
}
