// Code of an app, tried on one event by the API.
import { expect } from 'vitest'
import type { Scene } from './scene.ts'

export type Trial = {
  // Attacks read events of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  event: any
  logs: { type: string; message: string }[]
  error: { name: string; message: string } | null
}

/** The id of a new app with this code. */
export async function makeApp({ call, home }: Scene, source: string, fields: object = {}): Promise<number> {
  const plugins = `/api/organizations/${home.organization.id}/plugins/`
  const { key } = home.owner
  const { body } = await call('POST', plugins, { key, body: { name: 'App', ...fields } })
  const path = `${plugins}${body.id}/update_source/`
  expect((await call('PATCH', path, { key, body: { 'index.ts': source } })).status).toBe(200)
  return body.id
}

export async function runSource(
  scene: Scene,
  source: string,
  trial: { event: object; fetch?: boolean } = { event: { event: 'tried' } },
): Promise<Trial> {
  const { call, home } = scene
  const id = await makeApp(scene, source)
  const path = `/api/organizations/${home.organization.id}/plugins/${id}/test/`
  const { status, body } = await call('POST', path, { key: home.owner.key, body: trial })
  expect({ status, body }).toMatchObject({ status: 200 })
  return body
}
