// The licences of the packages whose code is part of a bundle: they want to go where it goes.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const PACKAGE = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//

/** @param {Iterable<string>} modules paths of the files that were bundled */
export async function licenceTexts(modules) {
  const folders = new Set(
    [...modules].map((path) => PACKAGE.exec(path)?.[1]).filter((found) => found !== undefined),
  )
  const parts = await Promise.all([...folders].map(describe))
  return parts.sort((a, b) => (a < b ? -1 : 1)).join(`\n${'-'.repeat(80)}\n\n`)
}

async function describe(folder) {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).sort()
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  return `${name} ${version} (${license})\n\n${texts.map((text) => `${text.trim()}\n`).join('\n')}`
}
