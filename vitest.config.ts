import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/harness/global-setup.ts'],
    // Tests share no module state (see CONTRIBUTING), so a worker may run many files: 5 times less CPU.
    isolate: false,
    pool: 'forks',
    maxWorkers: 2,
    // Against what hangs, not to measure: machines that do other things as well take several times as long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
