// What is written becomes what runs: TypeScript and JSX to scripts for the sandbox, for the console and for web pages.
// Called when files are saved, never per event. Types are not checked.
import type { Loader, TransformFailure } from 'esbuild'
import { inTurn } from './compiler.ts'
import { errorIn, type SourceError } from './source-errors.ts'

export type Transpiled =
  /** `mappings` lead back to what was written, where the code runs in the sandbox. */
  | { status: 'TRANSPILED'; transpiled: string; mappings: string | null }
  | { status: 'ERROR'; errors: readonly SourceError[] }
  /** Not a file that is run. */
  | { status: null }

export const MAX_SOURCE_BYTES = 5 * 1024 * 1024

type Kind = { loader: Loader; wrap(script: string): string; is_mapped?: boolean }

const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['index.ts', { loader: 'ts', wrap: (script) => script, is_mapped: true }],
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

/** Files that run in web pages and the console. */
export const isForPages = (filename: string) => KINDS.has(filename) && !KINDS.get(filename)!.is_mapped

export async function transpileFile(filename: string, source: string): Promise<Transpiled> {
  const kind = KINDS.get(filename)
  if (!kind) return { status: null }
  if (Buffer.byteLength(source) > MAX_SOURCE_BYTES) {
    return { status: 'ERROR', errors: [errorIn(filename, 'The file is larger than 5 MB.')] }
  }
  try {
    const { code, map } = await inTurn(source, {
      loader: kind.loader,
      format: 'cjs',
      target: 'es2020',
      jsx: 'transform',
      sourcefile: filename,
      ...(kind.is_mapped ? { sourcemap: 'external' as const, sourcesContent: false } : {}),
    })
    const mappings = kind.is_mapped ? readMappings(map) : null
    return { status: 'TRANSPILED', transpiled: kind.wrap(code), mappings }
  } catch (error) {
    return { status: 'ERROR', errors: explain(filename, error) }
  }
}

/** The wrappers know `exports` only, while esbuild puts what an ES module exports into `module.exports`. */
function onExports(script: string): string {
  return `let module = { exports };\n${script}\n;exports = module.exports`
}

/** Nothing else of the map is needed: there is one source, and its text is stored beside it. */
function readMappings(map: string): string {
  return (JSON.parse(map) as { mappings: string }).mappings
}

function explain(filename: string, error: unknown): SourceError[] {
  if (!isTransformFailure(error))
    return [errorIn(filename, 'The file cannot be read: it is nested too deeply or takes too long.')]
  return error.errors.map(({ text, location }) => {
    if (!location) return errorIn(filename, text)
    // esbuild counts bytes from 0, editors count characters from 1.
    const before = Buffer.from(location.lineText).subarray(0, location.column).toString()
    return errorIn(filename, text, { line: location.line, column: before.length + 1 })
  })
}

function isTransformFailure(error: unknown): error is TransformFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors)
}
