// Runs tests of the copy, as often as asked. One vitest for all mutants: its start, PostgreSQL's and reading the sources
// take twice as long as most tests do.
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { createVitest, type TestModule, type Vitest } from 'vitest/node'

/** `broken`: a test file could not be loaded. */
export type Outcome = 'passed' | 'failed' | 'broken'

const AT_LEAST_MS = 30_000
const TIMES_AS_LONG = 4
/** Between asking the workers to stop and killing them. */
const GRACE_MS = 2_000

/** As far as this needs it: what tests of threads run is a bundle. */
type Bundler = { bundleThreads(folder: string): Promise<void> }

export async function openTests(root: string): Promise<TestRuns> {
  // Workers of vitest start where this process is, and some tests read files by paths from the root.
  process.chdir(root)
  const bundler = (await import(pathToFileURL(join(root, 'scripts/bundle.js')).href)) as Bundler
  const vitest = await createVitest('test', { root, watch: false, bail: 1, reporters: [{}] })
  return new TestRuns(vitest, () => bundler.bundleThreads(join(root, 'node_modules/.longshore-threads')))
}

export class TestRuns {
  readonly #vitest: Vitest
  readonly #bundle: () => Promise<void>
  /** How long test files take when nothing is broken. */
  readonly #durations_ms = new Map<string, number>()

  constructor(vitest: Vitest, bundle: () => Promise<void>) {
    this.#vitest = vitest
    this.#bundle = bundle
  }

  /** Told of each file that was written. */
  hasChanged(path: string): void {
    this.#vitest.invalidateFile(path)
  }

  /** Of tests that fail anyhow nothing could be learned. */
  async assertGreen(tests: readonly string[]): Promise<void> {
    const key = tests.join(' ')
    if (this.#durations_ms.has(key)) return
    const began = performance.now()
    const outcome = await this.#runWithin(tests, 2 ** 31 - 1)
    if (outcome !== 'passed') throw new Error(`These tests fail though nothing is broken: ${key}`)
    this.#durations_ms.set(key, performance.now() - began)
  }

  /** Stops at the first failure. Whatever hangs has failed. */
  run(tests: readonly string[]): Promise<Outcome> {
    const usual_ms = this.#durations_ms.get(tests.join(' ')) ?? 0
    return this.#runWithin(tests, Math.max(AT_LEAST_MS, usual_ms * TIMES_AS_LONG))
  }

  close(): Promise<void> {
    return this.#vitest.close()
  }

  async #runWithin(tests: readonly string[], limit_ms: number): Promise<Outcome> {
    await this.#bundle()
    const specifications = await this.#vitest.globTestSpecifications([...tests])
    let isLate = false
    const stop = () => void this.#vitest.cancelCurrentRun('keyboard-input').catch(() => undefined)
    const limit = setTimeout(() => {
      isLate = true
      stop()
      // Asked a second time, it kills those who do not listen.
      setTimeout(stop, GRACE_MS)
    }, limit_ms)
    try {
      const { testModules, unhandledErrors } = await this.#vitest.runTestSpecifications(specifications)
      if (testModules.some(isBroken)) return 'broken'
      const hasFailed = isLate || unhandledErrors.length > 0 || testModules.some((module) => !module.ok())
      return hasFailed ? 'failed' : 'passed'
    } finally {
      clearTimeout(limit)
    }
  }
}

function isBroken(module: TestModule): boolean {
  return module.state() === 'failed' && module.children.size === 0
}
