// The two parts of a configuration, their seal, and what happens to it when the key of the installation changes.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import { openSecrets } from '../../platform/secrets/secrets.ts'
import { hourly, postgres } from './fixture/bodies.ts'
import { resealExports } from './reseal.ts'
import type { ExportRow } from './rows.ts'
import { configWithSecrets, mergeConfig, sealSecrets, splitConfig } from './secrets.ts'

const newKey = () => randomBytes(32).toString('hex')

describe('the parts of a configuration', () => {
  const whole = {
    user: 'u',
    port: 5432,
    flag: false,
    none: null,
    list: [1, { password: 'kept' }],
    inner: { bucket: 'b', login: { id: 'i', key: 'k' } },
  }
  const kind = { secrets: ['user', 'inner.login', 'missing', 'list.0', 'none'] }

  it('are apart at any depth, and whole again together', () => {
    const parts = splitConfig(kind, whole)
    expect(parts).toEqual({
      config: { port: 5432, flag: false, list: [1, { password: 'kept' }], inner: { bucket: 'b' } },
      secrets: { user: 'u', none: null, inner: { login: { id: 'i', key: 'k' } } },
    })
    expect(mergeConfig(parts.config, parts.secrets)).toEqual(whole)
  })

  it('leave what they were made from as it was', () => {
    const below = { inner: { a: 1 } }
    expect(mergeConfig(below, { inner: { b: 2 }, list: [] })).toEqual({ inner: { a: 1, b: 2 }, list: [] })
    expect(below).toEqual({ inner: { a: 1 } })
    expect(mergeConfig({ inner: { a: 1 } }, { inner: null })).toEqual({ inner: null })
    expect(mergeConfig({ inner: [1, 2] }, { inner: { a: 1 } })).toEqual({ inner: { a: 1 } })
  })

  it('are sealed for their row alone', () => {
    const services = { secrets: openSecrets(newKey(), null) }
    const secrets = sealSecrets(services, 'one', { password: 'p', port: 5 })
    expect(secrets).not.toContain('password')
    expect(configWithSecrets(services, { id: 'one', config: { a: true }, secrets })).toEqual({
      a: true,
      password: 'p',
      port: 5,
    })
    expect(() => configWithSecrets(services, { id: 'two', config: {}, secrets })).toThrow(
      'unable to authenticate',
    )
  })
})

describe('after a change of the key', () => {
  let app: TestApp
  beforeAll(async () => void (app = await startTestApp()))
  afterAll(() => app.close())

  const storedRow = (id: string) => app.db.only<ExportRow>(sql`SELECT * FROM batch_export WHERE id = ${id}`)

  it('secrets are sealed anew, and open without the previous key', async () => {
    const { project, owner } = await createOrganization(app)
    const body = hourly({ destination: postgres(app) })
    const { id } = (await app.post(`/api/projects/${project.id}/batch_exports/`, body, { key: owner.key }))
      .body
    const before = await storedRow(id)
    const [old, next] = [newKey(), newKey()]
    const whole = configWithSecrets(app.services, before)
    const sealed = sealSecrets(
      { secrets: openSecrets(old, null) },
      id,
      splitConfig({ secrets: ['user', 'password'] }, whole).secrets,
    )
    await app.db.run(sql`UPDATE batch_export SET secrets = ${sealed} WHERE id = ${id}`)

    const services = { ...app.services, secrets: openSecrets(next, old) }
    await resealExports.handle(services, {}, app.services.now())

    const after = await storedRow(id)
    expect({ ...after, secrets: '' }).toEqual({ ...before, secrets: '' })
    expect(configWithSecrets({ secrets: openSecrets(next, null) }, after)).toEqual(whole)
    await resealExports.handle(services, {}, app.services.now())
    expect((await storedRow(id)).secrets).toBe(after.secrets)
  })
})
