// What is written becomes what runs: TypeScript and JSX to scripts for the sandbox, for the console and for web pages.
// Called when files are saved, never per event. Types are not checked.
import type { Loader, TransformFailure } from 'esbuild'
import { inTurn } from './compiler.ts'

export type Transpiled =
  | { status: 'TRANSPILED'; transpiled: string }
  | { status: 'ERROR'; error: string }
  /** Not a file that is run. */
  | { status: null }

export const MAX_SOURCE_BYTES = 5 * 1024 * 1024

const MAX_ERRORS_SHOWN = 5

type Kind = { loader: Loader; wrap(script: string): string }

const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['index.ts', { loader: 'ts', wrap: (script) => script }],
  [
    'frontend.tsx',
    {
      loader: 'tsx',
      wrap: (script) =>
        `"use strict";\nexport function getFrontendApp (require) { let exports = {}; ${onExports(script)}; return exports; }`,
    },
  ],
  [
    'site.ts',
    {
      loader: 'ts',
      wrap: (script) => `(function () {let exports={};${onExports(script)};return exports;})`,
    },
  ],
])

export async function transpileFile(filename: string, source: string): Promise<Transpiled> {
  const kind = KINDS.get(filename)
  if (!kind) return { status: null }
  if (Buffer.byteLength(source) > MAX_SOURCE_BYTES) {
    return { status: 'ERROR', error: `${filename} is larger than 5 MB.` }
  }
  try {
    const script = await inTurn(source, {
      loader: kind.loader,
      format: 'cjs',
      target: 'es2020',
      jsx: 'transform',
      sourcefile: filename,
    })
    return { status: 'TRANSPILED', transpiled: kind.wrap(script) }
  } catch (error) {
    return { status: 'ERROR', error: explain(filename, error) }
  }
}

/** The wrappers know `exports` only, while esbuild puts what an ES module exports into `module.exports`. */
function onExports(script: string): string {
  return `let module = { exports };\n${script}\n;exports = module.exports`
}

function explain(filename: string, error: unknown): string {
  if (!isTransformFailure(error))
    return `${filename} cannot be read: it is nested too deeply or takes too long.`
  const shown = error.errors.slice(0, MAX_ERRORS_SHOWN).map(({ text, location }) => {
    if (!location) return `${filename}: ${text}`
    // esbuild counts bytes from 0, editors count characters from 1.
    const before = Buffer.from(location.lineText).subarray(0, location.column).toString()
    return `${filename}:${location.line}:${before.length + 1}: ${text}`
  })
  const more = error.errors.length - shown.length
  return [...shown, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n')
}

function isTransformFailure(error: unknown): error is TransformFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors)
}
