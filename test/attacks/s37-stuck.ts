// Destinations that never answer: they hold up the runs of whoever exports to them, and nobody else's.
import { expect } from 'vitest'
import { attackEach, type Attack } from './attack.ts'
import type { Scene } from './scene.ts'

const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()

type Party = { key: string; project: { id: number; api_token: string } }

async function startRun({ call }: Scene, { key, project }: Party, destination: object): Promise<string> {
  const sent = { api_key: project.api_token, event: 'due', distinct_id: 'd', timestamp: ago(3) }
  expect((await call('POST', '/capture/', { body: sent })).status).toBe(200)
  const exports = `/api/projects/${project.id}/batch_exports/`
  const body = { name: 'Run', interval: 'hour', destination }
  const made = await call('POST', exports, { key, body })
  expect(made.status).toBe(201)
  const one = `${exports}${made.body.id}/`
  const range = { start_at: ago(5), end_at: ago(1) }
  expect((await call('POST', `${one}backfills/`, { key, body: range })).status).toBe(201)
  return one
}

export const attacks: Attack<Scene>[] = attackEach<Scene, number>(
  'S37',
  [1, 3],
  (projects) => `nine exports of ${projects} project(s) to a destination that is silent`,
  async (scene, projects) => {
    const { call, home, outside, victim } = scene
    const { key } = home.owner
    const answers = outside.react
    let answer: (reaction: typeof answers) => void
    outside.react = new Promise((resolve) => (answer = resolve))
    const before = outside.requests.length
    const made = await Promise.all(
      Array.from({ length: projects }, (_, n) =>
        call('POST', '/api/projects/', { key, body: { name: `Stuck ${n}` } }),
      ),
    )
    const silent = { type: 'HTTP', config: { url: outside.url, token: 'phc_token' } }
    for (let n = 0; n < 9; n++) await startRun(scene, { key, project: made[n % projects]!.body }, silent)
    await expect.poll(() => outside.requests.length).toBeGreaterThan(before)
    const neighbour = { key: victim.owner.key, project: victim.project }
    const one = await startRun(scene, neighbour, { type: 'File', config: {} })
    const statuses = async () => {
      const { results } = (await call('GET', `${one}runs/`, { key: neighbour.key })).body
      return results.map(({ status }: { status: string }) => status)
    }
    await expect.poll(statuses).toContain('Completed')
    answer!({ status: 200 })
    outside.react = answers
    for (const { body } of made)
      expect((await call('DELETE', `/api/projects/${body.id}/`, { key })).status).toBe(204)
    expect((await call('DELETE', one, { key: neighbour.key })).status).toBe(204)
  },
)
