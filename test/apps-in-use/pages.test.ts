// Apps without code for the server: scripts for web pages, and panels for the console.
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Workbench } from './workbench.ts'

let bench: Workbench
beforeEach(async () => {
  bench = await Workbench.open()
})
afterEach(() => bench.close())

it('notification-bar (site.ts): pages are told of its script, which knows its settings and no secret', async () => {
  const plugin = await bench.installLocal('notification-bar')
  expect(plugin.capabilities).toEqual({})
  const note = bench.app.canary.plant('note', 'a-very-secret-note')
  const config = await bench.switchOn(plugin, { text: 'Sale </script>', note })
  const told = await bench.app.post('/decide/?v=3', {
    token: bench.workspace.project.api_token,
    distinct_id: 'ann',
  })
  expect(told.body.siteApps).toEqual([
    { id: config, type: 'site_app', url: expect.stringMatching(new RegExp(`^/site_app/${config}/`)) },
  ])
  const { url } = told.body.siteApps[0]
  const script = await bench.app.get(url)
  expect(script.headers['content-type']).toBe('application/javascript; charset=utf-8')
  expect(script.body).toContain(`posthog:window['__$$ph_site_app_${config}']`)
  expect(script.body).toContain('notification-bar')
  expect(script.body).not.toContain('</script>')
  const page = { prepended: [] as { id: string; textContent: string }[], captured: [] as unknown[] }
  runInNewContext(script.body, {
    window: { [`__$$ph_site_app_${config}`]: { capture: (...what: unknown[]) => page.captured.push(what) } },
    document: { createElement: () => ({}), body: { prepend: (bar: never) => page.prepended.push(bar) } },
  })
  expect(page).toEqual({
    prepended: [{ id: 'notification-bar', textContent: 'Sale </script>' }],
    captured: [['bar shown', { text: 'Sale </script>' }]],
  })
  await bench.switchOff(config)
  expect((await bench.app.get(url)).status).toBe(404)
})

it('dashboard-panel (frontend.tsx): a module that gets React from the console', async () => {
  const config = await bench.switchOn(await bench.installLocal('dashboard-panel'))
  const reply = await bench.app.get(`${bench.projectUrl}/plugin_configs/${config}/frontend/`, {
    key: bench.key,
  })
  expect(reply.headers['content-type']).toBe('application/javascript; charset=UTF-8')
  const module = await import(`data:text/javascript,${encodeURIComponent(reply.body)}`)
  const React = { createElement: (...parts: unknown[]) => parts }
  const { scene } = module.getFrontendApp((name: string) => (name === 'react' ? React : {}))
  expect(scene.title).toBe('Panel')
  expect(scene.component({ name: 'Ann' })).toEqual(['p', null, 'Hello ', 'Ann'])
})
