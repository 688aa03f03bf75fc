// JSON within the texts of a body: it is bounded as the body is, whichever kind of body it comes in.
import { expect } from 'vitest'
import { attackEach, type Attack } from './attack.ts'
import { filled, MB, MULTIPART, part } from './bombs.ts'
import type { CaptureWorld } from './capture-world.ts'
import { ATTACKER, type Answer, type Target } from './target.ts'

const COPIES = 2
// Reading the body of all copies takes a tenth of it; parsing what is in one of their texts takes more.
const MAX_CPU_S = 2

const DEEP = '['.repeat(11 * MB)
const MANY = `[${filled('[],', 11 * MB)}1]`

type Call = { path: string; headers?: Record<string, string>; body: string }
type Bomb = [name: string, call: (project: string, plugin: string) => Call, status: number, code: string]

const asJson = (body: object) => ({
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
})
const asForm = (name: string, value: string) => ({
  body: `${part('plugin', '1')}${part(name, value)}--b--\r\n`,
  headers: MULTIPART,
})
const configs = (project: string) => ({ path: `${project}/plugin_configs/` })

const BOMBS: Bomb[] = [
  [
    'nested settings in JSON',
    (project) => ({ ...configs(project), ...asJson({ plugin: 1, config: DEEP }) }),
    400,
    'invalid_input',
  ],
  [
    'many settings in JSON',
    (project) => ({ ...configs(project), ...asJson({ plugin: 1, config: MANY }) }),
    413,
    'request_too_large',
  ],
  [
    'nested settings in a form',
    (project) => ({ ...configs(project), ...asForm('config', DEEP) }),
    400,
    'invalid_input',
  ],
  [
    'many filters in a form',
    (project) => ({ ...configs(project), ...asForm('filters', MANY) }),
    413,
    'request_too_large',
  ],
  [
    'a nested plugin.json that is only tried',
    (_, plugin) => ({
      path: `${plugin}test/`,
      ...asJson({ event: { event: 'e' }, files: { 'plugin.json': DEEP } }),
    }),
    400,
    'invalid_input',
  ],
  [
    'a plugin.json of many values that is only tried',
    (_, plugin) => ({
      path: `${plugin}test/`,
      ...asJson({ event: { event: 'e' }, files: { 'plugin.json': MANY } }),
    }),
    400,
    'invalid_input',
  ],
]

export const attacks: Attack<CaptureWorld>[] = attackEach<CaptureWorld, Bomb>(
  'S32',
  BOMBS,
  ([name]) => `JSON within a text: ${name}`,
  async ({ target, project }, [, make, status, code]) => {
    const call = make(project, await makePlugin(target))
    const before = await target.cpuSeconds()
    const answers = await Promise.all(Array.from({ length: COPIES }, () => sendOwn(target, call)))
    const cpu_s = (await target.cpuSeconds()) - before
    for (const answer of answers) expect(answer).toMatchObject({ status, body: { code } })
    expect(cpu_s).toBeLessThan(MAX_CPU_S)
    expect((await target.call('GET', `${project}/plugin_configs/`)).body.count).toBe(0)
  },
)

/** The path of a new one. */
async function makePlugin(target: Target): Promise<string> {
  const plugins = '/api/organizations/@current/plugins/'
  const { status, body } = await target.call('POST', plugins, { name: 'App' })
  expect(status).toBe(201)
  return `${plugins}${body.id as number}/`
}

function sendOwn(target: Target, { headers, ...call }: Call): Promise<Answer> {
  return target.send({
    ...call,
    headers: { authorization: `Bearer ${target.key}`, ...headers },
    from: ATTACKER,
  })
}
