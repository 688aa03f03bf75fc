// The rules of the house that no compiler holds: who may import whom, that what is made from the code is fresh, and that
// every setting and error code is written down. The reasons are in CONTRIBUTING.md and docs/decisions.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, inject, it } from 'vitest'
import { generatedFiles } from '../scripts/docs/generated.ts'
import { Environment, readConfig } from '../src/app/config.ts'
import { openDatabase } from '../src/platform/db/database.ts'
import { ERROR_CODES } from '../src/platform/http/error-codes.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

function filesUnder(folder: string, ending: RegExp): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter(
      (path) => ending.test(path) && !path.includes('node_modules/') && statSync(join(ROOT, path)).isFile(),
    )
    .sort()
}

const isTest = (path: string) => path.endsWith('.test.ts') || path.includes('/fixture/')
const sources = filesUnder('src', /\.ts$/).filter((path) => !isTest(path))
// Those in test/apps are written as strangers write them.
const code = ['src', 'test', 'scripts', 'bin', 'web']
  .flatMap((folder) => filesUnder(folder, /\.c?[jt]sx?$/))
  .filter((path) => !path.startsWith('test/apps/'))

/** What a file imports of ours. Types count as well: whoever needs a type needs to know of the thing. */
function importsOf(path: string): { target: string; isType: boolean }[] {
  const pattern = /^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'(\.[^']+)'/gm
  return [...read(path).matchAll(pattern)].map(([, type, target]) => ({
    target: normalize(join(dirname(path), target!)),
    isType: type !== undefined,
  }))
}

const imports = sources.flatMap((from) =>
  importsOf(from).map(({ target, isType }) => ({ from, target, isType })),
)
const complaints = (wrong: { from: string; target: string }[]) =>
  wrong.map(({ from, target }) => `${from} → ${target}`)

describe('imports', () => {
  it('are found at all', () => {
    expect(imports.length).toBeGreaterThan(300)
    expect(imports.every(({ target }) => target.endsWith('.json') || sources.includes(target))).toBe(true)
  })

  it.each([
    ['src/lib/', /^src\/lib\//],
    ['src/platform/', /^src\/(lib|platform)\//],
    // The compiler knows the event store's tables and nothing else of the product.
    ['src/hogql/', /^src\/(lib|hogql|platform\/event-store)\//],
    ['src/features/', /^src\/(lib|platform|hogql|features)\//],
    ['src/app/', /^src\/(lib|platform|features|app)\/|^package\.json$/],
  ])('%s imports only what lies below it', (folder, allowed) => {
    expect(
      complaints(imports.filter(({ from, target }) => from.startsWith(folder) && !allowed.test(target))),
    ).toEqual([])
  })

  it('between features go one way, to the face of a slice, never to its routes', () => {
    // Each slice may know those before it.
    const order = [
      'users',
      'activity-log',
      'members',
      'roles',
      'projects',
      'organizations',
      'annotations',
      'persons',
      'events',
      'definitions',
      'batch-exports',
      'plugins',
      'api-keys',
      'identities',
      'domains',
      'two-factor',
      'invites',
      'sign-in',
      'scim',
      'account',
    ]
    const sliceOf = (path: string) => /^src\/features\/([^/]+)\//.exec(path)?.[1]
    const slices = new Set(sources.map(sliceOf).filter((slice) => slice !== undefined))
    expect([...slices].sort(), 'a new slice needs its place in this order').toEqual(order.toSorted())
    const between = imports.filter(
      ({ from, target }) => sliceOf(from) && sliceOf(target) && sliceOf(from) !== sliceOf(target),
    )
    const isUpward = ({ from, target }: { from: string; target: string }) =>
      order.indexOf(sliceOf(target)!) > order.indexOf(sliceOf(from)!)
    expect(complaints(between.filter(isUpward))).toEqual([])
    const isInner = ({ target }: { target: string }) =>
      target.endsWith('routes.ts') || target.split('/').length > 4
    expect(complaints(between.filter(isInner))).toEqual([])
  })

  it('form no cycle (types aside: they are gone at run time)', () => {
    const edges = new Map(
      sources.map((path) => [
        path,
        imports.filter((each) => each.from === path && !each.isType).map((each) => each.target),
      ]),
    )
    const done = new Set<string>()
    const cycles: string[] = []
    const visit = (path: string, trail: string[]) => {
      if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(' → '))
      if (done.has(path) || trail.includes(path)) return
      for (const target of edges.get(path) ?? []) visit(target, [...trail, path])
      done.add(path)
    }
    for (const path of sources) visit(path, [])
    expect(cycles).toEqual([])
  })

  it('of settings from the environment happen in config.ts alone, and where the program starts', () => {
    const readers = sources.filter((path) => /\bprocess\.env\b(?!\.PATH\b)/.test(read(path)))
    expect(readers.filter((path) => !path.startsWith('src/cli/') && path !== 'src/app/config.ts')).toEqual([])
  })
})

it('no comment begins with a bare "Of": what it is about comes first', () => {
  const isBare = /^\s*(?:\/\/|\/\*\*?|\*)\s+Of\s/
  // A line may begin so in the middle of a sentence, after a line that did not end one.
  const bare = code.flatMap((path) =>
    read(path)
      .split('\n')
      .flatMap((line, at, lines) =>
        isBare.test(line) && !/[a-z,]$/.test(lines[at - 1] ?? '') ? [`${path}:${at + 1}`] : [],
      ),
  )
  expect(bare).toEqual([])
})

describe('every way in', () => {
  // What makes a password or a session must have asked which way the address may use. The first account, and one that
  // whoever runs the server makes on its command line, come before any domain.
  const makers = sources
    .filter((path) => path.startsWith('src/features/') && path !== 'src/features/sign-in/sessions.ts')
    .filter((path) => /\bopen(Pending)?Session(By|ByLink)?\(|\bhashPassword\(/.test(read(path)))
    .filter(
      (path) => !path.startsWith('src/features/batch-exports/') && !path.startsWith('src/features/users/'),
    )

  it('asks which way is allowed', () => {
    expect(makers.length).toBeGreaterThan(5)
    const asks = (path: string) =>
      importsOf(path).some(({ target }) => /domains\/allowed-ways\.ts$|provider\/come-in\.ts$/.test(target))
    expect(makers.filter((path) => !asks(path))).toEqual([])
  })
})

describe('accounts beside what they made', () => {
  it('are read by `embeddedUser`, never whole: a list has one for each row', () => {
    const whole = /to_jsonb\((app_user|creator)\b|row_to_json\((app_user|creator)\b|\b(app_user|creator)\.\*/
    expect(sources.filter((path) => whole.test(read(path)))).toEqual([])
    expect(sources.filter((path) => /\$\{embeddedUser\}/.test(read(path)))).toHaveLength(4)
  })
})

describe('SQL of the event store stands in platform/event-store and hogql alone', () => {
  // PostgreSQL and the warehouses have their own SQL, and HogQL is nobody's: these words are of the store's engines.
  // ClickHouse is a destination as well, so its name alone says nothing.
  const others = sources.filter((path) => !/^src\/(platform\/event-store|hogql)\//.test(path))
  it.each([
    ['the client of an engine', /@duckdb\//],
    ['names of its tables and columns', /\b(tablesOf|hotColumn)\b/],
    ['an engine by name, where eventStore.engine tells it', /'duckdb'/],
    [
      'functions of DuckDB',
      /\b(epoch_[mu]s|make_timestamp|json_(extract(_string)?|valid)|strlen|arg_(min|max)|list_\w+|struct_extract\w*|string_split|read_(json|csv|parquet)\w*)\(/i,
    ],
    ['types of DuckDB', /::(VARCHAR|U?(BIG|HUGE|TINY)INT|DOUBLE|TIMESTAMP|INTEGER)\b/],
  ])('%s', (_what, pattern) => {
    expect(others.filter((path) => pattern.test(read(path)))).toEqual([])
    expect(sources.some((path) => pattern.test(read(path)))).toBe(true)
  })
})

describe('files made from the code', () => {
  it.each(Object.entries(generatedFiles))('%s is fresh (npm run docs)', async (path, make) => {
    const { template, ...connection } = inject('postgres')
    const db = openDatabase({ ...connection, database: template, max: 1 })
    try {
      expect(await make(db, read(path))).toBe(read(path))
    } finally {
      await db.close()
    }
  })
})

describe('error codes', () => {
  it('each is used somewhere', () => {
    const texts = sources.filter((path) => !path.endsWith('/error-codes.ts')).map(read)
    const unused = Object.keys(ERROR_CODES).filter(
      (code) => !texts.some((text) => text.includes(`'${code}'`)),
    )
    expect(unused).toEqual([])
  })

  it('each has a row in docs/errors.md, with its status', () => {
    const page = read('docs/errors.md')
    for (const [code, [status]] of Object.entries(ERROR_CODES)) {
      expect(page).toMatch(new RegExp(`^\\| ${status} +\\| \`${code}\` +\\|`, 'm'))
    }
  })
})

describe('.env.example', () => {
  const lines = read('.env.example').split('\n')
  const values = parseEnv(read('.env.example'))
  const entries = lines
    .flatMap((line) => /^[A-Z0-9_]+(?==)/.exec(line) ?? [])
    .map((name) => [name, values[name] ?? ''] as const)

  it('has every setting, in the order of config.ts, each under its one line of explanation', () => {
    expect(entries.map(([name]) => name)).toEqual(Object.keys(Environment.shape))
    for (const [name] of entries) {
      const at = lines.findIndex((line) => line.startsWith(`${name}=`))
      expect([lines[at - 2], lines[at - 1]?.slice(0, 2)], name).toEqual(['', '# '])
    }
  })

  it('has the defaults: taken as it is, it changes nothing', () => {
    expect(readConfig(Object.fromEntries(entries))).toEqual(readConfig({}))
  })

  it('says the same to a shell that sources it', () => {
    const script = 'set -eua; . ./.env.example; exec "$0" -p "JSON.stringify(process.env)"'
    const env = { PATH: process.env.PATH ?? '' }
    const text = execFileSync('/bin/sh', ['-c', script, process.execPath], {
      cwd: ROOT,
      env,
      encoding: 'utf8',
    })
    expect(JSON.parse(text)).toMatchObject(Object.fromEntries(entries))
  })

  it('and the README name the same settings', () => {
    const rows = read('README.md')
      .split('\n')
      .filter((line) => /^\| `[A-Z0-9_]+`/.test(line))
    const names = rows.flatMap((row) =>
      [...row.split('|')[1]!.matchAll(/`([A-Z0-9_]+)`/g)].map((match) => match[1]),
    )
    expect(names).toEqual(entries.map(([name]) => name))
  })
})

// test/end-to-end/readme.long.test.ts runs them.
describe("the README's commands", () => {
  const blocks = [...read('README.md').matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, lines]) => lines!)

  it('can be read by a shell, and use no variable that no line before has set', () => {
    expect(blocks.length).toBeGreaterThan(10)
    const script = blocks.filter((block) => !block.startsWith('npm ci')).join('')
    execFileSync('/bin/sh', ['-n', '-c', script])
    const isSet = (name: string, at: number) => script.slice(0, at).includes(`${name}=`)
    // Quoted once it is text, such as $browser in a query.
    const used = [...script.replaceAll(/'[^']*'/g, (text) => ' '.repeat(text.length)).matchAll(/\$([A-Z]+)/g)]
    expect(used.length).toBeGreaterThan(10)
    expect(used.filter(({ 1: name, index }) => !isSet(name!, index))).toEqual([])
  })
})

describe('source files', () => {
  it('have at most 300 lines', () => {
    const long = sources
      .map((path) => [path, read(path).split('\n').length] as const)
      .filter(([, lines]) => lines > 300)
    expect(long).toEqual([])
  })

  it('open with a comment that says what they hold', () => {
    expect(sources.filter((path) => !/^(\/\/|\/\*|#!)/.test(read(path)))).toEqual([])
  })

  it('export by name only', () => {
    expect(sources.filter((path) => /^export default/m.test(read(path)))).toEqual([])
  })

  it('leave nothing for later', () => {
    const marks = new RegExp(
      ['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX', 'HA' + 'CK'].map((mark) => `\\b${mark}\\b`).join('|'),
    )
    expect(code.filter((path) => marks.test(read(path)))).toEqual([])
  })

  it('use `any` only beside its reason', () => {
    // The console's texts are full of the word; the linter looks there.
    const wrong = code
      .filter((path) => !path.startsWith('web/'))
      .flatMap((path) => {
        const lines = read(path).split('\n')
        const isAny = (line: string) =>
          /(?:[:<|&,(]|\bas|\bextends)\s*any\b(?!\w*['"`])/.test(
            line.replace(/\/[/*].*|^\s*\*.*|'[^']*'|`[^`]*`/g, ''),
          )
        const isExcused = (at: number) =>
          /oxlint-disable-next-line/.test(lines[at - 1] ?? '') && /^\s*\/\//.test(lines[at - 2] ?? '')
        return lines.flatMap((line, at) => (isAny(line) && !isExcused(at) ? [`${path}:${at + 1}`] : []))
      })
    expect(wrong).toEqual([])
  })

  it('switch no check off without saying why in the line above', () => {
    const wrong = code.flatMap((path) => {
      const lines = read(path).split('\n')
      return lines.flatMap((line, at) =>
        /^\s*\/\/ oxlint-disable|@ts-(ignore|expect-error|nocheck)/.test(line) &&
        !/^\s*\/\//.test(lines[at - 1] ?? '')
          ? [`${path}:${at + 1}`]
          : [],
      )
    })
    expect(wrong).toEqual([])
  })

  it('run every test: none is skipped or alone', () => {
    const tests = code.filter((path) => path.endsWith('.test.ts') && path !== 'test/house-rules.test.ts')
    const pattern = /\b(it|test|describe)\.(skip|only|todo|fails)\b/
    expect(tests.filter((path) => pattern.test(read(path)))).toEqual([])
  })

  // vitest's own limit is a second.
  it('wait with patience, as in test/harness/until.ts', () => {
    const waiting = code.filter((path) => /\bvi\.wait(For|Until)\(/.test(read(path)))
    expect(waiting.filter((path) => !/\/until\.ts$|\.long\.test\.ts$/.test(path))).toEqual([])
  })
})
