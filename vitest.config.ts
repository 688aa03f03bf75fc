import { existsSync, statfsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './test/harness/longest-first.ts'

// What tests write need not survive a power cut. In memory a copy of the database takes a tenth of the CPU.
const MEMORY = '/dev/shm'
const MEMORY_NEEDED = 6 * 1024 ** 3
if (hasRoom()) process.env.TMPDIR = MEMORY

function hasRoom(): boolean {
  if (!existsSync(MEMORY)) return false
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize >= MEMORY_NEEDED
}

// The long sweeps, in files of their own or as parts of others (test/harness/long.ts), run by `npm run test:long` only.
export default defineConfig(({ mode }) => ({
  test: {
    include:
      mode === 'pictures'
        ? ['test/console/pictures.ts', 'test/console/first-visit.test.ts']
        : ['src/**/*.test.ts', 'test/**/*.test.ts', 'web/src/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(mode === 'long' ? [] : ['**/*.long.test.ts'])],
    env: { TEST_LONG: mode === 'long' ? 'on' : 'off', TEST_PICTURES: mode === 'pictures' ? 'on' : 'off' },
    tags: [
      {
        name: 'slow',
        description: 'Waits for a limit, restarts something or moves many rows: seconds. Not in `npm test`.',
      },
    ],
    sequence: { sequencer: LongestFirst },
    globalSetup: ['test/harness/global-setup.ts'],
    // Tests share no module state (see CONTRIBUTING), so a worker may run many files: 5 times less CPU.
    isolate: false,
    pool: 'forks',
    // Some tests wait for time limits of others: one more than there are cores keeps all of them busy. With two more it
    // takes as long, and apps in sandboxes run out of time.
    maxWorkers: availableParallelism() + 1,
    // Against what hangs, not to measure: machines that do other things as well take several times as long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
}))
