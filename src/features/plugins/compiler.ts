// esbuild, which is one child process for the whole program whoever asks, so what is known of it lives in this module. It
// is started when needed and stopped when idle: a server at rest does not pay for it.
import type { TransformOptions, TransformResult } from 'esbuild'

const IDLE_MS = 10_000
const TIME_LIMIT_MS = 15_000

let last: Promise<unknown> = Promise.resolve()
let stopping: NodeJS.Timeout | undefined

/** One after the other: a source that kills the child (nested so deeply that its stack overflows) takes no other along. */
export function inTurn(source: string, options: TransformOptions): Promise<TransformResult> {
  const result = last.then(() => transform(source, options))
  last = result.catch(() => {})
  return result
}

async function transform(source: string, options: TransformOptions): Promise<TransformResult> {
  const esbuild = await import('esbuild')
  clearTimeout(stopping)
  const limit = setTimeout(() => void esbuild.stop(), TIME_LIMIT_MS)
  try {
    return await esbuild.transform(source, options)
  } catch (error) {
    // A child that has died is not replaced until it is stopped.
    if (!(error instanceof Error && 'errors' in error)) await esbuild.stop()
    throw error
  } finally {
    clearTimeout(limit)
    stopping = setTimeout(() => void esbuild.stop(), IDLE_MS).unref()
  }
}
