// Where a wrong line gives away rights, money or events: what is mutated unless paths are given, and held to the goal.

export type Target = {
  name: string
  folder: string
  has_goal: boolean
  /** By the path below the folder. */
  has(path: string): boolean
  /** Only mutants of this line. */
  line?: number
  /** Tests elsewhere that are about this folder. */
  tests: readonly string[]
}

/** Files of a slice that decide; the others parse, present and mount. */
const DECISIONS = /^[^/]*(rules|queries)\.ts$/

const GOALS: Record<string, { only?: RegExp; tests?: string[] }> = {
  'src/features/account': { only: DECISIONS },
  'src/features/api-keys': { only: DECISIONS },
  'src/features/domains': { only: DECISIONS },
  'src/features/invites': { only: DECISIONS, tests: ['src/features/sign-in/accept-invite.test.ts'] },
  'src/features/members': {
    only: DECISIONS,
    tests: [
      'src/features/organizations/deletion.test.ts',
      'src/features/organizations/limited-keys.test.ts',
      'src/features/organizations/member-rules.test.ts',
    ],
  },
  'src/features/organizations': { only: DECISIONS },
  'src/features/projects': {
    only: /^[^/]*(access|rules|queries)\.ts$/,
    tests: ['src/features/projects/access-controls/access-controls.test.ts'],
  },
  'src/features/sign-in': { only: /(accept-invite|address-undo|failed-sign-ins|link-tokens|sessions)\.ts$/ },
  'src/features/persons': { only: DECISIONS },
  'src/features/events': { only: /^ingest\.ts$/ },
  'src/features/batch-exports': { only: DECISIONS },
  'src/features/batch-exports/backfills': {},
  'src/features/batch-exports/breaker': { tests: ['src/features/batch-exports/runs/claim.test.ts'] },
  'src/features/batch-exports/engine': { tests: ['src/features/batch-exports/runs/claim.test.ts'] },
  'src/features/batch-exports/ledger': {
    tests: ['src/features/batch-exports/reconciliation/reconciliation.test.ts'],
  },
  'src/features/batch-exports/runs': { tests: ['src/features/batch-exports/engine/engine.test.ts'] },
  'src/features/batch-exports/schedule': {},
  'src/features/batch-exports/verification': {},
  'src/features/plugins/configs': { only: DECISIONS },
  'src/features/plugins/delivery': {},
  'src/features/plugins/running': {},
  'src/platform/http': {
    only: /^(access|dispatch|guesses|idempotency|identify|limits|reach|recent-sign-in|scopes|throttle|tries)\.ts$/,
    tests: [
      'src/features/two-factor/enforcement.test.ts',
      'src/features/sign-in/owner-recovery.test.ts',
      'src/features/account/sensitive-changes.test.ts',
    ],
  },
  'src/platform/event-store/duckdb/journal': {
    tests: [
      'src/platform/event-store/duckdb/duckdb.test.ts',
      'src/platform/event-store/duckdb/folding.test.ts',
    ],
  },
}

/** Paths may be folders, files, or lines of files as `<file>:<line>`. */
export function targetsOf(paths: readonly string[]): Target[] {
  if (paths.length === 0) return Object.keys(GOALS).map(goalOf)
  return paths.map((path) => {
    const [, file, line] = /^(.*?)\/?(?::(\d+))?$/.exec(path)!
    if (file! in GOALS) return goalOf(file!)
    return { ...aroundOf(file!), name: path, ...(line ? { line: Number(line) } : {}) }
  })
}

export function filesOf(target: Target, files: readonly string[]): string[] {
  const below = `${target.folder}/`
  return files.filter(
    (file) => file.startsWith(below) && isMutated(file) && target.has(file.slice(below.length)),
  )
}

function goalOf(folder: string): Target {
  const { only, tests = [] } = GOALS[folder]!
  return { name: folder, folder, has_goal: true, has: (path) => only?.test(path) ?? true, tests }
}

/** A path that is no target of its own: with the tests of the target that it lies in. */
function aroundOf(path: string): Target {
  const around = Object.keys(GOALS).findLast((folder) => path.startsWith(`${folder}/`))
  const folder = around ?? path.replace(/\/[^/]+\.ts$/, '')
  const part = path.slice(folder.length + 1)
  const has = (below: string) => part === '' || below === part || below.startsWith(`${part}/`)
  return { name: path, folder, has_goal: false, has, tests: GOALS[folder]?.tests ?? [] }
}

function isMutated(file: string): boolean {
  return file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.includes('/fixture/')
}
