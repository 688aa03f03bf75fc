// Runs tests of the copy, as often as asked. One vitest for all mutants: its start, PostgreSQL's and reading the sources
// take twice as long as most tests do.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createVitest, type Reporter, type TestCase, type TestModule, type Vitest } from 'vitest/node'

/** `broken`: a test file could not be loaded. `by` says what failed first. */
export type Outcome = { kind: 'passed' } | { kind: 'failed' | 'broken'; by: string }

const AT_LEAST_MS = 30_000
const TIMES_AS_LONG = 4
/** Between asking the workers to stop and killing them, and until vitest itself must have noticed. */
const GRACE_MS = 2_000
const STUCK_MS = 60_000

/** As far as this needs it: what tests of threads run is a bundle. */
type Bundler = { bundleThreads(folder: string): Promise<void> }

export async function openTests(root: string): Promise<TestRuns> {
  // Workers of vitest start where this process is, and some tests read files by paths from the root.
  process.chdir(root)
  const bundler = (await import(pathToFileURL(join(root, 'scripts/bundle.js')).href)) as Bundler
  const first = new FirstFailure()
  const open = () => createVitest('test', { root, watch: false, reporters: [first] })
  const bundle = () => bundler.bundleThreads(join(root, 'node_modules/.longshore-threads'))
  return new TestRuns(await open(), { first, open, bundle })
}

/** What went wrong in the run that is going on: vitest's own results, and its `bail`, remember earlier runs. */
class FirstFailure implements Reporter {
  outcome: Outcome = { kind: 'passed' }
  #stop: () => void = () => undefined

  begin(stop: () => void): void {
    this.outcome = { kind: 'passed' }
    this.#stop = stop
  }

  onTestCaseResult(test: TestCase): void {
    if (test.result().state === 'failed') this.note('failed', test.fullName)
  }

  onTestModuleEnd(module: TestModule): void {
    const [error] = module.errors()
    if (error) this.note(module.children.size === 0 ? 'broken' : 'failed', error.message)
  }

  onTestRunEnd(_modules: readonly TestModule[], errors: readonly { message: string }[]): void {
    if (errors[0]) this.note('failed', errors[0].message)
  }

  note(kind: 'failed' | 'broken', by: string): void {
    if (this.outcome.kind !== 'passed') return
    this.outcome = { kind, by }
    this.#stop()
  }
}

type Parts = { first: FirstFailure; open(): Promise<Vitest>; bundle(): Promise<void> }

export class TestRuns {
  #vitest: Vitest
  readonly #parts: Parts
  /** How long test files take when nothing is broken. */
  readonly #durations_ms = new Map<string, number>()

  constructor(vitest: Vitest, parts: Parts) {
    this.#vitest = vitest
    this.#parts = parts
  }

  /** Told of each file that was written. */
  hasChanged(path: string): void {
    this.#vitest.invalidateFile(path)
  }

  /** Nothing could be learned from tests that fail anyhow. */
  async assertGreen(tests: readonly string[]): Promise<void> {
    const key = tests.join(' ')
    if (this.#durations_ms.has(key)) return
    const began = performance.now()
    const outcome = await this.#runWithin(tests, 2 ** 31 - 1)
    if (outcome.kind !== 'passed') throw new Error(`A test fails though nothing is broken: ${outcome.by}`)
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
    const { first, bundle } = this.#parts
    await bundle()
    const specifications = await this.#vitest.globTestSpecifications([...tests])
    const timers: NodeJS.Timeout[] = []
    const after = (ms: number, act: () => void) => void timers.push(setTimeout(act, ms))
    const cancel = () => void this.#vitest.cancelCurrentRun('test-failure').catch(() => undefined)
    const stuck = new Promise<'stuck'>((resolve) =>
      first.begin(() => {
        cancel()
        // Asked a second time, it kills the workers that do not listen.
        after(GRACE_MS, cancel)
        after(STUCK_MS, () => resolve('stuck'))
      }),
    )
    after(limit_ms, () => first.note('failed', 'the time limit'))
    const ended = await Promise.race([this.#vitest.runTestSpecifications(specifications), stuck])
    for (const timer of timers) clearTimeout(timer)
    if (ended === 'stuck') await this.#openAnew()
    return first.outcome
  }

  async #openAnew(): Promise<void> {
    this.#vitest.close().catch(() => undefined)
    this.#vitest = await this.#parts.open()
  }
}
