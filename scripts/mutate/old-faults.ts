// What an attack once found, each as the change that puts it back, and the attacks that fail on it: `npm run mutate --
// old-faults`. test/attacks/suites.test.ts holds that each change still fits the code, and that its attacks are still there.

export type Edit = { file: string; from: string; to: string }

export type OldFault = {
  /** As they are spoken of in the changelog. */
  name: string
  edits: readonly Edit[]
  /** The test file whose tests with these names fail when the fault is back. */
  test: string
  failing: readonly string[]
}

const QUERIES = 'src/platform/event-store/duckdb/queries/query-process.ts'
const APPS = 'src/features/plugins/running'

export const OLD_FAULTS: readonly OldFault[] = [
  {
    name: 'the id of an invite, which every member sees, is its link',
    edits: [
      {
        file: 'src/features/invites/link.ts',
        from: 'if (sign === undefined) return null',
        to: "if (sign === undefined) return { id: text, way: 'mailed', fingerprint: '' }",
      },
      {
        file: 'src/features/invites/link.ts',
        from: 'return secrets.matches(fingerprint,',
        to: "return fingerprint === '' || secrets.matches(fingerprint,",
      },
    ],
    test: 'test/attacks/tenants.test.ts',
    failing: [
      'a link made of the id alone',
      'every text in the list of invites used as a key, a session and a link',
    ],
  },
  {
    name: 'a member raises an invite above the own level by combining it with a pending one',
    edits: [
      {
        file: 'src/features/invites/invite.ts',
        from: 'assertMayReplace({ level: context.level, user_id: caller.user?.id ?? null }, replaced, now)',
        to: '',
      },
    ],
    test: 'test/attacks/tenants.test.ts',
    failing: ['a member who invites an owner by combining with a pending one'],
  },
  {
    name: 'a small query keeps the planner at work for ever, and nobody ends it',
    edits: [
      {
        file: 'src/hogql/resolve/ctes.ts',
        from: "${uses > 1 ? dialect.made_once : ''}(",
        to: 'NOT MATERIALIZED (',
      },
      { file: QUERIES, from: 'if (now > this.#deadline) this.#kill', to: 'if (now < 0) this.#kill' },
      { file: QUERIES, from: 'ulimit -v ${addresses_kb} 2>/dev/null; exec', to: 'exec' },
      {
        file: QUERIES,
        from: 'residentMb(this.child.pid!) > this.options.memory_mb + BESIDES_MB',
        to: 'residentMb(this.child.pid!) < 0',
      },
    ],
    test: 'test/attacks/engines.test.ts',
    failing: ['thirty queries, each joined with itself'],
  },
  {
    name: 'a key that is limited changes how its owner signs in',
    edits: [
      {
        file: 'src/platform/http/recent-sign-in.ts',
        from: "caller.kind === 'personal_key' && caller.key.scopes.includes('*') && !isLimited(caller)",
        to: "caller.kind === 'personal_key'",
      },
    ],
    test: 'test/attacks/people.test.ts',
    failing: ['the address, with keys that are limited by project, organization or scope'],
  },
  {
    name: 'ten kilobytes of nested gzip keep a parser busy for half a minute',
    edits: [
      { file: 'src/lib/json-bounds.ts', from: "if (depth > bounds.depth) return 'depth'", to: '' },
      { file: 'src/lib/json-bounds.ts', from: "if (values > bounds.values) return 'values'", to: '' },
    ],
    test: 'test/attacks/capture.test.ts',
    failing: ['nesting: gzip of endless lists'],
  },
  {
    name: 'names that double make the main thread resolve for seconds',
    edits: [
      {
        file: 'src/hogql/resolve/expressions.ts',
        from: 'const MAX_EXPANDED = 5_000',
        to: 'const MAX_EXPANDED = Infinity',
      },
      // The length of what is printed bounds it too, if later.
      {
        file: 'src/hogql/resolve/expressions.ts',
        from: 'export const MAX_SQL_LENGTH = 1_000_000',
        to: 'export const MAX_SQL_LENGTH = Infinity',
      },
    ],
    test: 'test/attacks/engines.test.ts',
    failing: ['names that double'],
  },
  {
    name: 'a sender skips an app by forging its mark',
    edits: [
      {
        file: `${APPS}/ingestion/passage.ts`,
        from: 'export function removeForged({ properties }: PipelineEvent, isCaptured: boolean): void {',
        to: 'export function removeForged({ properties }: PipelineEvent, isCaptured: boolean): void {\n  return',
      },
      {
        file: `${APPS}/ingestion/passage.ts`,
        from: 'this.#done = new Set(done)',
        to: 'this.#done = new Set([...done, ...[event.properties[SUCCEEDED]].flat().map(Number)])',
      },
    ],
    test: 'test/attacks/engines.test.ts',
    failing: ['events that say of themselves, by $plugins_succeeded, that an app has seen them'],
  },
  {
    name: 'after a restart events are stored before the app that guards them is loaded',
    edits: [
      { file: `${APPS}/runtime.ts`, from: 'await this.#watch.prepareAll(apps, LOADING_MS)', to: 'void apps' },
      {
        file: `${APPS}/ingestion/chain.ts`,
        from: "if (app.on_failure === 'pass') passage.pass(app)",
        to: "if (app.on_failure !== 'drop') passage.pass(app)",
      },
    ],
    test: 'test/end-to-end/restarts.long.test.ts',
    failing: ['no restart lets an event past its app, loses one or stores one twice'],
  },
  {
    name: 'an organization with many projects makes events of others late',
    edits: [
      {
        file: `${APPS}/build-apps.ts`,
        from: 'const tenant = row.organization_id',
        to: 'const tenant = String(row.project_id)',
      },
    ],
    test: 'src/features/plugins/running/ingestion/shares.test.ts',
    failing: ['one with many projects does not make events of another late'],
  },
]
